package value

import (
	"fmt"
	"slices"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// memory is a Backend in a Go map, with keys in sorted order.
type memory struct {
	key, val *wire.Fixed
	size     int
	entries  map[string][]byte
}

func newMemory(key, val *wire.Fixed, size int) *memory {
	return &memory{key, val, size, make(map[string][]byte)}
}

func (m *memory) Layout() (key, val *wire.Fixed) { return m.key, m.val }

func (m *memory) Lookup(key, val []byte) (bool, error) {
	e, ok := m.entries[string(key)]
	copy(val, e)
	return ok, nil
}

func (m *memory) Update(key, val []byte) error {
	m.entries[string(key)] = slices.Clone(val)
	return nil
}

func (m *memory) Delete(key []byte) (bool, error) {
	_, ok := m.entries[string(key)]
	delete(m.entries, string(key))
	return ok, nil
}

func (m *memory) Pop(key, val []byte) (bool, error) {
	if ok, err := m.Lookup(key, val); !ok || err != nil {
		return false, err
	}
	return m.Delete(key)
}

func (m *memory) AddInt(key []byte, off int, delta int64) error {
	e := m.entries[string(key)]
	if e == nil {
		e = make([]byte, m.size)
		m.entries[string(key)] = e
	}
	order.PutUint64(e[off:], order.Uint64(e[off:])+uint64(delta))
	return nil
}

func (m *memory) Swap(key []byte, off int, old, next uint64) (bool, error) {
	e := m.entries[string(key)]
	if e == nil || order.Uint64(e[off:]) != old {
		return false, nil
	}
	order.PutUint64(e[off:], next)
	return true, nil
}

func (m *memory) Each(f func(key, val []byte) bool) error {
	var keys []string
	for k := range m.entries {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if !f([]byte(k), m.entries[k]) {
			break
		}
	}
	return nil
}

func leaf(kind wire.Kind, off, size int) wire.Type {
	return wire.Type{Kind: kind, Off: off, Size: size, TagOff: -1}
}

var (
	commKey  = &wire.Fixed{Type: leaf(wire.Str, 0, 16), Size: 16}
	wordType = wire.Type{Kind: wire.Int, Size: 8, Signed: true, TagOff: -1}
	word     = &wire.Fixed{Type: wordType, Size: 8}
)

// eval evaluates an expression of Starlark in which x is a value.
func eval(t *testing.T, expr string, x starlark.Value) (string, error) {
	t.Helper()
	v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "test", expr,
		starlark.StringDict{"x": x, "update": starlark.NewBuiltin("update",
			func(_ *starlark.Thread, _ *starlark.Builtin, a starlark.Tuple,
				_ []starlark.Tuple) (starlark.Value, error) {
				op, _ := starlark.AsString(a[2])
				return starlark.None, Update(a[0], a[1], op, a[3])
			})})
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

// evals checks a list of expressions and what they give; an error is given as
// "error: …".
func evals(t *testing.T, x starlark.Value, exprs ...[2]string) {
	t.Helper()
	for _, e := range exprs {
		got, err := eval(t, e[0], x)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != e[1] {
			t.Errorf("%s: %s, want %s", e[0], got, e[1])
		}
	}
}

func TestBoundTable(t *testing.T) {
	tb := NewTable(&plan.Container{Kind: plan.Table, Name: "t"})
	evals(t, tb, [2]string{`x.set("early", 3)`, "None"})
	m := newMemory(commKey, word, 8)
	if err := tb.Bind(m, &Decoder{}); err != nil {
		t.Fatal(err)
	}
	evals(t, tb,
		[2]string{`x["early"]`, "3"},
		[2]string{`update(x, "early", "+", 4)`, "None"},
		[2]string{`update(x, "early", "-", 2)`, "None"},
		[2]string{`update(x, "new", "+", 1)`, "None"},
		[2]string{`update(x, "early", "|", 8)`, "None"},
		[2]string{`x.items()`, `[("early", 13), ("new", 1)]`},
		[2]string{`"early" in x, "no" in x, len(x)`, "(True, False, 2)"},
		[2]string{`x.pop("early"), x.get("early"), x.get("early", 0)`, "(13, None, 0)"},
		[2]string{`x["early"]`, `error: key "early" not in table`},
		[2]string{`x.set(1, 1)`, "error: key of <table t>: got int, want a string of at most 15 bytes"},
		[2]string{`x.set("a", "b")`, "error: value of <table t>: got string, want a signed 64-bit int"},
		[2]string{`x.set("a", 1 << 63)`,
			"error: value of <table t>: got 9223372036854775808, want a signed 64-bit int"},
		[2]string{`x.set("a", None)`,
			"error: value of <table t>: got None, want a signed 64-bit int: kernel halves keep no None here"},
		[2]string{`x.set("0123456789abcdef", 1)`, "error: key of <table t>: got a string of 16 bytes, want at most 15" +
			", as kernel halves keep here: cut it, as [:15] does"},
		[2]string{`x.clear()`, "None"},
		[2]string{`bool(x)`, "False"})
}

func TestBindRefuses(t *testing.T) {
	tb := NewTable(&plan.Container{Kind: plan.Table, Name: "t"})
	evals(t, tb, [2]string{`x.set(("a", 1), True)`, "None"})
	err := tb.Bind(newMemory(commKey, word, 8), &Decoder{})
	const want = `t[("a", 1)] = True: key of <table t>: got a tuple of 2, want a string of at most 15 bytes`
	if err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

func TestBoundCell(t *testing.T) {
	c := NewCell(&plan.Container{Kind: plan.Cell, Name: "c"}, starlark.MakeInt(4))
	if err := c.Bind(newMemory(nil, word, 8), &Decoder{}); err != nil {
		t.Fatal(err)
	}
	evals(t, c,
		[2]string{`x.get()`, "4"},
		[2]string{`x.add(3)`, "None"},
		[2]string{`x.add()`, "None"},
		[2]string{`x.get()`, "8"},
		[2]string{`x.set("a")`, "error: value of <cell c>: got string, want a signed 64-bit int"})
}

// kernelAdd is what a program does to a mean: count and sum.
func kernelAdd(m *memory, key string, vals ...int64) {
	k := make([]byte, 16)
	copy(k, key)
	for _, v := range vals {
		_ = m.AddInt(k, 0, 1) // never fails
		_ = m.AddInt(k, 8, v)
	}
}

func TestBoundAgg(t *testing.T) {
	a := NewAgg(&plan.Container{Kind: plan.Mean, Name: "m", Unit: 10})
	evals(t, a, [2]string{`x["a"].add(100)`, "None"})
	m := newMemory(commKey, nil, 16)
	a.BindAgg(m, &Decoder{}, &wire.Agg{Kind: wire.AggMean, Count: 0, Sum: 8, Extremes: wire.NoExtremes, Slots: 1,
		Size: 16})
	kernelAdd(m, "a", 200, 300)
	kernelAdd(m, "b", 50)
	if a.WasRead() {
		t.Error("nobody has read it")
	}
	evals(t, a,
		[2]string{`x.items()`, `[("a", 20.0), ("b", 5.0)]`},
		[2]string{`x["a"].value, x["c"].value, x.get("b"), x.get("c"), x.get(7)`, "(20.0, None, 5.0, None, None)"},
		[2]string{`x.take().items()`, `[("a", 20.0), ("b", 5.0)]`},
		[2]string{`x.take().items()`, `[]`},
		[2]string{`x["a"].value`, "None"})
	kernelAdd(m, "b", 70)
	evals(t, a,
		[2]string{`x["b"].add(90)`, "None"},
		[2]string{`x["b"].value`, "8.0"},
		[2]string{`x.take()["b"]`, "8.0"},
		[2]string{`x.clear()`, "None"},
		[2]string{`len(x)`, "0"})
	if !a.WasRead() {
		t.Error("it was read")
	}
}

// > What user code adds to a number, as `n[-2].add()`, is added to the entry that reads as its text.
func TestAddedByNumber(t *testing.T) {
	key := &wire.Fixed{Type: leaf(wire.Int, 0, 4), Size: 8}
	key.Type.Label = "word"
	a := NewAgg(&plan.Container{Kind: plan.Count, Name: "n", Unit: 1})
	m := newMemory(key, nil, 8)
	word := func(v uint64) string { return fmt.Sprint("w", v) }
	d := &Decoder{Labels: Labels{Ints: map[string]LabelFunc{"word": word}}}
	a.BindAgg(m, d, &wire.Agg{Kind: wire.AggCount, Sum: -1, Extremes: wire.NoExtremes, Slots: 1, Size: 8})
	_ = m.AddInt([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 0, 1) // never fails
	evals(t, a,
		[2]string{`x[1].add(10), x["w1"].add(100), x[2].add(5), x["w2"].add(7)`, "(None, None, None, None)"},
		[2]string{`x[1].value, x["w1"].value, x[2].value, x["w2"].value`, "(111, 111, 12, 12)"},
		[2]string{`x.items()`, `[("w1", 111), ("w2", 12)]`},
		[2]string{`len(x), x.get(3), x.get("w3")`, "(2, None, None)"},
		[2]string{`x.take().items()`, `[("w1", 111), ("w2", 12)]`},
		[2]string{`x.get(1), x.get("w2")`, "(None, None)"})
}

// What take() gives finds its entries as the aggregation did: by the number behind a label, alone or in a tuple.
func TestTakenByNumber(t *testing.T) {
	part := func(off int) wire.Type {
		p := leaf(wire.Int, off, 4)
		p.Label = "word"
		return p
	}
	pair := wire.Type{Kind: wire.Tuple, TagOff: -1, Elems: []wire.Type{part(0), part(4)}}
	word := func(v uint64) string { return fmt.Sprint("w", v) }
	for _, tt := range []struct {
		key      wire.Type
		in, want string
	}{
		{part(0), `[(k in s, s.get(k), s[k] if k in s else 0) for s in [x.take()] for k in (1, "w1", 2, "w2")]`,
			"[(True, 11, 11), (True, 11, 11), (False, None, 0), (False, None, 0)]"},
		{pair, `[(k in s, s.get(k)) for s in [x.take()] for k in ((1, 0), ("w1", 0), (1, "w0"), (0, 1), 1)]`,
			"[(True, 11), (True, 11), (True, 11), (False, None), (False, None)]"},
	} {
		a := NewAgg(&plan.Container{Kind: plan.Count, Name: "n", Unit: 1})
		m := newMemory(&wire.Fixed{Type: tt.key, Size: 8}, nil, 8)
		a.BindAgg(m, &Decoder{Labels: Labels{Ints: map[string]LabelFunc{"word": word}}},
			&wire.Agg{Kind: wire.AggCount, Sum: -1, Extremes: wire.NoExtremes, Slots: 1, Size: 8})
		_ = m.AddInt([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 0, 11) // never fails
		evals(t, a, [2]string{tt.in, tt.want})
	}
}

// The same of what user code added before a kernel half used the aggregation. It takes one place, not two.
func TestAddedByNumberBefore(t *testing.T) {
	part := func(off int) wire.Type {
		p := leaf(wire.Int, off, 4)
		p.Label = "word"
		return p
	}
	key := &wire.Fixed{Type: wire.Type{Kind: wire.Tuple, TagOff: -1, Elems: []wire.Type{part(0), part(4)}}, Size: 8}
	a := NewAgg(&plan.Container{Kind: plan.Count, Name: "n", Unit: 1, Size: 2})
	evals(t, a, [2]string{`x[1, 2].add(10), x["w1", 2].add(100), x[1, "w2"].add(1000)`, "(None, None, None)"},
		[2]string{`x.items()`, `[((1, 2), 10), (("w1", 2), 100)]`})
	m := newMemory(key, nil, 8)
	word := func(v uint64) string { return fmt.Sprint("w", v) }
	d := &Decoder{Labels: Labels{Ints: map[string]LabelFunc{"word": word}}}
	a.BindAgg(m, d, &wire.Agg{Kind: wire.AggCount, Sum: -1, Extremes: wire.NoExtremes, Slots: 1, Size: 8})
	_ = m.AddInt([]byte{1, 0, 0, 0, 2, 0, 0, 0}, 0, 1) // never fails
	evals(t, a,
		[2]string{`x.items()`, `[(("w1", "w2"), 111)]`},
		[2]string{`x.get((1, 2)), x.get((1, "w2")), x.get(("w1", "w2")), (1, "w2") in x`, "(111, 111, 111, True)"},
		[2]string{`x["w1", 3].add(5), x["w1", "w3"].add(5), x[1, 3].add(5)`, "(None, None, None)"},
		[2]string{`x.items()`, `[(("w1", "w2"), 111), (("w1", "w3"), 15)]`})
}

func TestBoundLabels(t *testing.T) {
	key := &wire.Fixed{Type: leaf(wire.Int, 0, 4), Size: 8}
	key.Type.Label = "half"
	a := NewAgg(&plan.Container{Kind: plan.Count, Name: "n", Unit: 1})
	m := newMemory(key, nil, 8)
	d := &Decoder{Labels: Labels{Ints: map[string]LabelFunc{"half": func(v uint64) string {
		return fmt.Sprint("h", v/2)
	}}}}
	a.BindAgg(m, d, &wire.Agg{Kind: wire.AggCount, Sum: -1, Extremes: wire.NoExtremes, Slots: 1, Size: 8})
	for i := range 5 {
		_ = m.AddInt([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0}, 0, 1) // never fails
	}
	evals(t, a,
		[2]string{`x.items()`, `[("h0", 2), ("h1", 2), ("h2", 1)]`},
		[2]string{`x["h1"].value`, "2"},
		[2]string{`x[2].value`, "1"})
}

// banked is a memory whose values are two banks.
type banked struct {
	*memory
	epoch int
}

func (h *banked) Switch() (int, error) {
	h.epoch++
	return (h.epoch - 1) & 1, nil
}

func (h *banked) ClearBank(key []byte, bank int) error {
	clear(h.entries[string(key)][bank*h.size : (bank+1)*h.size])
	return nil
}

// raise is what a kernel half does to an extreme.
func (h *banked) raise(key []byte, off int, w uint64) {
	val := h.entries[string(key)]
	if val == nil {
		val = make([]byte, 2*h.size)
		h.entries[string(key)] = val
	}
	val = val[h.epoch&1*h.size:]
	if w > order.Uint64(val[off:]) {
		order.PutUint64(val[off:], w)
	}
}

func TestBoundExtremes(t *testing.T) {
	g := NewAgg(&plan.Container{Kind: plan.Group, Name: "g", Members: []plan.GroupMember{
		{Name: "lo", Agg: &plan.Container{Kind: plan.Lowest, Unit: 1}},
		{Name: "hi", Agg: &plan.Container{Kind: plan.Highest, Unit: 1}}}})
	m := &banked{memory: newMemory(nil, nil, 56)}
	none := wire.Agg{Count: -1, Sum: -1, Extremes: wire.NoExtremes, Slots: 1}
	lo, hi := none, none
	lo.Set, lo.Lowest, lo.Slots = 0, 8, 2 // two slots with claims for the lowest
	hi.Set, hi.Highest = 40, 48
	g.BindAgg(m, &Decoder{}, &wire.Agg{Kind: wire.AggGroup, Size: 56, Banks: 2,
		Members: []wire.AggMember{{Name: "lo", Agg: &lo}, {Name: "hi", Agg: &hi}}})
	set := func(low int64, high ...int64) {
		m.raise(nil, 0, 1)
		m.raise(nil, 8, wire.EncodeLowest(5))
		m.raise(nil, 24, wire.EncodeLowest(low))
		for _, v := range high {
			m.raise(nil, 40, 1)
			m.raise(nil, 48, wire.EncodeHighest(v))
		}
	}
	set(-7, 9, 3)
	evals(t, g,
		[2]string{`x.lo.value, x.hi.value`, "(-7, 9)"},
		[2]string{`x.lo.add(-9)`, "None"},
		[2]string{`x.lo.value`, "-9"},
		[2]string{`x.take().value`, "record(lo = -9, hi = 9)"},
		[2]string{`x.lo.value, x.hi.value`, "(None, None)"},
		[2]string{`x.take().value`, "record(lo = None, hi = None)"})
	set(4)
	evals(t, g, [2]string{`x.take().value`, "record(lo = 4, hi = None)"})
	set(-1, 2)
	evals(t, g,
		[2]string{`x.lo.value, x.hi.value`, "(-1, 2)"},
		[2]string{`x.clear()`, "None"},
		[2]string{`x.lo.value, x.hi.value`, "(None, None)"})
}

// The parts that take() gives of a keyed aggregation are what was added between.
func TestTakeBanks(t *testing.T) {
	a := NewAgg(&plan.Container{Kind: plan.Highest, Name: "h", Unit: 1})
	m := &banked{memory: newMemory(commKey, nil, 16)}
	a.BindAgg(m, &Decoder{}, &wire.Agg{Kind: wire.AggHighest, Count: -1, Sum: -1,
		Extremes: wire.Extremes{Lowest: -1, Set: 0, Highest: 8}, Slots: 1, Size: 16, Banks: 2})
	add := func(key string, v int64) {
		b := make([]byte, 16)
		copy(b, key)
		m.raise(b, 0, 1)
		m.raise(b, 8, wire.EncodeHighest(v))
	}
	add("a", 3)
	add("b", 5)
	evals(t, a, [2]string{`x.take().items()`, `[("a", 3), ("b", 5)]`}, [2]string{`x.items()`, "[]"})
	add("a", 1)
	evals(t, a, [2]string{`x.items()`, `[("a", 1)]`}, [2]string{`x["a"].value, x["b"].value`, "(1, None)"},
		[2]string{`x.take().items()`, `[("a", 1)]`})
	add("b", 2)
	add("c", -4)
	evals(t, a, [2]string{`x.take().items()`, `[("b", 2), ("c", -4)]`}, [2]string{`x.take().items()`, "[]"})
	plain := NewAgg(&plan.Container{Kind: plan.Highest, Name: "h", Unit: 1})
	plain.BindAgg(m.memory, &Decoder{}, a.shape)
	evals(t, plain, [2]string{`x.take()`, "error: take from <highest h>: its map has no banks"})
	whole := *a.shape
	whole.Banks = 1
	plain.BindAgg(m.memory, &Decoder{}, &whole)
	evals(t, plain, [2]string{`x.take()`,
		"error: take from <highest h>: extremes have no difference, and its map has no banks"})
}
