package explain

import (
	"fmt"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/wire"
)

// The containers and maps of a script with their keys, values, memory and words of what each is for (`fixedMaps`).

// fixedMaps say what the maps that startrace adds are for.
var fixedMaps = map[string]string{
	bpfgen.MapRing:    "the ring in which events wait for startrace",
	bpfgen.MapSites:   "counts what is lost, by its place in the script",
	bpfgen.MapScratch: "memory for what does not fit the stack of a program",
	tree.MapConst:     "constant texts and tables",
	tree.MapTails:     "the programs that others jump to",
	tree.MapBusy:      "on which CPUs programs take locks of tables",
	tree.MapEpochs:    "which half of the extremes is filled",
	tree.MapPlaces:    "starts and ends of one key that come at the same time",
	tree.MapStacks:    "each different stack, once",
	tree.MapNames:     "texts of the names of functions and points",

	tree.MapUnwindProcesses: "which table each process has by which its stacks are walked",
	tree.MapUnwindTables:    "what code processes have mapped",
	tree.MapUnwindFiles:     "which rows belong to a file that is mapped",
	tree.MapUnwindGuesses:   "where rows were found last",
	tree.MapUnwindRows:      "where the frames of functions begin, by files, and up to 64 MiB as files are mapped",
}

// maps lists the containers of the script, then startrace's own maps.
func (in *Input) maps() (out []Map) {
	spec := in.Unit.Spec.Maps
	rest := slices.Sorted(maps.Keys(spec))
	take := func(name string) *ebpf.MapSpec {
		rest = slices.DeleteFunc(rest, func(s string) bool { return s == name })
		return spec[name]
	}
	for i, c := range in.Unit.Tree.Containers {
		if c == nil {
			continue
		}
		if m := take(tree.ContainerMap(i)); m != nil {
			out = append(out, in.container(c, m, i))
		}
	}
	for i, s := range in.Unit.Tree.Spans {
		if m := take(tree.SpanMap(i)); m != nil {
			what := "calls of " + in.probeName(s.Probe) + " that have begun and not ended, by " + spanKey(s)
			if bpfgen.OnDemand(m) {
				what += fmt.Sprintf(", and %s for each", format.Count(hashEntry(m), "byte"))
			}
			out = append(out, in.ownMap(m, what))
		}
		if m := take(tree.EndsMap(i)); m != nil {
			out = append(out, in.ownMap(m, "threads with ends of "+in.probeName(s.Probe)+" and no start so far"))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(in.Unit.Tree.Keep)) {
		n := in.Unit.Tree.Keep[id]
		if m := take(tree.KeepMap(id)); m != nil {
			out = append(out, in.ownMap(m, "the last "+format.Count(n, "event")+" of "+in.probeName(id)))
		}
	}
	for _, name := range rest {
		one := in.ownMap(spec[name], fixedMaps[name])
		if name == tree.MapStacks {
			one.What += fmt.Sprintf(", at most %d", spec[name].MaxEntries)
		}
		out = append(out, one)
	}
	return out
}

func (in *Input) probeName(id int) string {
	for _, p := range in.Plan.Probes {
		if p.ID == id {
			return p.Name
		}
	}
	return "the script"
}

func spanKey(s *tree.Span) string {
	if s.Key.Kind == types.Bot {
		return "thread"
	}
	return "the key of the span"
}

func (in *Input) container(c *tree.Container, m *ebpf.MapSpec, id int) Map {
	out := in.ownMap(m, c.Kind.String())
	out.Name, out.Pos = containerName(c.Container), c.Pos.String()
	if in.Result.Follow == id {
		out.Name, out.What, out.Pos = "followed", "the processes that are followed", ""
	}
	if in.Result.Cgroups == id {
		out.Name, out.What, out.Pos = "cgroups", "the cgroups that are traced: one, and those that replace it", ""
	}
	if c.LRU {
		out.What += " that drops the oldest when it is full"
	}
	if c.KeyLayout != nil {
		out.Key = keyFields(c)
	}
	if c.Agg != nil {
		out.Value = aggFields("", c.Agg)
	} else if c.ValueLayout != nil {
		out.Value = fields("value", c.ValueLayout.Type, 0, false)
	}
	return out
}

// keyFields are the parts of a key, by the names that by= gives them.
func keyFields(c *tree.Container) (out []Field) {
	t := c.KeyLayout.Type
	if t.Kind != wire.Tuple || len(c.By) != len(t.Elems) {
		name := "key"
		if len(c.By) == 1 {
			name = c.By[0]
		}
		return fields(name, t, 0, false)
	}
	for i, e := range t.Elems {
		out = append(out, fields(c.By[i], e, 0, false)...)
	}
	return out
}

// aggFields are the words of an aggregation's value.
func aggFields(prefix string, a *wire.Agg) (out []Field) {
	word := func(name string, off, n int) {
		if off >= 0 {
			out = append(out, Field{Name: prefix + name, Type: "int of 64 bits", Off: off, Bytes: 8 * n})
		}
	}
	slots := max(1, a.Slots)
	if slots > 1 {
		slots *= 2 // each word has one by which it is claimed
	}
	word("count", a.Count, 1)
	word("sum", a.Sum, 1)
	extremes := func(before string, e wire.Extremes) {
		word(before+"set", e.Set, 1)
		word(before+"lowest", e.Lowest, slots)
		word(before+"highest", e.Highest, slots)
	}
	extremes("", a.Extremes)
	if a.Unsigned != nil {
		extremes("unsigned ", *a.Unsigned)
	}
	if b := a.Buckets; b != nil {
		out = append(out, Field{Name: prefix + "buckets", Type: fmt.Sprintf("%d counters of 64 bits", b.N), Off: b.Off,
			Bytes: 8 * b.N})
	}
	for _, m := range a.Members {
		out = append(out, aggFields(prefix+m.Name+".", m.Agg)...)
	}
	return out
}

func (in *Input) ownMap(m *ebpf.MapSpec, what string) Map {
	return Map{
		Name: m.Name, Map: m.Name, Kind: strings.ToLower(m.Type.String()), What: what,
		KeySize: int(m.KeySize), ValSize: int(m.ValueSize), Entries: int(m.MaxEntries), Memory: in.memory(m),
	}
}

// The sizes of a hash map's parts in bytes on 64-bit kernels (kernel/bpf/hashtab.c:
// struct htab_elem up to its key, struct bucket).
const (
	hashElem   = 48
	hashBucket = 16
)

// hashEntry is what an entry of a hash map takes.
func hashEntry(m *ebpf.MapSpec) int {
	return hashElem + align8(int(m.KeySize)) + align8(int(m.ValueSize))
}

// memory is about what the kernel takes for a map before it has entries; see htab_map_mem_usage and
// array_map_mem_usage of the kernel.
func (in *Input) memory(m *ebpf.MapSpec) int {
	entries, value := int(m.MaxEntries), align8(int(m.ValueSize))
	switch m.Type {
	case ebpf.Hash, ebpf.LRUHash:
		buckets := 1 << bits.Len(uint(entries-1))
		spare := 0
		if m.Type == ebpf.Hash {
			spare = in.PossibleCPUs // an element a CPU, for replacing
		}
		if bpfgen.OnDemand(m) {
			return buckets * hashBucket
		}
		return buckets*hashBucket + (entries+spare)*hashEntry(m)
	case ebpf.RingBuf:
		return entries
	case ebpf.PerCPUArray:
		return entries * value * max(1, in.PossibleCPUs)
	}
	return pages(entries * value)
}

func align8(n int) int { return (n + 7) / 8 * 8 }

// pages rounds up to what the kernel hands out.
func pages(n int) int {
	p := os.Getpagesize()
	return (n + p - 1) / p * p
}
