package infer

import "strings"

// The names of the arguments that the points of a probe have.

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

// several reports whether the arguments of the probe are those of more than one
// point.
func (pr *probe) several() bool {
	n := 0
	for _, t := range pr.targets {
		n += len(t.Names())
	}
	return n > 1
}
