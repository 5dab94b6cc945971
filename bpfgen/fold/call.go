package fold

import (
	"math/big"
	"strings"
	"unicode"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Call is a call of a builtin.
func Call(name plan.Builtin, args []plan.Value) (plan.Value, bool) {
	for _, a := range args {
		if !Unchanging(a) {
			return nil, false
		}
	}
	switch {
	case (name == "min" || name == "max") && len(args) > 1:
		return extreme(name, args)
	case name == "bool" && len(args) == 0:
		return plan.Bool(false), true
	case len(args) != 1:
		return nil, false
	case name == "bool":
		return plan.Bool(Truth(args[0])), true
	case name == "int":
		return integer(args[0])
	case name == "abs":
		i, ok := args[0].(plan.Int)
		if !ok {
			return nil, false
		}
		return plan.Int{Big: new(big.Int).Abs(i.Big)}, true
	case name == "len":
		return length(args[0])
	}
	return nil, false
}

// integer is int(c) of a bool or an int.
func integer(c plan.Value) (plan.Value, bool) {
	if b, ok := c.(plan.Bool); ok {
		return plan.MakeInt(int64(asInt(b))), true
	}
	i, ok := c.(plan.Int)
	return i, ok
}

func length(c plan.Value) (plan.Value, bool) {
	switch c := c.(type) {
	case plan.String:
		return plan.MakeInt(int64(len(c))), true
	case plan.Bytes:
		return plan.MakeInt(int64(len(c))), true
	case plan.Tuple:
		return plan.MakeInt(int64(len(c))), true
	}
	return nil, false
}

// extreme is the first of the lowest or the highest.
func extreme(name plan.Builtin, args []plan.Value) (plan.Value, bool) {
	op := map[plan.Builtin]syntax.Token{"min": syntax.LT, "max": syntax.GT}[name]
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
