package infer

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
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

// hasPart reports whether events of a target have e.name, by the kind of its points.
func hasPart(t *points.Target, name string) bool {
	word, _, _ := strings.Cut(t.Text, ":")
	k, known := point.Named(word)
	switch {
	case len(t.Arms) > 0: // an event has what its functions give it
		return false
	case name == "duration":
		return t.IsSpan()
	case !known:
		return false
	case name == "depth":
		return k.Calls()
	case name == "args" && onlyPlaces(t):
		return false
	}
	return k.Has(name)
}

// onlyPlaces reports whether a target are places behind the beginnings of functions, where arguments need not be where
// they were.
func onlyPlaces(t *points.Target) bool {
	fs, is := t.Source.(*points.Functions)
	return is && len(fs.Funcs) > 0 &&
		!slices.ContainsFunc(fs.Funcs, func(f *points.Function) bool { return !f.Inside && !f.HasVariables() })
}

// elsewhere is e.name at a point that has none, if others of its probe have one: None, and e.args without arguments.
// At the start of a call the author is told instead where it is.
func (e *event) elsewhere(name string) (val, bool) {
	has := func(t *points.Target) bool { return hasPart(t, name) }
	switch {
	case e.atStart || !slices.ContainsFunc(e.b.pr.targets, has):
		return val{}, false
	case name == "args":
		bare := *e
		bare.args = noArgs{}
		return objVal(&argsObj{&bare}), true
	}
	return missingAt(e.point, "e."+name), true
}

// lacks reports whether the point has no e.name, where others of its probe have one.
func (e *event) lacks(name string) bool {
	_, own := e.over[name]
	there := map[string]bool{"args": e.args != nil, "ret": e.ret != nil, "duration": e.duration != nil,
		"depth": e.depth != nil || e.startEv != nil}
	has, known := there[name]
	_, elsewhere := e.elsewhere(name)
	return known && !has && !own && elsewhere
}

// noArgs are the arguments of a point that has none, where others of its probe have some.
type noArgs struct{}

func (noArgs) names() []string                         { return nil }
func (noArgs) get(*body, string, plan.Pos) (val, bool) { return val{}, false }
func (noArgs) at(*body, int, plan.Pos) (val, bool)     { return val{}, false }

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
