package builtins

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// Values of scripts as the plan has them: numbers, texts, tuples, records.

// PlainValue gives the plan's view of a value that holds nothing but numbers,
// text, tuples and records; false for others.
func PlainValue(v starlark.Value) (plan.Value, bool) {
	switch v := v.(type) {
	case starlark.NoneType:
		return plan.None{}, true
	case starlark.Bool:
		return plan.Bool(v), true
	case starlark.Int:
		return plan.Int{Big: v.BigInt()}, true
	case starlark.Float:
		return plan.Float(v), true
	case starlark.String:
		return plan.String(v), true
	case value.Bytes:
		return plan.Bytes(v), true
	case starlark.Bytes:
		return plan.Bytes(v), true
	case starlark.Tuple:
		out := make(plan.Tuple, len(v))
		ok := plainAll(v, out)
		return out, ok
	case *value.Record:
		names, vals := v.Fields()
		out := make(plan.Record, len(names))
		for i, n := range names {
			p, ok := PlainValue(vals[i])
			if !ok {
				return nil, false
			}
			out[i] = plan.RecordField{Name: n, Value: p}
		}
		return out, true
	}
	return nil, false
}

// plainAll puts values into a plan, and reports whether all of them are such that a kernel half can hold.
func plainAll(from []starlark.Value, to []plan.Value) bool {
	for i, v := range from {
		p, ok := PlainValue(v)
		if !ok {
			return false
		}
		to[i] = p
	}
	return true
}
