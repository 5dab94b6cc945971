package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/types"
)

// inWords names a type as scripts know it: widths and room are the compiler's
// affair.
func inWords(t types.Type) string {
	switch t.Kind {
	case types.Int:
		return "an int"
	case types.Bool:
		return "a bool"
	case types.Str:
		return "a string"
	case types.Bytes:
		return "bytes"
	case types.Ptr:
		return "a pointer"
	case types.None:
		return "None"
	case types.Tuple:
		return "a tuple of " + listed(t.Elems)
	case types.Record:
		return "a record of " + strings.Join(t.Names, ", ")
	}
	return t.String()
}

func listed(elems []types.Type) string {
	if len(elems) == 0 {
		return "nothing"
	}
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = inWords(e)
	}
	return strings.Join(out, ", ")
}
