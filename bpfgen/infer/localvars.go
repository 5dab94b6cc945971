package infer

import (
	"errors"
	"runtime"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/plan"
)

// e.vars and e.globals: variables of programs read at their places (registers, memory, expressions of DWARF), and
// messages that there is no such variable or no debug information. What is in none of them is FAULT.

// varsObj is e.vars.
type varsObj struct {
	ev *event
	f  *funcView
}

func (*varsObj) what() string { return "e.vars" }

// names are the names of the variables, the outer ones first.
func (o *varsObj) names() (out []string) {
	o.f.ask(question{about: aboutVariables})
	list, _ := o.f.Variables()
	for i := range list {
		out = append(out, list[i].Name)
	}
	return out
}

// variable is e.vars.name.
func (o *varsObj) variable(name string, pos plan.Pos) val {
	if v, ok := o.lookup(name, pos); ok {
		return v
	}
	if v, ok := o.lookup(kernel.TrimEscape(name), pos); ok {
		return v
	}
	names := o.names()
	switch {
	case o.ev.b.pr.someVariable(name) && isSplit(o.f.Function):
		return unknownKind(pos)
	case o.ev.b.pr.someVariable(name):
		return noneVal() // at another place of this probe it is in sight
	case len(names) == 0:
		mustNotBeSplit(o.f.Function, pos)
		wrong(pos, "%s has no variables: its program has no debug information for it (gcc -g), or the function has "+
			"none", o.ev.point)
	}
	wrong(pos, "no variable %s is in sight at %s%s; there are %s", name, o.ev.point, refusal.Near(name, names),
		strings.Join(names, ", "))
	return val{}
}

func (o *varsObj) lookup(name string, pos plan.Pos) (val, bool) {
	o.f.ask(question{about: aboutVariable, name: name})
	list, err := o.f.Variables()
	if err != nil {
		wrong(pos, "the variables at %s are not known: %v", o.ev.point, err)
	}
	for i := range list {
		if list[i].Name == name {
			return o.ev.mine(o.ev.b.inSight(o.f, pos).value(&list[i])), true
		}
	}
	return val{}, false
}

// someVariable reports whether a variable of that name is in sight at one of the places of the probe.
func (pr *probe) someVariable(name string) bool {
	for _, t := range pr.targets {
		for _, n := range t.VariableNames() {
			if n == name {
				return true
			}
		}
	}
	return false
}

// everything is e.vars as a record.
func (o *varsObj) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	for _, n := range o.names() {
		out.names = append(out.names, n)
		out.elems = append(out.elems, orUnshown(pos, func() val {
			return o.ev.mine(o.ev.b.sendable(o.variable(n, pos), pos))
		}))
	}
	return out
}

// inSight reads variables in one program.
type inSight struct {
	argWords
	f   *funcView
	pos plan.Pos
}

func (b *body) inSight(f *funcView, pos plan.Pos) inSight { return inSight{b.argWords(), f, pos} }

// typeOf is the type of a variable, without its names and const.
func (b inSight) typeOf(v *locals.Variable) kernel.TypeID {
	id, err := b.f.TypeAt(v.Type)
	if err != nil {
		wrong(b.pos, "the type of %s is not known: %v", v.Name, err)
	}
	return b.u.btf(b.pos).Skip(id)
}

// value is a variable by its type and its place.
func (b inSight) value(v *locals.Variable) val {
	id := b.typeOf(v)
	t, err := b.u.btf(b.pos).Type(id)
	if err != nil {
		wrong(b.pos, "%v", err)
	}
	if _, ok := kernel.CountedAt(b.u.btf(b.pos), id); ok && v.Place.Kind != location.Memory {
		return b.nowhere(id, t, b.pos)
	}
	switch p := v.Place; p.Kind {
	case location.Memory:
		if t.Kind == kernel.KindPtr && b.memory().isCharPtr(t.Elem, b.pos) { // as in a register
			word := load(b.at(p.Value), types.U64, b.pos)
			return b.typedWord(word, id, b.pos)
		}
		return b.memory().read(b.at(p.Value), id, v.Name, b.pos)
	case location.Held:
		if p.Address && t.Kind != kernel.KindPtr {
			return b.nowhere(id, t, b.pos)
		}
		return b.held(b.tree(p.Value), id, t)
	case location.Split:
		return b.pieced(p.Fragments, id, t)
	case location.Unreadable:
		if t.Kind == kernel.KindFloat {
			return exprVal(absentFloat(t, 0, b.pos))
		}
	}
	return b.nowhere(id, t, b.pos)
}

// held is a value in a register, or one that is computed.
func (b inSight) held(word *tree.Expr, id kernel.TypeID, t kernel.Type) val {
	word = as(word, types.U64, b.pos)
	switch t.Kind {
	case kernel.KindStruct, kernel.KindUnion, kernel.KindArray:
		s := &regStruct{id: id, in: b.body, split: true, words: []wordIn{{from: b.body, expr: word}}}
		return b.memory().inWords(s, b.pos)
	case kernel.KindPtr:
		if kernel.IsReference(b.u.btf(b.pos), t) {
			return b.memory().read(memPlace{word, 0, tree.User, b.body}, t.Elem, "the reference", b.pos)
		}
	}
	if t.Size > 8 {
		return b.nowhere(id, t, b.pos)
	}
	return b.typedWord(word, id, b.pos)
}

// pieced is a value of which the parts are in several places. Of a scalar they are put together.
func (b inSight) pieced(pieces []location.Fragment, id kernel.TypeID, t kernel.Type) val {
	s := &regStruct{id: id, in: b.body, split: true}
	for _, p := range pieces {
		s.words = append(s.words, b.words(p)...)
	}
	s.words = append(s.words, b.joined(s.words)...)
	switch t.Kind {
	case kernel.KindStruct, kernel.KindUnion, kernel.KindArray:
		return b.memory().inWords(s, b.pos)
	case kernel.KindInt:
		if t.Size == 16 {
			return b.wide(s, id, t)
		}
	}
	if word, ok := s.wordAt(b.body, 0, t.Size, b.pos); ok && word.Op != tree.OpUnreadable {
		return b.held(word, id, t)
	}
	return b.nowhere(id, t, b.pos)
}

// wide is an int of 128 bits of which both halves are known.
func (b inSight) wide(s *regStruct, id kernel.TypeID, t kernel.Type) val {
	low, ok := s.wordAt(b.body, 0, 8, b.pos)
	high, ok2 := s.wordAt(b.body, 8, 8, b.pos)
	if !ok || !ok2 || low.Op == tree.OpUnreadable || high.Op == tree.OpUnreadable {
		return b.nowhere(id, t, b.pos)
	}
	return inHalves(as(low, types.U64, b.pos), high, t.Signed, b.pos)
}

// joined are the words of 8 bytes that several smaller ones make up, none of which can be FAULT.
func (b inSight) joined(parts []wordIn) (out []wordIn) {
	for i := 0; i < len(parts); i++ {
		first := parts[i]
		if first.at%8 != 0 || first.Bytes >= 8 || first.expr.Type.MayFault {
			continue
		}
		end, sum := first.at, (*tree.Expr)(nil)
		for _, w := range parts[i:] {
			if w.at != end || end >= first.at+8 || w.at+w.Bytes > first.at+8 || w.expr.Type.MayFault {
				break
			}
			bits := as(w.expr, types.U64, b.pos)
			if w.Bytes < 8 {
				bits = bitsOf(bits, 0, 8*w.Bytes, false, b.pos)
			}
			bits = operation(tree.OpShl, types.U64, bits, intExpr(int64(8*(w.at-first.at)), b.pos), b.pos)
			if end += w.Bytes; sum == nil {
				sum = bits
			} else {
				sum = operation(tree.OpOr, types.U64, sum, bits, b.pos)
			}
		}
		if end > first.at+first.Bytes {
			w := wordIn{from: b.body, at: first.at, expr: sum}
			w.Bytes = end - first.at
			out = append(out, w)
		}
	}
	return out
}

// words are those of a piece. Memory is read 8 bytes at a time, the rest by smaller words.
func (b inSight) words(p location.Fragment) (out []wordIn) {
	switch {
	case p.Kind == location.Held && (!p.Address || p.Bytes == 8):
		w := wordIn{from: b.body, at: p.At, expr: b.tree(p.Value)}
		w.Bytes = min(p.Bytes, 8)
		return []wordIn{w}
	case p.Kind == location.Memory:
		for at := 0; at < p.Bytes; {
			n := 8
			for ; at+n > p.Bytes; n /= 2 {
			}
			place := b.at(location.Plus(p.Value, int64(at)))
			w := wordIn{from: b.body, at: p.At + at, expr: load(place, types.IntOf(uint8(8*n), false), b.pos)}
			w.Bytes = n
			out, at = append(out, w), at+n
		}
		return out
	}
	w := wordIn{from: b.body, at: p.At, expr: lost(b.pos)}
	w.Bytes = p.Bytes
	return []wordIn{w}
}

// at is the place in the program's memory that an address leads to.
func (b inSight) at(address *location.Expr) memPlace {
	if address.Op == location.Add && address.Args[1].Op == location.Const {
		return memPlace{b.tree(address.Args[0]), address.Args[1].N, tree.User, b.body}
	}
	return memPlace{b.tree(address), 0, tree.User, b.body}
}

// placeOps are the operations of trees for those of places.
var placeOps = map[location.Op]tree.Op{
	location.Add: tree.OpAdd, location.Sub: tree.OpSub, location.Mul: tree.OpMul, location.And: tree.OpAnd,
	location.Or: tree.OpOr, location.Xor: tree.OpXor, location.Shl: tree.OpShl, location.Shr: tree.OpShr,
	location.Sar: tree.OpShr, location.Eq: tree.OpEq, location.Ne: tree.OpNe, location.Lt: tree.OpLt,
	location.Le: tree.OpLe, location.Gt: tree.OpGt, location.Ge: tree.OpGe,
}

// tree is the tree of a place, of 64 bits.
func (b inSight) tree(e *location.Expr) *tree.Expr {
	switch e.Op {
	case location.Const:
		return intExpr(e.N, b.pos)
	case location.Register:
		return register(kernel.RegisterOffsets("").Names[e.Name], b.pos)
	case location.Static: // as far from the place as in the file
		ip := register(kernel.RegisterOffsets("").IP, b.pos)
		return operation(tree.OpAdd, types.U64, ip, intExpr(e.N-int64(b.f.Static()), b.pos), b.pos)
	case location.Thread:
		return b.thread()
	case location.Load:
		word := load(b.at(e.Args[0]), types.IntOf(uint8(8*e.Size), false), b.pos)
		return b.present(exprVal(word), "a part of the place of a variable", b.pos)
	case location.Extend:
		narrow := as(b.tree(e.Args[0]), types.IntOf(uint8(8*e.Size), e.Signed), b.pos)
		return as(narrow, types.IntOf(64, e.Signed), b.pos)
	case location.Neg:
		return operation(tree.OpSub, types.I64, intExpr(0, b.pos), b.signed(e.Args[0]), b.pos)
	case location.Not:
		return operation(tree.OpXor, types.I64, intExpr(-1, b.pos), b.signed(e.Args[0]), b.pos)
	}
	if e.Op == location.Select {
		return b.either(b.signed(e.Args[0]), b.signed(e.Args[1]), b.signed(e.Args[2]))
	}
	if e.Op == location.Div {
		return b.quotient(b.signed(e.Args[0]), b.tree(e.Args[1]))
	}
	op, t := placeOps[e.Op], types.I64
	x, y := b.signed(e.Args[0]), b.signed(e.Args[1])
	switch e.Op {
	case location.Eq, location.Ne, location.Lt, location.Le, location.Gt, location.Ge:
		return as(operation(op, types.Boolean, x, y, b.pos), types.U64, b.pos)
	case location.Shr:
		x, t = as(x, types.U64, b.pos), types.U64
	case location.Shl:
		t = types.U64
	}
	return operation(op, t, x, y, b.pos)
}

// quotient divides towards 0, where scripts divide towards the lesser number.
func (b inSight) quotient(x, y *tree.Expr) *tree.Expr {
	zero := intExpr(0, b.pos)
	minus := func(e *tree.Expr) *tree.Expr { return operation(tree.OpSub, types.I64, zero, e, b.pos) }
	by := func(e *tree.Expr) *tree.Expr { return operation(tree.OpFloorDiv, types.I64, e, y, b.pos) }
	below := operation(tree.OpLt, types.Boolean, x, zero, b.pos)
	ways := []*tree.Expr{below, minus(by(minus(x))), by(x)}
	return &tree.Expr{Op: tree.OpCond, Type: types.I64, Args: ways, Pos: b.pos}
}

// threadFields lead from a task to the address by which the thread finds its own variables.
var threadFields = map[string][]string{"amd64": {"thread", "fsbase"}, "arm64": {"thread", "uw", "tp_value"}}

// thread is that address.
func (b inSight) thread() *tree.Expr {
	word := tasks{b.body}.follow(b.task(b.pos), b.pos, threadFields[runtime.GOARCH]...)
	return as(b.present(exprVal(word), "the address of the thread", b.pos), types.U64, b.pos)
}

// either is yes where a condition is not 0.
func (b inSight) either(condition, yes, no *tree.Expr) *tree.Expr {
	is := operation(tree.OpNe, types.Boolean, condition, intExpr(0, b.pos), b.pos)
	return &tree.Expr{Op: tree.OpCond, Type: types.I64, Args: []*tree.Expr{is, yes, no}, Pos: b.pos}
}

// signed is the tree of a place as a number with a sign.
func (b inSight) signed(e *location.Expr) *tree.Expr { return as(b.tree(e), types.I64, b.pos) }

// globalsObj is e.globals. Where the program is loaded is told by where the function is, at its start.
type globalsObj struct {
	ev *event
	f  *funcView
	// start is the program at the start of a call; nil: this one is there.
	start *body
}

func (*globalsObj) what() string { return "e.globals" }

// variable is e.globals.name.
func (o *globalsObj) variable(name string, pos plan.Pos) val {
	o.f.ask(question{about: aboutGlobal, name: name})
	v, err := o.f.Global(name)
	if v == nil && err == nil {
		v, err = o.f.Global(kernel.TrimEscape(name))
	}
	several, lost := (*locals.AmbiguousError)(nil), (*locals.LostError)(nil)
	undescribed := (*locals.UndescribedError)(nil)
	switch {
	case errors.As(err, &lost):
		wrong(pos, "%s: which variable %s? %v", o.ev.point, name, lost)
	case errors.As(err, &undescribed):
		wrong(pos, "%s: which variable %s? %v", o.ev.point, name, undescribed)
	case errors.As(err, &several):
		wrong(pos, "%s: which variable %s? %v", o.ev.point, name, several)
	case err != nil:
		wrong(pos, "the variables of the program of %s are not known: %v", o.ev.point, err)
	case v == nil:
		wrong(pos, "the program of %s has no variable %s outside of functions, or no debug information that tells "+
			"of it", o.ev.point, name)
	case v.Type == 0:
		wrong(pos, "the debug information of the program of %s does not tell the type of %s: build it with -g, not -g1",
			o.ev.point, name)
	}
	from := o.ev.b
	if o.start != nil {
		from = o.start
	}
	b := o.ev.b.inSight(o.f, pos)
	if v.Place.Kind == location.Memory {
		return o.ev.mine(b.inMemory(v, b.carry(from, from.inSight(o.f, pos).tree(v.Place.Value))))
	}
	return o.ev.mine(b.value(v))
}

// inMemory is a variable at an address.
func (b inSight) inMemory(v *locals.Variable, address *tree.Expr) val {
	return b.memory().read(memPlace{address, 0, tree.User, b.body}, b.typeOf(v), v.Name, b.pos)
}

// globals is e.globals where the event has it: at places in user functions, and at their calls.
func (e *event) globals() (*globalsObj, bool) {
	if e.vars != nil && e.vars.HasGlobals() {
		return &globalsObj{ev: e, f: e.vars}, true
	}
	switch a := e.args.(type) {
	case *funcArgs:
		if a.f.HasGlobals() {
			return &globalsObj{ev: e, f: a.f, start: a.start}, true
		}
	case *copyArgs:
		if a.f.HasGlobals() {
			return &globalsObj{ev: e, f: a.f}, true
		}
	}
	return nil, false
}
