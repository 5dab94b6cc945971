package bpfgen

import (
	"cmp"
	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/lower"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The maps of a unit: type, size and flags of each, for the ring, containers, spans, stacks (`defaultStacks`), losses
// and calls of functions (`manyCalls`).

// setLayouts fills what inference left open in containers.
func setLayouts(u *tree.Unit, o Options) {
	slots := 1
	if o.NoCmpXchg {
		slots = layout.ClaimSlots
	}
	signs := signsOf(u)
	for i, c := range u.Containers {
		if c == nil {
			continue
		}
		if c.Agg == nil || o.NoCmpXchg {
			c.Agg = layout.AggSlots(c.Container, slots, signs[i])
		}
		if c.KeyLayout == nil && c.Key.Kind != types.Bot && (c.Key.Kind != types.None || c.Key.MayFault) {
			c.KeyLayout = layout.Fixed(c.Key)
		}
		if c.ValueLayout == nil && c.Agg == nil {
			c.ValueLayout = layout.Value(c.Value)
		}
	}
}

// signsOf says of the aggregations of u, by number and member, what is added to them: what other units add is not
// known.
func signsOf(u *tree.Unit) []map[string]layout.Signs {
	out := make([]map[string]layout.Signs, len(u.Containers))
	add := func(s *tree.Stmt) {
		if s.Op != tree.SAggAdd {
			return
		}
		if out[s.Int] == nil {
			out[s.Int] = map[string]layout.Signs{}
		}
		have, e := out[s.Int][s.Str], s.Exprs[0]
		have.Unsigned = have.Unsigned || e.Type.Unsigned64()
		have.Signed = have.Signed || signed(e)
		out[s.Int][s.Str] = have
	}
	for _, p := range u.Programs {
		for _, body := range p.Bodies() {
			tree.WalkBlock(body, add, func(*tree.Expr) {})
		}
	}
	if u.Several {
		for i, c := range u.Containers {
			out[i] = everySign(c)
		}
	}
	return out
}

func everySign(c *tree.Container) map[string]layout.Signs {
	if c == nil {
		return nil
	}
	both := layout.Signs{Signed: true, Unsigned: true}
	out := map[string]layout.Signs{"": both}
	for _, m := range c.Members {
		out[m.Name] = both
	}
	return out
}

// signed reports whether a number can be below 0.
func signed(e *tree.Expr) bool {
	if e.Op == tree.OpConst {
		return e.Int < 0 && !e.Type.Unsigned64()
	}
	return e.Type.Kind == types.Int && e.Type.Signed
}

// maps makes the maps that the programs use.
func (g *generator) maps() {
	for i, c := range g.unit.Tree.Containers {
		if c != nil {
			g.add(containerMap(tree.ContainerMap(i), c))
		}
	}
	calls := g.callFlags()
	for i, s := range g.unit.Tree.Spans {
		size := s.Size
		if size == 0 {
			size = plan.DefaultSize
		}
		m := &ebpf.MapSpec{Name: tree.SpanMap(i), Type: ebpf.Hash, KeySize: spanKeySize(s),
			ValueSize: spanValueSize(s), MaxEntries: uint32(size)}
		if s.Nested && s.User {
			m.Flags = calls
		}
		g.add(m)
		if s.Ends {
			g.add(&ebpf.MapSpec{Name: tree.EndsMap(i), Type: ebpf.LRUHash, KeySize: 8, ValueSize: 8,
				MaxEntries: startlessThreads(s)})
		}
	}
	for probe, n := range g.unit.Tree.Keep {
		g.add(&ebpf.MapSpec{
			Name: tree.KeepMap(probe), Type: ebpf.Queue, ValueSize: uint32(g.unit.Tree.KeepSize(probe)),
			MaxEntries: uint32(n),
		})
	}
	g.fixedMaps()
}

// manyCalls is of how many probes the calls of user functions have their memory at once, about 1 MiB for each.
const manyCalls = 16

// startlessThreads is how many threads are known to have had an end without a start (tree.Span.Ends). Those that had
// one longest ago make room. Of system calls these are rare: a filter of seccomp has denied the call.
func startlessThreads(s *tree.Span) uint32 {
	if s.Plan != nil {
		return plan.DefaultSize
	}
	return plan.DefaultSize / 10
}

// callFlags are those of the maps for calls of user functions that have begun. Where there are many such maps, the
// kernel takes memory for calls as they come, which it has done for programs of all kinds since 6.1 (commit "bpf: Relax
// the requirement to use preallocated hash maps in tracing progs"). It fills the store from which a program takes it
// when interrupts are on, as they are where user code is probed. If it has none, the call counts as one that did not
// fit.
func (g *generator) callFlags() uint32 {
	n := 0
	for _, s := range g.unit.Tree.Spans {
		if s.Nested && s.User {
			n++
		}
	}
	if !g.o.OnDemand || n <= manyCalls {
		return 0
	}
	return unix.BPF_F_NO_PREALLOC
}

// OnDemand reports whether the kernel takes memory for the entries of a map as they come.
func OnDemand(m *ebpf.MapSpec) bool { return m.Flags&unix.BPF_F_NO_PREALLOC != 0 }

func spanValueSize(s *tree.Span) uint32 {
	if s.Nested {
		return uint32(layout.Nested(s.Slots).Size)
	}
	return uint32(layout.Span(s.Slots).Size)
}

// spanKeySize is the size of a span's key, a thread if it declares none.
func spanKeySize(s *tree.Span) uint32 {
	switch {
	case s.Nested:
		return layout.NestedKey
	case s.Key.Kind == types.Bot:
		return 8
	}
	return uint32(layout.Fixed(s.Key).Size)
}

// defaultStacks are the different stacks of a run: 8 MB with the deepest.
const defaultStacks = 8192

// fixedMaps makes the maps that exist once.
func (g *generator) fixedMaps() {
	uses := g.shared.Uses
	if uses[MapSites] {
		g.add(array(MapSites, max(8, 8*len(g.unit.Sites)), unix.BPF_F_MMAPABLE))
	}
	if uses[tree.MapPlaces] {
		g.add(array(tree.MapPlaces, g.shared.Places, 0))
	}
	if uses[tree.MapEpochs] {
		g.add(array(tree.MapEpochs, 8*max(g.o.Containers, len(g.unit.Tree.Containers)), unix.BPF_F_MMAPABLE))
	}
	if uses[tree.MapConst] {
		m := array(tree.MapConst, max(8, len(g.shared.ConstData)), unix.BPF_F_RDONLY_PROG)
		m.Contents = []ebpf.MapKV{{Key: uint32(0), Value: g.shared.ConstData}}
		g.add(m)
	}
	if uses[tree.MapNames] {
		rows := g.shared.NameRows()
		g.add(&ebpf.MapSpec{Name: tree.MapNames, Type: ebpf.Hash, KeySize: 8,
			ValueSize:  uint32(layout.NameSize(g.shared.NameRoom)),
			MaxEntries: uint32(len(rows)), Contents: rows})
	}
	if uses[tree.MapStacks] {
		g.add(&ebpf.MapSpec{
			Name: tree.MapStacks, Type: ebpf.Hash, KeySize: 8,
			ValueSize:  uint32(wire.StackAddrs + 8*g.unit.Tree.StackFrames),
			MaxEntries: uint32(cmp.Or(g.unit.Tree.Stacks, defaultStacks)),
		})
	}
	if uses[tree.MapUnwindRows] {
		g.unwindMaps()
	}
	if g.scratch > 0 {
		g.add(&ebpf.MapSpec{
			Name: MapScratch, Type: ebpf.PerCPUArray, KeySize: 4,
			ValueSize: uint32(tree.ScratchHeader + g.scratch), MaxEntries: lower.ScratchSlots,
		})
	}
	if g.guarded() {
		g.add(array(tree.MapBusy, 8*lower.GuardWords, 0))
	}
	if tails := g.shared.Tails; len(tails) > 0 {
		m := &ebpf.MapSpec{Name: tree.MapTails, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4,
			MaxEntries: uint32(len(tails))}
		for i, name := range tails {
			m.Contents = append(m.Contents, ebpf.MapKV{Key: uint32(i), Value: name})
		}
		g.add(m)
	}
	if uses[MapRing] {
		g.add(&ebpf.MapSpec{Name: MapRing, Type: ebpf.RingBuf, MaxEntries: uint32(g.ringSize())})
	}
}

// ringSize is the size of the ring. Without events only new stacks are announced there, of which no more wait than the
// table of stacks has.
func (g *generator) ringSize() int {
	const announced = 64 // bytes of one, with what the ring adds, and more
	size := cmp.Or(g.o.RingSize, defaultRing)
	if len(g.unit.Tree.Records) > 0 || g.o.RingSize > 0 {
		return size
	}
	stacks := cmp.Or(g.unit.Tree.Stacks, defaultStacks)
	for size = leastRing; size < announced*stacks; {
		size *= 2
	}
	return size
}

// unwindTables is how many different tables of processes there can be.
const unwindTables = 512

// unwindMaps makes the maps by which user stacks are walked. User space fills them (package unwind of internal).
func (g *generator) unwindMaps() {
	g.add(&ebpf.MapSpec{Name: tree.MapUnwindProcesses, Type: ebpf.Hash, KeySize: 4,
		ValueSize: wire.UnwindProcessSize, MaxEntries: wire.UnwindProcesses})
	g.add(&ebpf.MapSpec{Name: tree.MapUnwindTables, Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindTable,
		MaxEntries: unwindTables})
	g.add(&ebpf.MapSpec{Name: tree.MapUnwindFiles, Type: ebpf.Hash, KeySize: wire.UnwindFileKey,
		ValueSize: wire.UnwindFileValue, MaxEntries: wire.UnwindFiles})
	g.add(array(tree.MapUnwindGuesses, 2*wire.UnwindGuesses, 0))
	g.add(&ebpf.MapSpec{Name: tree.MapUnwindRows, Type: ebpf.ArrayOfMaps, KeySize: 4, ValueSize: 4,
		MaxEntries: wire.UnwindSegments,
		InnerMap: &ebpf.MapSpec{Name: "unwind_seg", Type: ebpf.Array, KeySize: 4, ValueSize: wire.UnwindChunk,
			MaxEntries: wire.UnwindSegment}})
}

func (g *generator) add(m *ebpf.MapSpec) { g.unit.Spec.Maps[m.Name] = m }

// array is an array of one entry, whose value programs address directly.
func array(name string, size int, flags uint32) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1, Flags: flags}
}

// containerMap is a preallocated hash where there is a key: without
// preallocation inserts fail in interrupts, and before 5.12 perf events may
// not use the map. Without a key it is one entry, which user space maps.
func containerMap(name string, c *tree.Container) *ebpf.MapSpec {
	size := 0
	if c.Agg != nil {
		size = c.Agg.ValueSize()
	} else {
		size = c.ValueLayout.Size
	}
	if c.KeyLayout == nil {
		return array(name, size, unix.BPF_F_MMAPABLE)
	}
	t := ebpf.Hash
	if c.LRU {
		t = ebpf.LRUHash
	}
	return &ebpf.MapSpec{
		Name: name, Type: t, KeySize: uint32(c.KeyLayout.Size), ValueSize: uint32(size),
		MaxEntries: uint32(c.Entries()),
	}
}
