package infer

import (
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/types"
)

// addressAtStart gives the program at the start of a span where a sum or a difference is of what is known there: it may
// be an address, and what lies at an address that is rooted in e.start is read at the start. A sum that can fail is
// made where the script has it: it must not end the program at the start.
func (b operators) addressAtStart(op syntax.Token, x, y val) *body {
	if op != syntax.PLUS && op != syntax.MINUS {
		return nil
	}
	at := x.start
	if at == nil {
		at = y.start
	}
	if at == nil || at == b.body {
		return nil
	}
	for _, v := range []val{x, y} {
		if _, constant := v.constInt(); !constant && (v.start != at || !v.isPlainWord()) {
			return nil
		}
	}
	return at
}

// isPlainWord says that a value is a number or an address, and nothing else.
func (v val) isPlainWord() bool {
	if v.expr == nil || v.comp {
		return false
	}
	t := v.expr.Type
	return (t.Kind == types.Int || t.Kind == types.Ptr) && !t.MayNone && !t.MayFault && t.Label == ""
}
