package kernel

import (
	"cmp"
	"slices"

	"github.com/startrace/startrace/internal/naming"
)

// What hooks and iterators have in common: points that BTF describes.

// A TypedPoint is a point that BTF describes by a function: a security hook or an iterator.
type TypedPoint struct {
	// Name is as scripts write it, without the prefix of Func.
	Name string
	Func TypeID // the function by which programs are attached to it
	// Params are the arguments of its events.
	Params []Param
}

// Function is the one to which programs are attached, under the point's name.
func (p TypedPoint) Function() *Function {
	return &Function{Name: p.Name, ID: p.Func, BTF: uint32(p.Func), Params: p.Params}
}

// NoPointError says that this kernel does not have a point of a name.
type NoPointError struct {
	Kind string // in words: "raw tracepoint"
	// Name is what was asked for.
	Name string
	Near string // a similar one, or ""
}

func (e *NoPointError) Error() string {
	return "this kernel has no " + e.Kind + " " + e.Name + orNear(e.Near)
}

// orNear is the end of a message about a name that there is not.
func orNear(near string) string {
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}

// matchTyped gives those of the points of a kind whose names match, sorted; an error where a name is none.
func (f *Facts) matchTyped(kind, glob string, of func(*BTF) []TypedPoint) ([]TypedPoint, error) {
	g, err := naming.Compile(glob)
	if err != nil {
		return nil, err
	}
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	all := of(b)
	slices.SortFunc(all, func(a, b TypedPoint) int { return cmp.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b TypedPoint) bool { return a.Name == b.Name })
	var out []TypedPoint
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
		if g.Match(p.Name) {
			out = append(out, p)
		}
	}
	if len(out) > 0 || naming.IsPattern(glob) {
		return out, nil
	}
	return nil, &NoPointError{kind, glob, naming.Suggest(glob, names)}
}
