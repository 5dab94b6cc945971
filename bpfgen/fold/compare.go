package fold

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Comparisons of constants: `==`, `<`, `in`.

// Equal is x == y; ok: it is known.
func Equal(x, y plan.Value) (eq, ok bool) {
	if x == nil || y == nil {
		return false, false
	}
	if d, ok := numbers(x, y); ok {
		return d == 0, true
	}
	switch x := x.(type) {
	case plan.Int, plan.Float:
		return false, true
	case plan.String, plan.Bool, plan.None, plan.Bytes:
		return x == y, true
	case plan.Builtin:
		return x == y, IsFault(x)
	case plan.Tuple:
		switch y := y.(type) {
		case plan.Tuple:
			return equalElements(x, y)
		case plan.Record:
			return false, true
		}
	case plan.Record:
		switch y := y.(type) {
		case plan.Tuple:
			return false, true
		case plan.Record:
			return equalFields(x, y)
		}
	}
	return false, false
}

// equalFields compares records, of which the names decide and not their order.
func equalFields(x, y plan.Record) (eq, ok bool) {
	if len(x) != len(y) {
		return false, true
	}
	var xs, ys plan.Tuple
	for _, f := range x {
		i := slices.IndexFunc(y, func(g plan.RecordField) bool { return g.Name == f.Name })
		if i < 0 {
			return false, true
		}
		xs, ys = append(xs, f.Value), append(ys, y[i].Value)
	}
	return equalElements(xs, ys)
}

func equalElements(x, y plan.Tuple) (eq, ok bool) {
	if len(x) != len(y) {
		return false, true
	}
	for i := range x {
		if eq, ok := Equal(x[i], y[i]); !eq || !ok {
			return false, ok
		}
	}
	return true, true
}

// numbers compares two numbers, of which each may be a float.
func numbers(x, y plan.Value) (d int, ok bool) {
	xr, xn, ok1 := rational(x)
	yr, yn, ok2 := rational(y)
	switch {
	case !ok1 || !ok2:
		return 0, false
	case xn != 0 || yn != 0:
		return cmp.Compare(xn, yn), true
	}
	return xr.Cmp(yr), true
}

// rational is a number. Of one that none is equal to, beyond is the side: -1 and 1 are the infinities, 2 is no number,
// which is larger than all.
func rational(c plan.Value) (r *big.Rat, beyond int, ok bool) {
	switch c := c.(type) {
	case plan.Int:
		return new(big.Rat).SetInt(c.Big), 0, true
	case plan.Float:
		switch f := float64(c); {
		case math.IsNaN(f):
			return nil, 2, true
		case math.IsInf(f, 1):
			return nil, 1, true
		case math.IsInf(f, -1):
			return nil, -1, true
		default:
			return new(big.Rat).SetFloat64(f), 0, true
		}
	}
	return nil, 0, false
}

// ordered is x < y and its like.
func ordered(op syntax.Token, x, y plan.Value) (is, ok bool) {
	d, ok := order(x, y)
	switch op {
	case syntax.LT:
		return d < 0, ok
	case syntax.LE:
		return d <= 0, ok
	case syntax.GT:
		return d > 0, ok
	}
	return d >= 0, ok
}

// order is below 0 where x is less than y, above where it is more.
func order(x, y plan.Value) (d int, ok bool) {
	if d, ok := numbers(x, y); ok {
		return d, true
	}
	switch x := x.(type) {
	case plan.String:
		ys, ok := y.(plan.String)
		return strings.Compare(string(x), string(ys)), ok
	case plan.Bool:
		yb, ok := y.(plan.Bool)
		return asInt(x) - asInt(yb), ok
	}
	return 0, false
}

func asInt(b plan.Bool) int {
	if b {
		return 1
	}
	return 0
}

// in is x in y, of a part of a string or an element of a tuple.
func in(x, y plan.Value) (is, ok bool) {
	switch y := y.(type) {
	case plan.String:
		part, ok := x.(plan.String)
		return ok && strings.Contains(string(y), string(part)), ok
	case plan.Tuple:
		for _, e := range y {
			if eq, ok := Equal(x, e); eq || !ok {
				return eq, ok
			}
		}
		return false, true
	}
	return false, false
}
