package persistent

import (
	"maps"
	"math/rand"
	"testing"
)

// Maps that were copied and changed at random have what plain maps have, and Diff
// finds what is not the same.
func TestRandom(t *testing.T) {
	type pair struct {
		m     Map[int, int]
		plain map[int]int
	}
	rng := rand.New(rand.NewSource(1))
	list := []pair{{plain: map[int]int{}}}
	for i := range 20000 {
		p := &list[rng.Intn(len(list))]
		switch k := rng.Intn(300); {
		case i%100 == 0 && len(list) < 20:
			list = append(list, pair{p.m, maps.Clone(p.plain)})
		case i%3 == 0:
			p.m.Delete(k)
			delete(p.plain, k)
		default:
			p.m.Set(k, i)
			p.plain[k] = i
		}
	}
	for _, p := range list {
		got := map[int]int{}
		p.m.All(func(k, v int) { got[k] = v })
		if !maps.Equal(got, p.plain) || p.m.Len() != len(got) {
			t.Fatalf("%d entries, want %d", p.m.Len(), len(p.plain))
		}
		for k := range 300 {
			v, ok := p.m.Get(k)
			if want, there := p.plain[k]; v != want || ok != there || p.m.At(k) != want {
				t.Fatalf("%d is %d, %t, want %d", k, v, ok, want)
			}
		}
		for _, q := range list {
			checkDiff(t, p.m, q.m, p.plain, q.plain)
		}
	}
}

func checkDiff(t *testing.T, x, y Map[int, int], xs, ys map[int]int) {
	t.Helper()
	found := map[int]bool{}
	Diff(x, y, func(k int, xv, yv *int) {
		if found[k] {
			t.Fatalf("%d twice", k)
		}
		found[k] = true
		v, inX := xs[k]
		w, inY := ys[k]
		if inX != (xv != nil) || inY != (yv != nil) || inX && *xv != v || inY && *yv != w || !inX && !inY {
			t.Fatalf("%d: wrong values", k)
		}
	})
	for k := range 300 {
		v, inX := xs[k]
		if w, inY := ys[k]; (inX != inY || v != w) && !found[k] {
			t.Fatalf("%d is not found", k)
		}
	}
}

// Keys with equal hashes are told apart.
func TestCollision(t *testing.T) {
	s := slot[string, int]{}
	for i, k := range []string{"a", "b", "a", "c"} {
		s, _ = s.with(&entry[string, int]{hash: 1, key: k, v: i}, 0)
	}
	got := map[string]int{}
	s.all(func(e *entry[string, int]) { got[e.key] = e.v })
	if want := map[string]int{"a": 2, "b": 1, "c": 3}; !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	s, found := s.without("b", 1, 0)
	if _, again := s.without("b", 1, 0); !found || again {
		t.Error("b is still there")
	}
}

// A copy costs nothing, a change what is on the way to its entry, and Diff what
// was changed: none of it what the map has.
func TestShared(t *testing.T) {
	cost := func(n int) float64 {
		var m Map[int, int]
		for i := range n {
			m.Set(i, i)
		}
		return testing.AllocsPerRun(100, func() {
			c := m
			c.Set(n/2, 0)
			Diff(m, c, func(int, *int, *int) {})
		})
	}
	if small, large := cost(100), cost(100*1000); large > 4*small {
		t.Errorf("%g allocations of 100 entries, %g of 100,000", small, large)
	}
}
