package infer

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A program that serves several points knows at which of them it runs by the
// cookie that it was attached with: the number of the point in its probe's
// list. Readers see the name. Where the kernel has no cookies (before 5.15) each
// point whose name is asked for has a program of its own.

// numberPoints gives the points of the probe their numbers, and decides whether
// they are known by them.
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
		for _, one := range t.parts() {
			pr.cookies = pr.cookies || len(one.funcs) > 1
			if len(one.funcs) == 0 {
				add(tree.Point{Name: one.text})
			}
			for _, f := range one.funcs {
				add(tree.Point{Name: f.text, Func: f.name})
			}
		}
	}
	if known { // as in the units that were before
		pr.cookies = numbered
	}
	if pr.cookies = pr.cookies && pr.u.facts.Features().Cookies; pr.cookies {
		if pr.u.res.Tree.Points == nil {
			pr.u.res.Tree.Points = map[int][]tree.Point{}
		}
		pr.u.res.Tree.Points[pr.p.ID] = list
	}
}

// parts are the targets with points of their own that t consists of.
func (t *target) parts() []*target {
	if t.kind == targetSpan {
		return append(append([]*target{}, t.starts...), t.ends...)
	}
	return []*target{t}
}

// pointNumber is the number of a point of the probe.
func (pr *probe) pointNumber(text, fn string) int { return pr.points[tree.Point{Name: text, Func: fn}] }

// pointLabel is e.func or e.probe at a function: text, or the cookie with the
// label that readers see as text.
func (pr *probe) pointLabel(f *funcView, label, text string, pos plan.Pos) val {
	if !pr.cookies {
		f.ask("func")
		return strVal(text)
	}
	return exprVal(pr.labelled(pr.cookie(f, pos), label))
}

// cookie is the number of the point that was hit. A trampoline has one.
func (pr *probe) cookie(f *funcView, pos plan.Pos) *tree.Expr {
	if pr.cookies && f.shared {
		return &tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: "cookie", Pos: pos}
	}
	e := constExpr(plan.MakeInt(int64(pr.pointNumber(f.text, f.name))), pos)
	e.Type = types.U64
	return e
}

func (pr *probe) labelled(e *tree.Expr, label string) *tree.Expr {
	e.Type.Label = fmt.Sprintf("%s:%d", label, pr.p.ID)
	return e
}

// plainName is e.probe at a point that is not one of functions.
func (pr *probe) plainName(text string, pos plan.Pos) val {
	if !pr.cookies {
		return strVal(text)
	}
	n := constExpr(plan.MakeInt(int64(pr.pointNumber(text, ""))), pos)
	n.Type = types.U64
	return exprVal(pr.labelled(n, "point"))
}

// namedPoints are the numbers of the points whose name or function is s.
func (pr *probe) namedPoints(label, s string) []int {
	var out []int
	for i, p := range pr.u.res.Tree.Points[pr.p.ID] {
		if label == "func" && p.Func == s || label == "point" && p.Name == s {
			out = append(out, i)
		}
	}
	return out
}

// equalPoint is whether e, the number of a point, is one of these.
func (b *body) equalPoint(e *tree.Expr, numbers []int, pos plan.Pos) cond {
	out := known(false)
	for _, n := range numbers {
		c := &tree.Expr{Op: tree.OpEq, Type: types.Boolean, Args: []*tree.Expr{e, constExpr(plan.MakeInt(int64(n)), pos)}, Pos: pos}
		out, _ = connected(tree.OpLOr, out, cond{expr: c}, pos)
	}
	return out
}
