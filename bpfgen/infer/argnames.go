package infer

import (
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
)

// The names of arguments where a probe has several points: which only some of them have, and how messages call the
// points.

// someArgs reports whether another point of the probe has an argument of
// that name: then it is None where it is missing.
func (pr *probe) someArgs(name string) bool {
	if pr.argNames == nil {
		pr.argNames = map[string]bool{}
		for _, t := range pr.targets {
			for _, n := range t.ArgNames(pr.u.facts) {
				pr.argNames[n] = true
			}
		}
	}
	return pr.argNames[name] || pr.argNames[strings.TrimSuffix(name, "_")]
}

// userFunctions are the functions of programs among the points of the probe.
func (pr *probe) userFunctions() (out []*points.Function) {
	for _, t := range pr.targets {
		if fs, is := t.Source.(*points.Functions); is {
			out = append(out, fs.Funcs...)
		}
	}
	return out
}

// several reports whether the arguments of the probe are those of more than one
// point.
func (pr *probe) several() bool {
	n := 0
	for _, t := range pr.targets {
		n += len(t.Names())
	}
	return n > 1
}
