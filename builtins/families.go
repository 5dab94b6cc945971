package builtins

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// The families of builtins in the order of the reference; Lookup of a name.

// families is the order of the reference.
var families = [][]Entry{
	probeFamily, pointFamily, containerFamily, outputFamily, timeFamily,
	flagFamily, expressionFamily, machineFamily, valueFamily, labelFamily, kernelFamily, outsideFamily, moduleFamily,
}

// Entries gives all builtins in the order of the reference.
func Entries() []Entry {
	var out []Entry
	for _, f := range families {
		out = append(out, f...)
	}
	return out
}

// Lookup finds a builtin by name.
func Lookup(name string) (Entry, bool) {
	for _, f := range families {
		for _, en := range f {
			if en.Name == name {
				return en, true
			}
		}
	}
	return Entry{}, false
}

// Predeclared gives the builtins as values for scripts.
func (e *Env) Predeclared() starlark.StringDict {
	out := make(starlark.StringDict)
	for _, f := range families {
		for _, en := range f {
			out[en.Name] = en.bind(e)
		}
	}
	return out
}

// New makes the environment of a script. All else that Env has is the caller's to set.
func New(rt Runtime) *Env {
	e := &Env{
		Runtime: rt,
		CallAt:  func(pos plan.Pos) (string, plan.Pos) { return "", pos },
		Asks:    func(string, string) bool { return false },
		Loading: func() bool { return false },
		Flags:   &Flags{},
		Traced:  &value.Traced{},
		Full:    &value.Full{},
		formats: make(map[string]*format.Format),
		printed: make(map[place]*format.Format),
	}
	e.Labels = e.labels()
	return e
}
