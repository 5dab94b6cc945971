package scope

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// Parameters of functions, `*args` and `**kwargs`, and which argument of a call goes to which parameter.

// Params are the parameters of a function in the order of its defaults, without *args and **kwargs, and how many of
// them a call can give by position: those in front of a star.
func Params(def *resolve.Function) (params []*syntax.Ident, positional int) {
	positional = -1
	for _, p := range def.Params {
		if _, star := p.(*syntax.UnaryExpr); !star {
			params = append(params, ParamName(p))
		} else if positional < 0 {
			positional = len(params)
		}
	}
	if positional < 0 {
		positional = len(params)
	}
	return params, positional
}

// ParamName is the name of a parameter; the star that stands alone, as in def f(x, *, y), has none.
func ParamName(p syntax.Expr) *syntax.Ident {
	switch p := p.(type) {
	case *syntax.Ident:
		return p
	case *syntax.BinaryExpr:
		return p.X.(*syntax.Ident)
	case *syntax.UnaryExpr:
		id, _ := p.X.(*syntax.Ident)
		return id
	}
	return nil
}

// Bound is the variable that a parameter is.
func Bound(id *syntax.Ident) *resolve.Binding { return id.Binding.(*resolve.Binding) }

// RestParam is the parameter *rest, nil where there is none.
func RestParam(def *resolve.Function) *syntax.Ident { return starParam(def, syntax.STAR) }

// NamedParam is the parameter **named, nil where there is none.
func NamedParam(def *resolve.Function) *syntax.Ident { return starParam(def, syntax.STARSTAR) }

func starParam(def *resolve.Function, star syntax.Token) *syntax.Ident {
	for _, p := range def.Params {
		if un, ok := p.(*syntax.UnaryExpr); ok && un.Op == star {
			return ParamName(p)
		}
	}
	return nil
}

// What Places says of an argument that goes to no parameter of its own.
const (
	Rest    = -1 // it goes to *rest
	Unknown = -2 // no parameter has its name
	TooMany = -3 // it is one more by position than the function takes
)

// Places says of each argument of a call to which parameter it goes, by the parameter's number. names are those that
// the call gives them, "" of those by position.
func Places(def *resolve.Function, names []string) []int {
	params, positional := Params(def)
	out := make([]int, len(names))
	next := 0
	for i, name := range names {
		switch {
		case name != "":
			out[i] = slices.IndexFunc(params, func(p *syntax.Ident) bool { return p.Name == name })
			if out[i] < 0 {
				out[i] = Unknown
			}
		case next < positional:
			out[i] = next
			next++
		case RestParam(def) != nil:
			out[i] = Rest
		default:
			out[i] = TooMany
		}
	}
	return out
}
