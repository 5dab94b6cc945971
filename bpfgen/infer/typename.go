package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The interpreter's name for the type of a value of a kernel half, for type().

// userType is the interpreter's name for the type that v has in user space, "" where it is not known. What may be None
// or FAULT has the name of what it is otherwise: with these even less can be done. Of what is None nothing is said: a
// function that gets it mostly tests for it.
func userType(v val) string {
	switch {
	case v.c != nil:
		return fold.TypeName(v.c)
	case v.obj != nil:
		switch v.obj.(type) {
		case *event:
			return "event"
		case *memObj:
			return "bytes"
		}
		return ""
	}
	t := v.typ()
	switch {
	case t.Label == "strlist", strings.HasPrefix(t.Label, wire.LabelInts):
		return "tuple"
	case t.Label == "errno":
		return "" // a name, or the number of what is no error
	case t.Kind == types.Stack && t.Label != "":
		return "" // what user space sees of it may be None
	case t.Label != "":
		return "string"
	}
	return map[types.Kind]string{
		types.Int: "int", types.Float: "float", types.Bool: "bool", types.Str: "string", types.Bytes: "bytes",
		types.Tuple: "tuple", types.Record: "record", types.Stack: "stack",
	}[t.Kind]
}
