package openspans_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/need"
)

// An opened is an entry of a span: the words of its key, and those of its value.
type opened struct{ key, val []uint64 }

// unitOf is a loaded unit whose spans have these entries in maps of the kernel.
func unitOf(t *testing.T, spans []*tree.Span, entries ...[]opened) *openspans.Unit {
	t.Helper()
	need.BPF(t)
	need.Loading(t)
	maps := map[string]*ebpf.Map{}
	for i, span := range spans {
		keySize, fixed := 8, layout.Span(span.Slots)
		if span.Nested {
			keySize, fixed = layout.NestedKey, layout.Nested(span.Slots)
		}
		m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: uint32(keySize), ValueSize: uint32(fixed.Size),
			MaxEntries: 16})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		for _, e := range entries[i] {
			if err := m.Put(words(keySize, e.key), words(fixed.Size, e.val)); err != nil {
				t.Fatal(err)
			}
		}
		maps[tree.SpanMap(i)] = m
	}
	return &openspans.Unit{Spans: spans, Map: func(name string) *ebpf.Map { return maps[name] }}
}

func words(size int, of []uint64) []byte {
	out := make([]byte, 0, size)
	for _, w := range of {
		out = binary.NativeEndian.AppendUint64(out, w)
	}
	return out[:size]
}

func spansOf(t *testing.T, units ...*openspans.Unit) *openspans.Spans {
	s := &openspans.Spans{Decoder: &value.Decoder{},
		Point:  func(n uint64) string { return fmt.Sprint("point ", n) },
		FuncID: machine.Open().FuncID}
	for _, u := range units {
		s.Add(u)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// texts are values as a script prints them, sorted: a map of the kernel has no order.
func texts(t *testing.T, values []starlark.Value, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range values {
		out = append(out, v.String())
	}
	slices.Sort(out)
	return out
}

// scripts is a span of a script, which keeps a size under a name and one word without.
func scripts(p *plan.Span, probe int) *tree.Span {
	return &tree.Span{Plan: p, Probe: probe, Size: 16, Slots: []types.Type{types.U64, types.U64},
		Names: []string{"size", tree.Unnamed}}
}

// items() has what is open of one span of the script: its key, the time of its start and what it kept under a name.
func TestItems(t *testing.T) {
	own, other := &plan.Span{}, &plan.Span{}
	u := unitOf(t, []*tree.Span{scripts(own, 0), scripts(other, 1)},
		[]opened{{[]uint64{11}, []uint64{500, 64, 9, 0}}, {[]uint64{12}, []uint64{0, 65, 9, 0}}}, // 12 has ended
		[]opened{{[]uint64{13}, []uint64{501, 66, 9, 0}}})
	s := spansOf(t, u)
	values, err := s.Items(own)
	got := texts(t, values, err)
	if want := []string{"(11, record(time = 500, size = 64))"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	values, err = s.OfProbe(1)
	if got, want := texts(t, values, err), []string{"(13, record(time = 501, size = 66))"}; !slices.Equal(got, want) {
		t.Errorf("of the other probe: got %q, want %q", got, want)
	}
}

// A key counts once, however many probes keep it, and a unit that has gone has no entries.
func TestItemsOfUnits(t *testing.T) {
	p := &plan.Span{}
	first := unitOf(t, []*tree.Span{scripts(p, 0), scripts(p, 1)},
		[]opened{{[]uint64{11}, []uint64{500, 64, 9, 0}}}, []opened{{[]uint64{11}, []uint64{500, 64, 9, 0}}})
	second := unitOf(t, []*tree.Span{scripts(p, 2)}, []opened{{[]uint64{12}, []uint64{501, 65, 9, 0}}})
	s := spansOf(t, first, second)
	values, err := s.Items(p)
	if got := texts(t, values, err); len(got) != 2 {
		t.Errorf("got %q, want one entry of 11 and one of 12", got)
	}
	s.Forget(second)
	values, err = s.Items(p)
	if got := texts(t, values, err); len(got) != 1 {
		t.Errorf("without the second unit: got %q, want the one of 11", got)
	}
}

// Of a key that several probes keep, what the first of them keeps is shown; what only the others keep is None.
//
// > Each probe that uses the span keeps starts of its own.
// > Of a key that several of them keep, `r` has what the first of these in the script keeps, and what only the others
// > keep is None.
func TestItemsOfProbes(t *testing.T) {
	p := &plan.Span{}
	other := scripts(p, 1)
	other.Names = []string{"length", tree.Unnamed}
	s := spansOf(t, unitOf(t, []*tree.Span{scripts(p, 0), other}, []opened{{[]uint64{11}, []uint64{500, 64, 9, 0}}},
		[]opened{{[]uint64{11}, []uint64{501, 65, 9, 0}}, {[]uint64{12}, []uint64{502, 66, 9, 0}}}))
	values, err := s.Items(p)
	want := []string{"(11, record(time = 500, size = 64, length = None))",
		"(12, record(time = 502, length = 66, size = None))"}
	if got := texts(t, values, err); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was open of a disabled probe is forgotten at once, of a span that other probes have, too. Those keep theirs.
func TestDisabled(t *testing.T) {
	p := &plan.Span{}
	entry := func(key uint64) []opened { return []opened{{[]uint64{key}, []uint64{500, 64, 9, 0}}} }
	first := unitOf(t, []*tree.Span{scripts(p, 0), scripts(p, 1)}, entry(11), entry(12))
	later := unitOf(t, []*tree.Span{scripts(p, 0)}, entry(13)) // points that came later
	s := spansOf(t, first, later)
	check := func(what string, items, ofFirst int, calls uint64) {
		t.Helper()
		of, err := s.Items(p)
		if got := texts(t, of, err); len(got) != items {
			t.Errorf("%s: the span has %q, want %d", what, got, items)
		}
		of, err = s.OfProbe(0)
		if got := texts(t, of, err); len(got) != ofFirst {
			t.Errorf("%s: the first probe has %q, want %d", what, got, ofFirst)
		}
		if n, err := s.Calls(first, 0); n != calls || err != nil {
			t.Errorf("%s: %d calls of the first probe are open (%v), want %d", what, n, err, calls)
		}
	}
	check("all enabled", 3, 2, 1)
	s.Disable(0, true)
	check("the first disabled", 1, 0, 0)
	s.Disable(1, true)
	check("both disabled", 0, 0, 0)
	s.Disable(0, false)
	check("the second disabled", 2, 2, 1)
}

// The start of a process that is not traced is kept, and is none of those that are open.
func TestMuted(t *testing.T) {
	p := &plan.Span{}
	span := scripts(p, 0)
	span.Muted = true
	s := spansOf(t)
	u := unitOf(t, []*tree.Span{span}, []opened{{[]uint64{11}, []uint64{500, 64, 9, 0}},
		{[]uint64{12}, []uint64{1<<layout.SpanMuted | 501, 65, 9, 0}}})
	s.Add(u)
	values, err := s.Items(p)
	if got, want := texts(t, values, err), []string{"(11, record(time = 500, size = 64))"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := s.Calls(u, 0); n != 1 || err != nil {
		t.Errorf("%d calls are open (%v), want 1", n, err)
	}
}

// The entry of a system call says which one it is, by the lower bits of its first word.
func TestSyscalls(t *testing.T) {
	read, ok := kernel.SyscallByName("read")
	if !ok {
		t.Fatal("there is no system call read")
	}
	span := &tree.Span{Probe: 4, Size: 16, Slots: []types.Type{types.U64}, Names: []string{tree.Unnamed}}
	u := unitOf(t, []*tree.Span{span}, []opened{
		{[]uint64{11}, []uint64{7<<layout.SyscallBits | uint64(read.Nr) + 1, 1, 0}}})
	s := spansOf(t, u)
	values, err := s.OfProbe(4)
	if got, want := texts(t, values, err), []string{`(11, record(probe = "syscall:read"))`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := s.Calls(u, 4); n != 1 || err != nil {
		t.Errorf("%d calls are open (%v), want 1", n, err)
	}
	if n, err := s.Calls(u, 5); n != 0 || err != nil {
		t.Errorf("%d calls of another probe are open (%v), want 0", n, err)
	}
}

// Calls of functions nest: the entry of depth 0 says how many are open, and the deeper ones that were left stay. Those
// of a thread that is no more are not open.
func TestNested(t *testing.T) {
	const depths, place = 32, 1<<32 | 6
	span := &tree.Span{Probe: 2, Size: 16, Nested: true, Slots: []types.Type{types.U64}, Names: []string{"size"}}
	self, gone := uint64(os.Getpid()), uint64(1<<22-1)
	entry := func(process, depth, open uint64) opened {
		return opened{[]uint64{77, depth<<depths | process}, []uint64{open, 0, place, 0, 10 + depth, 0}}
	}
	u := unitOf(t, []*tree.Span{span}, []opened{entry(self, 0, 2), entry(self, 1, 9), entry(self, 2, 9),
		entry(gone, 0, 1)})
	s := spansOf(t, u)
	values, err := s.OfProbe(2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range values { // the outermost first
		got = append(got, v.String())
	}
	want := make([]string, 2)
	for depth := range want {
		want[depth] = fmt.Sprintf(`(%d, record(probe = "point 6", pid = %[1]d, depth = %d, size = %d))`, self, depth,
			10+depth)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n, err := s.Calls(u, 2); n != 3 || err != nil {
		t.Errorf("%d calls are open (%v), want 3", n, err)
	}
}

// What one start keeps under several paths that end alike has as much of each path as tells it from the others. Another
// start of the span has the same names.
func TestPathsThatEndAlike(t *testing.T) {
	for want, paths := range map[string][]string{
		"a=1 b=2":                   {".args.p.a", ".args.q.b"},
		"p.a=1 q.a=2":               {".args.p.a", ".args.q.a"},
		"p.x.a=1 q.x.a=2 r.a=3":     {".args.p.x.a", ".args.q.x.a", ".args.r.a"},
		"pid=1 args.pid=2 p.pid=3":  {"pid", ".args.pid", ".args.p.pid"},
		"args.time=1":               {".args.time"},
		"a=1 p.a=2":                 {".a", ".args.p.a"}, // of cast(T, x).a there is no more
		"q[0].a=1 q[1].a=2":         {".args.q[0].a", ".args.q[1].a"},
		"a=1 value=2 args.comm=3":   {".args.a", ".args.value", ".args.comm"},
		"size=1 comm=3 args.size=2": {"size", ".args.size", "comm"},
		"start=1 value=2 reg:8=3":   {".args.start", ".args.value", ".args.reg:8"},
		"start=1 args.start=2":      {"start", ".args.start"},
	} {
		span := &tree.Span{Plan: &plan.Span{}, Size: 16, Names: paths}
		val := []uint64{500}
		for i := range paths {
			span.Slots, val = append(span.Slots, types.U64), append(val, uint64(i+1))
		}
		if want == "a=1 value=2 args.comm=3" { // another start keeps the event's comm, too
			span.Slots, val = append(span.Slots, types.U64), append(val, 0)
			span.Names = append(paths, "comm")
			span.Kept = []tree.Kept{{Names: append(paths, "")}, {Names: []string{"", "", ".args.comm", "comm"}}}
			want += " comm=None"
		}
		s := spansOf(t, unitOf(t, []*tree.Span{span}, []opened{{[]uint64{11}, val}}))
		values, err := s.Items(span.Plan)
		got := strings.ReplaceAll(strings.Join(texts(t, values, err), ""), " = ", "=")
		if want = "(11, record(time=500, " + strings.ReplaceAll(want, " ", ", ") + "))"; got != want {
			t.Errorf("%q: got %s, want %s", paths, got, want)
		}
	}
}

// The calls of a probe at system calls and functions all have what any of them has.
func TestCallsOfSeveralKinds(t *testing.T) {
	read, _ := kernel.SyscallByName("read")
	const place = 1<<32 | 6
	calls := &tree.Span{Probe: 4, Size: 16, Slots: []types.Type{types.U64}, Names: []string{".args.fd"}}
	functions := &tree.Span{Probe: 4, Size: 16, Nested: true, Slots: []types.Type{types.U64},
		Names: []string{".args.fd"}, Kept: []tree.Kept{{Names: []string{".args.fd"},
			Known: map[string]string{"func": "f"}}}}
	u := unitOf(t, []*tree.Span{calls, functions},
		[]opened{{[]uint64{11}, []uint64{7<<layout.SyscallBits | uint64(read.Nr) + 1, 3, 0}}},
		[]opened{{[]uint64{77, uint64(os.Getpid())}, []uint64{1, 0, place, 0, 5, 0}}})
	values, err := spansOf(t, u).OfProbe(4)
	want := []string{
		`(11, record(probe = "syscall:read", fd = 3, depth = None, func = None, pid = None))`,
		fmt.Sprintf(`(%d, record(probe = "point 6", pid = %[1]d, depth = 0, fd = 5, func = "f"))`, os.Getpid()),
	}
	if got := texts(t, values, err); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// When the run is over the maps are still read, by whoever asks for the first time or again.
func TestSettled(t *testing.T) {
	p := &plan.Span{}
	u := unitOf(t, []*tree.Span{scripts(p, 0), scripts(p, 1)}, []opened{{[]uint64{11}, []uint64{500, 64, 9, 0}}},
		[]opened{{[]uint64{12}, []uint64{500, 64, 9, 0}}})
	s := spansOf(t, u)
	values, err := s.OfProbe(0)
	before := texts(t, values, err)
	s.Settle()
	values, err = s.OfProbe(0)
	if got := texts(t, values, err); !slices.Equal(got, before) || len(got) != 1 {
		t.Errorf("got %q, want %q as before", got, before)
	}
	values, err = s.OfProbe(1)
	if got := texts(t, values, err); len(got) != 1 {
		t.Errorf("asked for the first time: got %q, want the one of 12", got)
	}
}

// A span whose map is missing is an error with the place of the span.
func TestNoMap(t *testing.T) {
	span := scripts(&plan.Span{}, 0)
	file := "x.star"
	span.Pos = syntax.MakePosition(&file, 3, 5)
	s := spansOf(t, &openspans.Unit{Spans: []*tree.Span{span}, Map: func(string) *ebpf.Map { return nil }})
	const want = "items: the unit has no map for the span at x.star:3:5"
	if _, err := s.OfProbe(0); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
