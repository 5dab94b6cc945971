package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// e.func and e.probe of programs that serve several points, by the cookie with which they are attached.
//
// A program that serves several points knows at which of them it runs by the
// cookie that it was attached with: the numbers of the names of its function and
// of the point (see nameTable). Readers see the name. Where the kernel has no cookies (before 5.15) each
// point whose name is asked for has a program of its own, with its number as a constant: a script means the same there.
//
// The name of a point that is no pattern is a constant, as if the author had written it, unless it has characters that
// he would not write: it is from a file that anybody can have made. Then it is the text of a number, too, which is
// escaped where it is printed.

// numberPoints gives the points of the probe their numbers, and decides whether
// they are known by them, and whether the kernel tells a program the number of its point.
func (pr *probe) numberPoints() {
	pr.points = map[tree.Point]int{}
	list, known := pr.u.earlierPoints(pr.p.ID)
	list = slices.Clone(list)
	for i, p := range list {
		pr.points[p] = i
	}
	numbered := len(list) > 0
	add := func(p tree.Point) {
		if _, known := pr.points[p]; !known {
			pr.points[p] = len(list)
			list = append(list, p)
		}
	}
	for _, t := range pr.targets {
		pr.names = pr.names || t.Pattern()
		for _, p := range t.Points() {
			add(p)
			pr.names = pr.names || !printable(p.Func) || !printable(p.Name)
		}
	}
	for _, p := range list { // those of functions one after the other, for tests of them: see oneOfNumbers
		if p.Func != "" {
			pr.u.nameTable.number(p.Func)
		}
	}
	if known { // as in the units that were before
		pr.names = numbered
	}
	pr.cookies = pr.names && pr.u.facts.Features().Cookies
	if pr.names {
		if pr.u.res.Tree.Points == nil {
			pr.u.res.Tree.Points = map[int][]tree.Point{}
		}
		pr.u.res.Tree.Points[pr.p.ID] = list
	}
}

// printable reports whether a name shows as it is.
func printable(name string) bool {
	return utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// pointCookie is the cookie of a function's point: both of its names.
func (pr *probe) pointCookie(f *points.Function) int64 {
	number := func(s string) int64 { return mustFitCookie(pr.u.nameTable.number(s), pr.p.Pos) }
	return number(f.Name)<<32 | number(f.Text)&math.MaxUint32
}

// pointLabel is e.func or e.probe at a function: text, or the cookie with the
// label that readers see as text.
func (pr *probe) pointLabel(f *funcView, label, text string, pos plan.Pos) val {
	if !pr.cookies {
		f.ask(question{about: aboutName})
	}
	switch {
	case !pr.names:
		return strVal(text)
	case !f.shared || !pr.cookies:
		return exprVal(pr.labelled(pr.u.nameConst(text, pos), label))
	}
	e := pr.cookie(f, pos)
	e.Type = types.I64
	if label == "point" {
		e = halfShifted(tree.OpShl, e, pos)
	}
	return exprVal(pr.labelled(halfShifted(tree.OpShr, e, pos), label))
}

// cookie is the number of the point that was hit. A trampoline has one.
func (pr *probe) cookie(f *funcView, pos plan.Pos) *tree.Expr {
	if pr.cookies && f.shared {
		return &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: "cookie", Pos: pos}
	}
	e := intExpr(pr.pointCookie(f.Function), pos)
	e.Type = types.U64
	return e
}

// halfShifted is e shifted by half a cookie.
func halfShifted(op tree.Op, e *tree.Expr, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: op, Type: types.I64, Args: []*tree.Expr{e, intExpr(32, pos)}, Pos: pos}
}

// labelOf is the label of e.func ("func") or e.probe ("point") at points of the probe.
func (pr *probe) labelOf(kind string) string { return fmt.Sprintf("%s:%d", kind, pr.p.ID) }

func (pr *probe) labelled(e *tree.Expr, label string) *tree.Expr {
	e.Type.Label = pr.labelOf(label)
	return e
}

// plainName is e.probe at a point that is not one of functions.
func (pr *probe) plainName(text string, pos plan.Pos) val {
	if !pr.names {
		return strVal(text)
	}
	return exprVal(pr.labelled(pr.u.nameConst(text, pos), "point"))
}
