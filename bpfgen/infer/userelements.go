package infer

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
)

// Elements of arrays of structs or pointers as parts of the event that user halves go through.
//
// The elements of an array of structs, or of pointers to structs, are parts of the event. User space has their
// addresses, so what a loop or an unpacking takes of them is read in the kernel, as that of p.sa[0] is.

// partsOf are the elements of an array of the event that stands at x, or of a tuple of a kernel half, if they lead to
// other parts that only the kernel half can read; else nil.
func (u *userWalk) partsOf(x syntax.Expr, v uval) []uval {
	if !v.known || !v.part {
		return nil
	}
	tuple := v.v.comp && !v.v.isRecord()
	if n := v.v.arrayLen(); (n == 0 || n > maxUnroll) && !tuple {
		return nil
	}
	list, ok := u.b.elements(v.v, start(x))
	if !ok || !tuple && !innermostLeads(list[0]) || tuple && !slices.ContainsFunc(list, needsKernel) {
		return nil
	}
	out := make([]uval, len(list))
	for i, e := range list {
		c := capture{u.half, u.proj.element(copySite{u.half, x}, i), e, u.nested, true}
		out[i] = uval{v: e, known: true, part: true, caps: oneCapture(c), fails: v.fails}
	}
	return out
}

// innermostLeads reports whether an element of an array, or of what that is an array of, has parts.
func innermostLeads(v val) bool {
	for {
		a, ok := v.obj.(*arrayObj)
		if !ok || a.len == 0 {
			return !ok && !isText(v)
		}
		v = a.from.memory().arrayValue(a, plan.Pos{}).elems[0]
	}
}

// element stands for an element of what is at a place of the script: nothing is written for it there.
func (p *projection) element(at copySite, i int) syntax.Expr {
	if p.elements == nil {
		p.elements = map[copySite][]syntax.Expr{}
	}
	for len(p.elements[at]) <= i {
		name := fmt.Sprintf("%s[%d]", siteName(at.site), len(p.elements[at]))
		p.elements[at] = append(p.elements[at], &syntax.Ident{NamePos: syntax.Start(at.site), Name: name})
	}
	return p.elements[at][i]
}

// elementsIn are the elements of what stands at x: of a tuple, of a list that has no name, or of an array of parts of
// the event. They are nil where they are not known.
func (u *userWalk) elementsIn(x syntax.Expr, v uval) []uval {
	if t, ok := v.v.c.(plan.Tuple); ok && v.known && !v.part && fold.Unchanging(t) {
		return append([]uval{}, constantElem(t).elems...)
	}
	if v.elems != nil {
		return v.elems
	}
	return u.partsOf(x, v)
}

// chosenElements are the elements of what a builtin gives that only chooses of what it is given; nil where they are
// not known, or are no parts of the event: those are values of user space.
func (u arguments) chosenElements(f *builtin, x *syntax.CallExpr, vals []uval) []uval {
	if !slices.Contains(choosing, string(f.name)) && f.name != "zip" || len(vals) == 0 || len(namedOrStarred(x)) > 0 {
		return nil
	}
	lists := make([][]uval, len(vals))
	for i, v := range vals {
		lists[i] = u.elementsIn(x.Args[i], v)
	}
	if !slices.ContainsFunc(lists, anyLeads) {
		return nil
	}
	list := slices.Clone(lists[0])
	switch f.name {
	case "zip":
		return zipped(lists)
	case "reversed":
		slices.Reverse(list)
	case "sorted":
		for i := range list {
			list[i] = undecided(lists[0]...)
		}
	case "enumerate":
		if len(vals) > 1 {
			return nil
		}
		numbers := make([]uval, len(list))
		for i := range numbers {
			numbers[i] = knownVal(intVal(int64(i)))
		}
		return zipped([][]uval{numbers, list})
	}
	return list
}

// oneElement is what max and min give, of values that lead to other parts of the event. Those cannot be ordered by what
// a function takes of them.
func (u arguments) oneElement(f *builtin, x *syntax.CallExpr, vals []uval) (uval, bool) {
	if !slices.Contains([]string{"max", "min", "sorted"}, string(f.name)) || len(vals) == 0 {
		return uval{}, false
	}
	var list []uval
	for i, a := range x.Args {
		if argValue(a) == a {
			list = append(list, vals[i])
		}
	}
	if len(list) == 1 {
		list = u.elementsIn(x.Args[0], list[0])
	}
	if !anyLeads(list) {
		return uval{}, false
	}
	if slices.Contains(namesGiven(x), "key") {
		wrong(x.Lparen, "the key of %s gets parts of the event, and user space decides which: the kernel cannot read "+
			"what it takes of them; make a list of tuples first, as %[1]s([(x.a, x.b) for x in p.list])", f.name)
	}
	return undecided(list...), f.name != "sorted"
}

// zipped are the tuples that zip makes of lists, at most: those of which the elements are not known can be shorter.
func zipped(lists [][]uval) []uval {
	n := maxUnroll
	for _, l := range lists {
		if l != nil {
			n = min(n, len(l))
		}
	}
	out := make([]uval, n)
	for i := range out {
		row := make([]uval, len(lists))
		for j, l := range lists {
			if l != nil {
				row[j] = l[i]
			}
		}
		out[i] = tupleOf(row)
	}
	return out
}

// namedOrStarred are the arguments of a call that are not given one by one by position.
func namedOrStarred(x *syntax.CallExpr) (out []syntax.Expr) {
	for _, a := range x.Args {
		if argValue(a) != a {
			out = append(out, a)
		}
	}
	return out
}
