package cfi

import (
	"math/rand/v2"
	"testing"
)

// A table over another one has the rule of the upper one where that covers, else that of the lower one, whichever is
// the larger and whether it has room or not.
func TestOver(t *testing.T) {
	const addresses = 64
	r := rand.New(rand.NewPCG(1, 2))
	random := func() *table {
		out := &table{rows: make([]Row, 0, r.IntN(2*addresses))}
		for addr, n := uint64(0), r.IntN(addresses); addr < addresses; addr += 1 + r.Uint64N(uint64(n)+1) {
			rule := uint32(uncovered)
			if r.IntN(3) > 0 {
				rule = 1 + r.Uint32N(3)
			}
			out.add(addr, rule)
		}
		return out
	}
	for range 2000 {
		upper, lower := random(), random()
		var want [addresses]uint32
		for addr := range want {
			if want[addr] = upper.at(uint64(addr)); want[addr] == uncovered {
				want[addr] = lower.at(uint64(addr))
			}
		}
		got := upper.over(lower)
		for addr, rule := range want {
			if have := got.at(uint64(addr)); have != rule {
				t.Fatalf("at %d: %d, want %d", addr, have, rule)
			}
		}
		for i := 1; i < len(got.rows); i++ {
			if got.rows[i].Addr <= got.rows[i-1].Addr || got.rows[i].Rule == got.rows[i-1].Rule {
				t.Fatalf("rows %d and %d are %v", i-1, i, got.rows[i-1:i+1])
			}
		}
	}
}

// A small table that is laid over a large one takes no copy of it.
func TestOverTakesNoCopy(t *testing.T) {
	large := &table{rows: make([]Row, 0, 1000+roomAbove)}
	for i := range uint64(1000) {
		large.add(i, uint32(i%2))
	}
	small := &table{rows: []Row{{10, 7}, {12, uncovered}}}
	got := small.over(large)
	if got.at(11) != 7 || got.at(12) != 0 || got.at(9) != 1 {
		t.Errorf("the rules at 9, 11, 12 are %d, %d, %d", got.at(9), got.at(11), got.at(12))
	}
	if &got.rows[0] != &large.rows[0] {
		t.Error("the large table was copied")
	}
}
