package listing

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/internal/kernel"
)

// Arguments and fields of points as listed, with their types in scripts and in C.

// reserved are the words that Starlark takes for itself, so that no name
// behind a dot can be one: scripts write `from_`
// (go.starlark.net/syntax, scan.go).
var reserved = []string{
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
	"finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "load", "nonlocal", "not", "or", "pass",
	"raise", "return", "try", "while", "with", "yield",
}

// escaped is a name as a script writes it behind a dot.
func escaped(name string) string {
	if slices.Contains(reserved, name) {
		return name + "_"
	}
	return name
}

// argName is the argument of a name, or of a position.
func argName(name string, i int) string {
	if name == "" {
		return fmt.Sprintf("e.args[%d]", i)
	}
	return "e.args." + escaped(name)
}

// params are arguments with types of BTF.
func (s *Source) params(list []kernel.Param) []Field {
	const more = 3 // the result, the duration and the depth come behind them
	out := make([]Field, 0, len(list)+more)
	for i, p := range list {
		if p.Type == 0 && p.Name == "" { // the … of printf
			break
		}
		out = append(out, s.typed(argName(p.Name, i), p.Type))
	}
	return out
}

// typed is a value that came in one word, with its C type.
func (s *Source) typed(name string, id kernel.TypeID) Field {
	if known, ok := s.known.Load(id); ok {
		f := known.(Field)
		f.Name = name
		return f
	}
	b, err := s.Facts.BTF()
	if err != nil {
		return Field{Name: name, Type: "int"}
	}
	size, _ := b.Size(id) // 0 where there is none
	f := Field{C: b.TypeName(id), Size: size, Type: scriptType(b, id)}
	s.known.Store(id, f)
	f.Name = name
	return f
}

// scriptType is what a script gets for a value of a type in C.
func scriptType(b *kernel.BTF, id kernel.TypeID) string {
	t, err := b.Type(b.Skip(id))
	if err != nil {
		return "int"
	}
	switch t.Kind {
	case kernel.KindInt, kernel.KindEnum:
		if t.Bool {
			return "bool"
		}
		return "int"
	case kernel.KindPtr:
		if to, err := b.Type(b.Skip(t.Elem)); err == nil && to.PlainChar() {
			return "string"
		}
		return "pointer"
	case kernel.KindArray:
		if to, err := b.Type(b.Skip(t.Elem)); err == nil && to.PlainChar() {
			return "string"
		}
		return "array"
	case kernel.KindStruct:
		if _, ok := kernel.TextOf(b, t.ID); ok {
			return "string"
		}
		return "struct"
	case kernel.KindUnion:
		return "union"
	case kernel.KindFloat:
		return "float"
	}
	return "int"
}
