package bpfgen

import (
	"math"
	"os"
	"sync"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// everything is a group with every kind of aggregation.
func everything() *plan.Container {
	g := &plan.Container{Kind: plan.Group}
	add := func(name string, c plan.Container) {
		c.Unit = max(1, c.Unit)
		g.Members = append(g.Members, plan.GroupMember{Name: name, Agg: &c})
	}
	for kind := plan.Count; kind.IsAggregation(); kind++ {
		c := plan.Container{Kind: kind}
		if kind == plan.LHist {
			c.Lo, c.Hi, c.Step = -100, 1000, 50
		}
		add(kind.String(), c)
	}
	add("fine", plan.Container{Kind: plan.Hist, Sub: 2, Unit: 1000})
	return g
}

// model is what an aggregation must hold.
type model struct {
	n, sum, lo, hi int64
	buckets        map[int]int64
}

func (m *model) add(b *wire.Buckets, v, weight int64) {
	if m.n == 0 || v < m.lo {
		m.lo = v
	}
	if m.n == 0 || v > m.hi {
		m.hi = v
	}
	m.n += weight
	m.sum += v * weight
	if b != nil {
		m.buckets[b.Index(v)] += weight
	}
}

// checkAgg compares a map's value with the model.
func checkAgg(t *testing.T, name string, a *wire.Agg, v []byte, m *model) {
	t.Helper()
	at := func(off int) int64 { return word(v[off:], 0) }
	extreme := func(off int) uint64 {
		best := uint64(0)
		for i := range a.Slots {
			best = max(best, uint64(at(off+16*i)))
			if a.Slots > 1 && at(off+16*i+8) != 0 {
				t.Errorf("%s: word %d is still claimed", name, i)
			}
		}
		return best
	}
	if a.Count >= 0 && at(a.Count) != m.n {
		t.Errorf("%s: count %d, want %d", name, at(a.Count), m.n)
	}
	if a.Sum >= 0 && at(a.Sum) != m.sum {
		t.Errorf("%s: sum %d, want %d", name, at(a.Sum), m.sum)
	}
	if a.Lowest >= 0 && wire.DecodeLowest(extreme(a.Lowest)) != m.lo {
		t.Errorf("%s: lowest %d, want %d", name, wire.DecodeLowest(extreme(a.Lowest)), m.lo)
	}
	if a.Highest >= 0 && wire.DecodeHighest(extreme(a.Highest)) != m.hi {
		t.Errorf("%s: highest %d, want %d", name, wire.DecodeHighest(extreme(a.Highest)), m.hi)
	}
	if a.Set >= 0 && at(a.Set) == 0 {
		t.Errorf("%s: not set", name)
	}
	if a.Buckets != nil {
		for i := range a.Buckets.N {
			if got := at(a.Buckets.Off + 8*i); got != m.buckets[i] {
				t.Errorf("%s: bucket %d holds %d, want %d", name, i, got, m.buckets[i])
			}
		}
	}
}

func TestAggregations(t *testing.T) {
	for _, o := range []Options{{}, {NoCmpXchg: true}} {
		for _, key := range []types.Type{types.NoneT, types.U32} {
			c := &tree.Container{Container: everything(), Key: key}
			p := program(nil)
			for _, m := range c.Members {
				s := stmt(tree.SAggAdd, 0, arg(0, types.I64), arg(1, types.I64))
				s.Str = m.Name
				if key.Kind != types.None {
					s.Exprs = append(s.Exprs, builtin("pid", types.U32))
				}
				p.Body.Stmts = append(p.Body.Stmts, s)
			}
			coll, unit := load(t, &tree.Unit{Containers: []*tree.Container{c}, Programs: []*tree.Program{p}}, o)
			models := map[string]*model{}
			for i, v := range append(append([]int64(nil), interesting...), -100, 999, 1000, -101, 12345678) {
				weight := int64(1 + i%3)
				run(t, coll, uint64(v), uint64(weight))
				for _, m := range c.Agg.Members {
					if models[m.Name] == nil {
						models[m.Name] = &model{buckets: map[int]int64{}}
					}
					models[m.Name].add(m.Agg.Buckets, v, weight)
				}
			}
			var v []byte
			if key.Kind == types.None {
				v = single(t, coll.Maps["c0"])
			} else {
				var err error
				if v, err = coll.Maps["c0"].LookupBytes(uint64(os.Getpid())); err != nil || v == nil {
					t.Fatalf("no entry of this process: %v", err)
				}
			}
			for _, m := range c.Agg.Members {
				checkAgg(t, m.Name, m.Agg, v, models[m.Name])
			}
			if got := sites(t, coll, unit); len(got) > 0 {
				t.Errorf("sites %v", got)
			}
		}
	}
}

// TestExtremesOfBothSigns adds numbers with a sign and without one to one aggregation.
func TestExtremesOfBothSigns(t *testing.T) {
	for _, o := range []Options{{}, {NoCmpXchg: true}} {
		c := &tree.Container{Container: everything(), Key: types.NoneT}
		p := program(nil)
		for _, m := range c.Members {
			for i, number := range []types.Type{types.I64, types.U64} {
				s := stmt(tree.SAggAdd, 0, arg(int64(i), number), konst(1))
				s.Str = m.Name
				p.Body.Stmts = append(p.Body.Stmts, s)
			}
		}
		coll, _ := load(t, &tree.Unit{Containers: []*tree.Container{c}, Programs: []*tree.Program{p}}, o)
		run(t, coll, 5, 1<<63+7)
		run(t, coll, ^uint64(1), 1<<63+9)
		run(t, coll, 100, 1<<63)
		v := single(t, coll.Maps["c0"])
		for _, m := range c.Agg.Members {
			if m.Agg.Unsigned == nil {
				continue
			}
			at := func(off int) (best uint64) {
				for i := range m.Agg.Slots {
					best = max(best, uint64(word(v[off+16*i:], 0)))
				}
				return best
			}
			if e := m.Agg.Extremes; e.Lowest >= 0 && wire.DecodeLowest(at(e.Lowest)) != -2 ||
				e.Highest >= 0 && wire.DecodeHighest(at(e.Highest)) != 100 || word(v[e.Set:], 0) != 1 {
				t.Errorf("%s: of values with a sign: %v", m.Name, v)
			}
			if e := m.Agg.Unsigned; e.Lowest >= 0 && ^at(e.Lowest) != 1<<63 ||
				e.Highest >= 0 && at(e.Highest) != 1<<63+9 || word(v[e.Set:], 0) != 1 {
				t.Errorf("%s: of values without a sign: %v", m.Name, v)
			}
		}
	}
}

// TestUnsignedBuckets: values beyond int64 have buckets of their own.
func TestUnsignedBuckets(t *testing.T) {
	c := container(plan.Hist, types.NoneT, types.Type{})
	coll, _ := load(t, &tree.Unit{Containers: []*tree.Container{c}, Programs: []*tree.Program{
		program(nil, stmt(tree.SAggAdd, 0, arg(0, types.U64), konst(1))),
	}}, Options{})
	for _, v := range []uint64{0, 1, 1 << 62, 1 << 63, math.MaxUint64} {
		run(t, coll, v)
	}
	v := single(t, coll.Maps["c0"])
	for i, want := range map[int]int64{0: 0, 1: 1, 2: 1, 64: 1, 65: 2} {
		if got := word(v, i); got != want {
			t.Errorf("bucket %d holds %d, want %d", i, got, want)
		}
	}
}

// TestExact lets goroutines on all CPUs add to the same keys: nothing may be
// lost, and keys that are new to all of them must not be lost either.
func TestExact(t *testing.T) {
	const workers, rounds, keys = 8, 4000, 16
	for _, o := range []Options{{}, {NoCmpXchg: true}} {
		c := &tree.Container{Container: everything(), Key: types.U64}
		p := program(nil)
		for _, name := range []string{"count", "stats", "hist"} {
			s := stmt(tree.SAggAdd, 0, arg(1, types.I64), konst(1), arg(0, types.U64))
			s.Str = name
			p.Body.Stmts = append(p.Body.Stmts, s)
		}
		coll, unit := load(t, &tree.Unit{Containers: []*tree.Container{c}, Programs: []*tree.Program{p}}, o)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range rounds {
					run(t, coll, uint64(i%keys), uint64(w*rounds+i))
				}
			})
		}
		wg.Wait()
		n := int64(0)
		for k := range uint64(keys) {
			v, err := coll.Maps["c0"].LookupBytes(k)
			if err != nil || v == nil {
				t.Fatalf("no entry %d: %v", k, err)
			}
			n += word(v[c.Agg.Member("count").Count:], 0)
			m := &model{buckets: map[int]int64{}}
			stats := c.Agg.Member("stats")
			for w := range workers {
				for i := int(k); i < rounds; i += keys {
					m.add(nil, int64(w*rounds+i), 1)
				}
			}
			checkAgg(t, "stats", stats, v, m)
		}
		if n != workers*rounds {
			t.Errorf("counted %d of %d", n, workers*rounds)
		}
		if got := sites(t, coll, unit); len(got) > 0 {
			t.Errorf("sites %v", got)
		}
	}
}
