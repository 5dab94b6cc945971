package fold

import (
	"math"
	"math/big"

	"github.com/startrace/startrace/internal/plan"
)

// Numbers at the edges of 64 bits, and the numbers of a range().

// IsWord reports whether i has a place in 64 bits, with a sign or without.
func IsWord(i plan.Int) bool { return i.Big.IsInt64() || i.Big.IsUint64() }

// Bits is how many bits a number takes: one more where it is negative, for the sign.
func Bits(n *big.Int) int {
	if n.Sign() < 0 {
		return new(big.Int).Not(n).BitLen() + 1
	}
	return n.BitLen()
}

// Word is the low 64 bits of b.
func Word(b *big.Int) int64 {
	if b.IsInt64() {
		return b.Int64()
	}
	m := new(big.Int).And(b, new(big.Int).SetUint64(^uint64(0)))
	return int64(m.Uint64())
}

// Steps is the number of steps of a range, or the highest int if there are more.
func Steps(from, to, step int64) int64 {
	distance, by := uint64(to)-uint64(from), uint64(step)
	if step < 0 {
		distance, by = -distance, -by
	}
	if step == 0 || from == to || (from < to) != (step > 0) {
		return 0
	}
	return int64(min((distance-1)/by, math.MaxInt64-1) + 1)
}

// Range gives the numbers of a range that has at most so many.
func Range(from, to, step int64, most int) (out []plan.Value, ok bool) {
	n := Steps(from, to, step)
	if step == 0 || n > int64(most) {
		return nil, false
	}
	for i := range n {
		out = append(out, plan.MakeInt(from+i*step))
	}
	return out, true
}
