package value

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/wire"
)

// Operators that change a word of a map in one step: `*`, `&`, `^` and others beside + and -.

// A WordOp is an operator that changes a word in one step, beside + and -.
type WordOp uint64

// The operators *, &, |, ^.
const (
	Times WordOp = iota
	BitsAnd
	BitsOr
	BitsXor
)

var wordOps = map[syntax.Token]WordOp{
	syntax.STAR: Times, syntax.AMP: BitsAnd, syntax.PIPE: BitsOr, syntax.CIRCUMFLEX: BitsXor,
}

// An OperatingBackend changes words by more operators than +.
type OperatingBackend interface {
	Backend
	// Operate makes the 64-bit int at off of an entry what op and v make of it, if it
	// is from lo to hi, atomically with respect to the kernel halves. False: it is not
	// there or not in that range, or the kernel cannot (before 5.12).
	Operate(key []byte, off int, op WordOp, v uint64, lo, hi int64) (bool, error)
}

// operate is t[k] op= v in one step, where there is one for it; done is false if it was not taken, as for a result that
// does not fit: whoever reads and computes finds what is wrong.
func (t *Table) operate(k starlark.Value, op syntax.Token, v starlark.Value) (done bool, err error) {
	be, can := t.be.(OperatingBackend)
	word, known := wordOps[op]
	n, isInt := v.(starlark.Int)
	typ := t.word()
	if !can || !known || !isInt || typ == nil || typ.TagOff >= 0 || typ.Kind != wire.Int || typ.Label != "" {
		return false, nil
	}
	bits, err := rawInt(typ, n)
	lo, hi, bounded := changeable(word, typ.Signed, n)
	if err != nil || !bounded {
		return false, nil
	}
	key, err := t.keyToWrite(t.foldKey(k))
	if err != nil {
		return false, err
	}
	return be.Operate(key, typ.Off, word, bits, lo, hi)
}

// changeable gives the range of those words for which the result fits into a word of the same sign.
func changeable(op WordOp, signed bool, n starlark.Int) (lo, hi int64, ok bool) {
	if op != Times || n.Sign() == 0 {
		return math.MinInt64, math.MaxInt64, true
	}
	if !signed {
		return 0, 0, false // what fits is no range of signed numbers
	}
	// The result is from MinInt64 to MaxInt64. Quo is towards 0, so that both ends are inside.
	by := n.BigInt()
	first, last := new(big.Int).Quo(big.NewInt(math.MinInt64), by), new(big.Int).Quo(big.NewInt(math.MaxInt64), by)
	if by.Sign() < 0 {
		first, last = last, first
	}
	if !last.IsInt64() { // -MinInt64
		last.SetInt64(math.MaxInt64)
	}
	return first.Int64(), last.Int64(), true
}
