package script

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// How %x and texts of times show a negative int, by the width of its field (ownwidth.go of the compiler).

// bits is x without its sign, as a field of so many bits has it, or a text of it (wire.WidthTime); where the width is
// 0, x.
func bits(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return ownBits(args[0], args[1].(starlark.Int)), nil
}

func ownBits(v starlark.Value, w starlark.Int) starlark.Value {
	x, isInt := v.(starlark.Int)
	width, ok := w.Int64()
	if isInt && ok && width < 0 {
		return value.Written(x, int(width))
	}
	if !isInt || x.Sign() >= 0 || !ok || width == 0 {
		return v
	}
	mask := starlark.MakeUint64(1).Lsh(uint(width)).Sub(starlark.MakeInt(1))
	return x.And(mask)
}

// eachBits is what bits makes of the elements of a list, of which each has its width.
func eachBits(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
	error) {
	list, ok := args[0].(starlark.Iterable)
	if !ok {
		return args[0], nil
	}
	var out starlark.Tuple
	for e := range starlark.Elements(list) {
		if widths := args[1:]; len(out) < len(widths) {
			e = ownBits(e, widths[len(out)].(starlark.Int))
		}
		out = append(out, e)
	}
	return out, nil
}
