package infer

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// named gives the parameters of a function in the order of its defaults, without *args and **kwargs, and how many
// of them a call can give by position: those in front of a star.
func named(def *resolve.Function) (params []*syntax.Ident, positional int) {
	positional = -1
	for _, p := range def.Params {
		if _, star := p.(*syntax.UnaryExpr); !star {
			params = append(params, paramIdent(p))
		} else if positional < 0 {
			positional = len(params)
		}
	}
	if positional < 0 {
		positional = len(params)
	}
	return params, positional
}

// paramIdent is the name of a parameter; the star that stands alone, as in def f(x, *, y), has none.
func paramIdent(p syntax.Expr) *syntax.Ident {
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

func paramIndex(def *resolve.Function, name string) int {
	params, _ := named(def)
	for i, id := range params {
		if id.Name == name {
			return i
		}
	}
	return -1
}

func binding(id *syntax.Ident) *resolve.Binding { return id.Binding.(*resolve.Binding) }

// restParam is the parameter *rest, nil where there is none.
func restParam(def *resolve.Function) *syntax.Ident {
	for _, p := range def.Params {
		if un, ok := p.(*syntax.UnaryExpr); ok && un.Op == syntax.STAR {
			return paramIdent(p)
		}
	}
	return nil
}
