package infer

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
)

// The verbs of printf for unsigned numbers (%x of -100) show the bits of a negative int, as many as its field has. User
// space does not know how many these are, so the kernel half sends the field once more, without its sign, for the place
// where it is printed.

// ownWidth sends what printf and sprintf with a constant format show as unsigned numbers.
func (u *user) ownWidth(fn plan.Builtin, x *syntax.CallExpr, vals []uval) {
	if fn != "printf" && fn != "sprintf" || len(vals) == 0 || starred(x.Args) {
		return
	}
	text, ok := vals[0].v.constStr()
	if !ok || !vals[0].known {
		return
	}
	f, err := format.Parse(text)
	if err != nil || f.Wanted() != len(vals)-1 {
		return // checkFormat says it
	}
	for i, verb := range f.Verbs() {
		if slices.Contains([]byte("xXobu"), verb) {
			u.sendUnsigned(x.Args[i+1], vals[i+1])
		}
	}
}

// sendUnsigned sends v, which stands at x, without its sign. Where another point of the probe has no part of the event
// there, the value of the interpreter stays.
func (u *user) sendUnsigned(x syntax.Expr, v uval) {
	at := copySite{u.half, unparen(x)}
	if _, literal := at.site.(*syntax.Literal); literal || argValue(x) != x {
		return
	}
	if !v.known || !v.part || v.v.comp || v.v.expr == nil || !isField(v.v.expr) {
		u.proj.mixed[at] = true
		return
	}
	sent, t := v.v, v.v.typ()
	narrow := t.Signed && t.Bits < 64
	if narrow {
		t.Signed = false
		sent.expr = &tree.Expr{Op: tree.OpConvert, Type: t, Args: []*tree.Expr{sent.expr}, Pos: start(x)}
	}
	if !narrow && !u.pr.several() {
		return
	}
	if own := v.caps; own != nil && own.x == nil && own.one.half == u.half && own.one.site == at.site {
		u.proj.replace(u, own.one, sent)
		return
	}
	u.proj.unsigned[at] = true
	u.proj.capture(u, capture{u.half, at.site, sent, u.nested})
}

// isField reports whether e is an int as it was read: what is computed of one has no width of its own.
func isField(e *tree.Expr) bool {
	if e.Type.Kind != types.Int || e.Type.Label != "" {
		return false
	}
	switch e.Op {
	case tree.OpLoad, tree.OpBuiltin, tree.OpSpanSlot, tree.OpElem:
		return true
	case tree.OpConvert, tree.OpAssume:
		return isField(e.Args[0])
	case tree.OpCond:
		return isField(e.Args[1])
	}
	return false
}

// replace sends v in the place of what has been captured at a site.
func (p *projection) replace(u *user, c capture, v val) {
	slot := p.sites[copySite{c.half, c.site}]
	p.sends[len(p.sends)-1].values[slot] = u.b.settled(v, start(c.site))
}

// finishUnsigned takes back the sites that only some points have.
func (p *projection) finishUnsigned() {
	for at := range p.unsigned {
		if !p.mixed[at] {
			continue
		}
		slot := p.sites[at]
		delete(at.half.Slots, at.site)
		for _, s := range p.sends {
			delete(s.values, slot)
		}
	}
}
