package infer

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/types"
)

// inWords names a type as scripts know it: widths and room are the compiler's
// affair.
func inWords(t types.Type) string {
	if t.Label != "" {
		return labelInWords(t.Label)
	}
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
	case types.Stack:
		return "a stack"
	case types.Tuple:
		return "a tuple of " + listed(t.Elems)
	case types.Record:
		return "a record of " + strings.Join(t.Names, ", ")
	}
	return t.String()
}

// returnedInWords names what a function returns; of a tuple or record also its parts.
func returnedInWords(v val) string {
	if v.comp {
		return inWords(v.typ())
	}
	return v.describe()
}

// labelInWords names what readers see of a value with a label.
func labelInWords(label string) string {
	name, of, _ := strings.Cut(label, ":")
	switch name = strings.TrimRight(name, "46"); name {
	case "strlist":
		return "a list of strings"
	case "name":
		return "the name of a function or point"
	case "func":
		return "e.func"
	case "point", "syscall_point":
		return "e.probe"
	case "names", "strftime":
		return fmt.Sprintf("what %s(…) gives by %q", name, of)
	}
	return "what " + name + "(…) gives"
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

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
