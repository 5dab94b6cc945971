package infer

import (
	"math"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// Labels in kernel halves: errno(), names(), strftime() and others that only readers see as text; inet(), mac(),
// matches().
//
// Labels stand for text that only user space can make: the kernel half keeps
// the raw value, whoever reads it sees the text.

// label is the kernel half of a builtin that gives text for a number.
func label(name, parameter string) func(*body, []arg, plan.Pos) val {
	return func(b *body, args []arg, pos plan.Pos) val {
		return b.labelled(named(args, 1, 1, name+"("+parameter+")", pos)[0], name, pos)
	}
}

// labelled is an int that readers see as text. The label of None is None, and that of FAULT is FAULT.
func (b *body) labelled(v val, label string, pos plan.Pos) val {
	e := b.rv(v, pos)
	switch {
	case e.Type.Kind == types.None:
		return v
	case e.Type.Kind == types.Ptr && label == "errno":
		e = errorOf(e, pos)
	case e.Type.Kind == types.Ptr:
		e = pointerNumber(e, pos)
		if strings.HasPrefix(label, "strftime:") {
			e = timeOf(e, pos)
		}
	case e.Type.Unsigned64() && label == "errno":
		e = wordError(e, pos)
	case e.Type.Unsigned64() && strings.HasPrefix(label, "strftime:"):
		e = timeOf(e, pos)
	case e.Type.Kind != types.Int:
		refuse(pos, "%s takes an int, got %s", labelName(types.Type{Label: label}), v.describe())
	}
	if label == "syscall_name" {
		e = nameNumber(e)
	}
	t := e.Type
	t.Label = label
	return exprVal(as(e, t, pos))
}

// timeOf is a time without a sign as one with it: of 2^63 ns or more, which no clock shows, the last that there is.
func timeOf(e *tree.Expr, pos plan.Pos) *tree.Expr {
	if e.Op == tree.OpBuiltin && e.Str == "time" {
		return e
	}
	return orAbsent(e, pos, func(e *tree.Expr) *tree.Expr {
		n := as(e, types.I64, pos)
		fits := operation(tree.OpGe, types.Boolean, n, intExpr(0, pos), pos)
		return conditional(fits, n, intExpr(math.MaxInt64, pos), pos)
	})
}

// pointerNumber is the address that a pointer is, None of a null pointer.
func pointerNumber(p *tree.Expr, pos plan.Pos) *tree.Expr {
	t := types.U64
	t.MayNone, t.MayFault = true, p.Type.MayFault
	return as(p, t, pos)
}

// callNames is names(v, family): the family may be left out where v is a field
// whose type is an enum.
func callNames(b *body, args []arg, pos plan.Pos) val {
	args = placed(args, "names(v, family)", pos)
	a := want(args, 1, 2, "names(v, family)", pos)
	family := b.enumOf(a[0])
	if len(a) == 2 {
		s, ok := a[1].constStr()
		if !ok {
			wrong(pos, "names takes the family as a constant string")
		}
		b.u.mustBeFamily(s, args[1].pos)
		family = s
	}
	if family == "" {
		if a[0].isAbsent() { // at a point without the field, whose type tells the family elsewhere
			return a[0]
		}
		wrong(pos, needsFamily)
	}
	return b.labelled(a[0], "names:"+family, pos)
}

const needsFamily = `names needs a family here: names(v, "O_"), names(v, "tcp_state")`

// isAbsent reports whether v is None, whatever the event.
func (v val) isAbsent() bool { return v.isNone() || v.expr != nil && v.expr.Type.Kind == types.None }

// enumOf is the enum that is the type of the field v, "" where it is none.
func (b *body) enumOf(v val) string {
	if v.expr == nil {
		return ""
	}
	return b.u.enums[v.expr]
}

// mustBeFamily refuses a family that names() does not have: readers would see
// numbers.
func (u *unit) mustBeFamily(family string, pos plan.Pos) {
	known, asked := u.families[family]
	if !asked {
		known = u.facts.NameFamily(family)
		u.families[family] = known
	}
	if known != nil {
		wrong(pos, "names: %v", known)
	}
}

// callInet is inet(a): an IPv4 address is 4 bytes in network order, an IPv6
// address a struct or array of 16 bytes.
func callInet(b *body, args []arg, pos plan.Pos) val {
	v := named(args, 1, 1, "inet(addr)", pos)[0]
	if m, ok := b.memory().memoryOf(v, pos); ok {
		if m.length != nil {
			refuse(pos, "inet takes 4 or 16 bytes: how many these are is not known before the event")
		}
		if m.n != 4 && m.n != 16 {
			wrong(pos, "inet takes 4 or 16 bytes, got %d", m.n)
		}
		return exprVal(m.bytes(map[int]string{4: "inet4", 16: "inet6"}[m.n], pos))
	}
	e := b.rv(v, pos)
	if e.Type.Kind == types.Ptr {
		e = pointerNumber(e, pos)
	}
	if e.Type.Kind != types.Int {
		return b.labelled(v, "inet4", pos)
	}
	notLabelled(e.Type, pos)
	t := types.U32
	t.MayNone, t.MayFault = e.Type.MayNone, e.Type.MayFault
	return b.labelled(exprVal(convert(e, t)), "inet4", pos)
}

func callMac(b *body, args []arg, pos plan.Pos) val {
	v := named(args, 1, 1, "mac(addr)", pos)[0]
	m, ok := b.memory().memoryOf(v, pos)
	if !ok || m.n < 6 || m.length != nil {
		refuse(pos, "mac takes an array of 6 bytes, got %s", v.describe())
	}
	m.n = 6
	return exprVal(m.bytes("mac", pos))
}

// memoryOf is v as a piece of memory of known size.
func (b memory) memoryOf(v val, pos plan.Pos) (*memObj, bool) {
	btf := b.u.btf(pos)
	switch o := v.obj.(type) {
	case *memObj:
		out := *o
		return &out, true
	case *structObj:
		n, err := btf.Size(o.id)
		return &memObj{memPlace: o.memPlace, n: n}, err == nil
	case *arrayObj:
		n, err := btf.Size(o.elem)
		return &memObj{memPlace: o.memPlace, n: n * o.len}, err == nil
	}
	return nil, false
}

// callStrftime is strftime(format, time): the event's time by default.
func callStrftime(b *body, args []arg, pos plan.Pos) val {
	a := named(args, 1, 2, "strftime(format, time)", pos)
	layout, ok := a[0].constStr()
	if !ok {
		refuse(pos, "strftime takes a constant format in a kernel half")
	}
	if err := format.CheckStrftime(layout); err != nil {
		wrong(pos, "%v", err)
	}
	t := exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: "time", Pos: pos})
	if len(a) == 2 {
		t = a[1]
	}
	return b.labelled(t, "strftime:"+layout, pos)
}

// callMatches is matches(s, "glob") with a constant glob.
func callMatches(b *body, args []arg, pos plan.Pos) val {
	for _, text := range args[:min(len(args), 1)] {
		untold{b.u}.likeText(text.v)
	}
	a := named(args, 2, 2, "matches(text, pattern)", pos)
	glob, ok := a[1].constStr()
	if !ok {
		refuse(pos, "matches takes a constant glob in a kernel half")
	}
	g, err := naming.Compile(glob)
	if err != nil {
		wrong(pos, "%v", err)
	}
	if s, ok := a[0].constStr(); ok {
		return boolVal(g.Match(s))
	}
	if c, ok := b.ops().testName(a[0], nameTest{g.Match, glob}, pos); ok {
		return condVal(c)
	}
	if a[0] = b.ops().nameAsText(asText(a[0], pos), pos); a[0].typ().Kind != types.Str {
		refuse(pos, "matches takes a string, got %s", a[0].describe())
	}
	s := b.present(a[0], "a string", pos)
	test := func(op tree.Op, text string) cond {
		return cond{expr: &tree.Expr{Op: op, Type: types.Boolean,
			Args: []*tree.Expr{s, constExpr(plan.String(text), pos)}, Pos: pos}}
	}
	words, ok := g.Expand()
	if !ok {
		fitsPattern(g, pos)
		return condVal(test(tree.OpMatches, glob))
	}
	any := known(false)
	for _, word := range words { // a glob without wildcards
		any, _ = connected(tree.OpLOr, any, test(tree.OpEq, word), pos)
	}
	return condVal(any)
}

// fitsPattern refuses a pattern that is too long for the word in which a kernel half keeps how far it has come.
func fitsPattern(g naming.Glob, pos plan.Pos) {
	for _, alt := range g.Alternatives() {
		n := 0
		for _, e := range alt {
			if !e.Star {
				n++
			}
		}
		if n > tree.MaxPattern {
			refuse(pos, "a pattern of %d characters; matches takes %d in a kernel half, not counting each *", n,
				tree.MaxPattern)
		}
	}
}

// joined is sep.join(list).
func (b memory) joined(sep string, v val, pos plan.Pos) val {
	at := b.body
	if v.start != nil {
		at, v.start = v.start, nil
	}
	list, ok := stringLists{at.memory()}.of(v, pos)
	if !ok {
		refuse(pos, "join takes a char ** in a kernel half, got %s", v.describe())
	}
	if len(sep) != 1 {
		refuse(pos, "join takes a separator of one byte in a kernel half")
	}
	e := *list
	e.Op, e.Type = tree.OpJoin, types.StrOf(maxStringList).OrFault()
	e.Args = append(append([]*tree.Expr{}, e.Args...), constExpr(plan.String(sep), pos))
	out := exprVal(&e)
	if at != b.body {
		out.start = at
	}
	return out
}
