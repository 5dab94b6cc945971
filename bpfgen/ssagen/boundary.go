package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
)

// What passes between a function that becomes a subprogram and its caller, and the reasons why one cannot be a
// subprogram, as `startrace explain` gives them.

// refusal says why the calls of f cannot be a subprogram.
func (c *callees) refusal(f *callee) string {
	b := c.boundaryOf(f)
	f.boundary = b
	b.findConsts(f.body, f.sites)
	switch {
	case b.refused != "":
		return b.refused
	case len(b.in)+len(b.consts)+len(b.reads)+len(b.epochs) > maxLiveIns:
		return "it uses too many values of its caller"
	case !isPlain(f.sites[0].value):
		return givesText
	}
	for _, s := range f.sites {
		switch {
		case s.inLoop && b.loops:
			return "it has a loop and is called in one"
		case s.depth > maxCallDepth:
			return "calls are nested too deep"
		}
	}
	return ""
}

const givesText = "it gives a string"

// boundaryOf looks at the body of f.
func (c *callees) boundaryOf(f *callee) *boundary {
	b := &boundary{}
	first := f.body
	b.block(first.body, 0)
	inside := localsOf(first.body)
	for i, l := range first.locals {
		switch assigned := inside.assigned[l]; {
		case assigned == 0:
			b.in = append(b.in, i)
		case assigned != c.locals.assigned[l]:
			b.refuse("it shares a variable with its caller")
		case c.usedOutside(f, i, inside.used[l]):
			b.out = append(b.out, i)
			if !isPlain(c.prog.Locals[l].Type) {
				b.refuse(givesText)
			}
		}
	}
	return b
}

// findConsts finds the constants that differ between the bodies: also between
// those that are not built, for what calls one that is may bring them.
func (b *boundary) findConsts(body *callSite, sites []*callSite) {
	place := map[*tree.Expr]int{}
	for i, e := range body.consts {
		if j, ok := place[e]; ok && slices.ContainsFunc(sites, func(s *callSite) bool {
			return s.consts[i].Int != s.consts[j].Int
		}) {
			b.refuse("its constants are not the same each time")
		}
		place[e] = i
		if slices.ContainsFunc(sites, func(s *callSite) bool { return s.consts[i].Int != e.Int }) {
			b.consts = append(b.consts, i)
		}
	}
}

// usedOutside reports whether a caller uses local i of f's bodies, each of which
// uses it as often as inside says.
func (c *callees) usedOutside(f *callee, i, inside int) bool {
	return slices.ContainsFunc(f.sites, func(s *callSite) bool { return c.locals.used[s.locals[i]] > inside })
}

func (b *boundary) refuse(why string) {
	if b.refused == "" {
		b.refused = why
	}
}

func (b *boundary) block(blk *tree.Block, loops int) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		for _, e := range s.Exprs {
			b.expr(e, loops)
		}
		b.stmt(s, loops)
	}
}

func (b *boundary) stmt(s *tree.Stmt, loops int) {
	switch s.Op {
	case tree.SSend:
		b.refuse("it sends an event")
	case tree.SSpanEnter, tree.SSpanStart, tree.SSpanEnd:
		b.refuse("it begins or ends a span")
	case tree.SBreak, tree.SContinue:
		if loops == 0 {
			b.refuse("it leaves a loop of its caller")
		}
	case tree.SAggAdd:
		if !slices.Contains(b.epochs, s.Int) {
			b.epochs = append(b.epochs, s.Int)
		}
	case tree.SFor:
		b.loops = true
		b.block(s.Then, loops+1)
		return
	}
	b.block(s.Then, loops)
	b.block(s.Else, loops)
}

func (b *boundary) expr(e *tree.Expr, loops int) {
	for _, a := range e.Args {
		b.expr(a, loops)
	}
	b.block(e.Body, loops)
	switch e.Op {
	case tree.OpStack:
		b.refuse("it takes a stack, which would show the subprogram")
	case tree.OpSpanSlot:
		b.read(slotKey(e.Int), e)
	case tree.OpBuiltin:
		if e.Str != "comm" {
			b.read(e.Str, e)
		}
	}
}

func (b *boundary) read(key any, e *tree.Expr) {
	if !slices.ContainsFunc(b.reads, func(r readIn) bool { return r.key == key }) {
		b.reads = append(b.reads, readIn{key, e})
	}
}
