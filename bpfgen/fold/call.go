package fold

import (
	"math/big"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// What builtins and methods of strings give of constants: bool, int, abs, len, min, max, startswith, strip.

// A Function is what a builtin gives of arguments that are constants; false where that is not known here.
type Function func(args []plan.Value) (plan.Value, bool)

// Call is a call of f, which may be nil.
func (f Function) Call(args []plan.Value) (plan.Value, bool) {
	if f == nil || slices.ContainsFunc(args, func(a plan.Value) bool { return !Unchanging(a) }) {
		return nil, false
	}
	return f(args)
}

// Bool is bool().
func Bool(args []plan.Value) (plan.Value, bool) {
	switch len(args) {
	case 0:
		return plan.Bool(false), true
	case 1:
		return plan.Bool(Truth(args[0])), true
	}
	return nil, false
}

// Int is int() of a bool or an int.
func Int(args []plan.Value) (plan.Value, bool) {
	if len(args) != 1 {
		return nil, false
	}
	if b, ok := args[0].(plan.Bool); ok {
		return plan.MakeInt(int64(asInt(b))), true
	}
	i, ok := args[0].(plan.Int)
	return i, ok
}

// Abs is abs() of an int.
func Abs(args []plan.Value) (plan.Value, bool) {
	if len(args) != 1 {
		return nil, false
	}
	i, ok := args[0].(plan.Int)
	if !ok {
		return nil, false
	}
	return plan.Int{Big: new(big.Int).Abs(i.Big)}, true
}

// Len is len().
func Len(args []plan.Value) (plan.Value, bool) {
	if len(args) != 1 {
		return nil, false
	}
	switch c := args[0].(type) {
	case plan.String:
		return plan.MakeInt(int64(len(c))), true
	case plan.Bytes:
		return plan.MakeInt(int64(len(c))), true
	case plan.Tuple:
		return plan.MakeInt(int64(len(c))), true
	}
	return nil, false
}

// Min is min() of several values.
func Min(args []plan.Value) (plan.Value, bool) { return extreme(syntax.LT, args) }

// Max is max() of several values.
func Max(args []plan.Value) (plan.Value, bool) { return extreme(syntax.GT, args) }

// extreme is the first of the lowest or the highest, by the operator that tells a better one.
func extreme(op syntax.Token, args []plan.Value) (plan.Value, bool) {
	if len(args) < 2 {
		return nil, false
	}
	out := args[0]
	for _, a := range args[1:] {
		better, ok := ordered(op, a, out)
		if !ok {
			return nil, false
		}
		if better {
			out = a
		}
	}
	return out, true
}

// Method is a call of a method of a string.
func Method(recv plan.Value, name string, args []plan.Value) (plan.Value, bool) {
	s, ok := recv.(plan.String)
	if !ok {
		return nil, false
	}
	if strings.HasSuffix(name, "strip") {
		return stripped(string(s), name, args)
	}
	if len(args) != 1 {
		return nil, false
	}
	list, ok := args[0].(plan.Tuple)
	if !ok {
		list = plan.Tuple(args)
	}
	has := map[string]func(s, part string) bool{"startswith": strings.HasPrefix, "endswith": strings.HasSuffix}[name]
	if has == nil {
		return nil, false
	}
	for _, c := range list {
		part, ok := c.(plan.String)
		if !ok {
			return nil, false
		}
		if has(string(s), string(part)) {
			return plan.Bool(true), true
		}
	}
	return plan.Bool(false), true
}

// stripped is strip, lstrip or rstrip.
func stripped(s, name string, args []plan.Value) (plan.Value, bool) {
	cut := unicode.IsSpace
	if len(args) > 1 {
		return nil, false
	}
	if len(args) == 1 {
		set, ok := args[0].(plan.String)
		if !ok {
			return nil, false
		}
		if set != "" { // else it is spaces, too
			cut = func(r rune) bool { return strings.ContainsRune(string(set), r) }
		}
	}
	switch name {
	case "strip":
		s = strings.TrimFunc(s, cut)
	case "lstrip":
		s = strings.TrimLeftFunc(s, cut)
	case "rstrip":
		s = strings.TrimRightFunc(s, cut)
	default:
		return nil, false
	}
	return plan.String(s), true
}
