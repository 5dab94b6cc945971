package ssagen

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// A value as SSA components (val), with tags of None and FAULT, and its conversions.

// A val is a value of the tree as components: SSA values of 64 bits, of which each can be a block parameter. It lives
// while code is made, and does not change after it is made. Of
//
//	(e.pid, e.comm)
//
// elems has two vals. The first has x, the number. The second has s, the string, which has the memory of 16 bytes and
// no length until one is asked for. What may be None or FAULT has that as a component of its own: a tag, or the flags
// of a string. So a test for None is a comparison of one number.
type val struct {
	// t is the type. It says which of the other fields there are.
	t types.Type
	// tag is wire.TagPresent, TagNone and so on at run time. It is nil where the value is sure
	// to be there, and for strings, which have flags.
	tag *ir.Value
	// x is the number of an int, bool, pointer, piece of memory or stack id; nil for all other types.
	x *ir.Value
	// s is a string; nil for all other types.
	s *str
	// elems are those of a tuple or record; nil for all other types.
	elems []val
}

// A str is a string: its bytes in memory, or a constant.
//
// The length is either a number, n, or it is not known and n is nil. Then the memory is padded: behind the string it
// has NULs up to room. A comm is such a string of 16 bytes. strLen finds the length where it is needed.
type str struct {
	// konst is the constant. It is nil where the bytes are in memory.
	konst *string
	// mem is where the bytes are, if that is memory at a constant place of this function. It is nil for constants, and
	// where addr has the place.
	mem *region
	// addr is the address of the bytes, where konst and mem are nil: of a string that came over a join, or that is in
	// the midst of other memory.
	addr *ir.Value
	// room is how many bytes the memory counts as, a multiple of 8.
	room int
	// n is the length in bytes without the NUL. It is nil where the memory is padded, and for constants.
	n *ir.Value
	// flags are wire.RefCut, RefNone and RefFault at run time. They are nil where they are known to be 0.
	flags *ir.Value
}

// isText reports whether values of kind k are strings.
func isText(k types.Kind) bool { return k == types.Str || k == types.Bytes }

// hasTag reports whether val keeps a tag for values of t. Strings keep
// absence in their flags.
func hasTag(t types.Type) bool {
	if isText(t.Kind) {
		return false
	}
	return t.Tagged() || t.Kind == types.None && t.MayFault
}

// intVal is a present scalar.
func intVal(t types.Type, x *ir.Value) val { return val{t: t, x: x} }

// tagOf is the tag of v as a value.
func (b *code) tagOf(v val) *ir.Value {
	if v.tag == nil {
		return b.Const(wire.TagPresent)
	}
	return v.tag
}

// strAddr is the address of byte off of a string.
func (b *code) strAddr(s *str, off int64) *ir.Value {
	switch {
	case s.konst != nil:
		return b.Add(b.constAddr(pad(*s.konst)), off)
	case s.mem != nil:
		return b.addr(s.mem, off)
	}
	return b.Add(s.addr, off)
}

// pad gives a constant as it lies in memory: with a NUL, to a multiple of 8.
func pad(s string) string {
	return s + string(make([]byte, layout.StringRoom(len(s)+1)-len(s)))
}

// strLen is the length of a string.
func (b *code) strLen(s *str) *ir.Value {
	switch {
	case s.konst != nil:
		return b.Const(int64(len(*s.konst)))
	case s.n != nil:
		return s.n
	}
	if v, ok := b.cache.Get(s); ok {
		return v.x
	}
	n := b.scanLen(s)
	b.remember(s, intVal(types.U64, n))
	return n
}

// strFlags are the flags of a string as a value.
func (b *code) strFlags(s *str) *ir.Value {
	if s.flags == nil {
		return b.Const(0)
	}
	return s.flags
}

// comps flattens v: the components that a block parameter stands for.
func (b *code) comps(v val, out []*ir.Value) []*ir.Value {
	if hasTag(v.t) {
		out = append(out, b.tagOf(v))
	}
	switch {
	case v.t.Kind == types.None || v.t.Kind == types.Bot:
	case isText(v.t.Kind):
		out = append(out, b.joinedAddr(v), b.strLen(v.s), b.strFlags(v.s))
	case v.t.Kind == types.Tuple || v.t.Kind == types.Record:
		for _, e := range v.elems {
			out = b.comps(e, out)
		}
	default:
		out = append(out, v.x)
	}
	return out
}

// joinedAddr is the address of a string that comes to a join, where its memory
// counts as large as its type says. Kernels before 5.12 do not always know there
// that a constant is shorter, so it is as long for them.
func (b *code) joinedAddr(v val) *ir.Value {
	if v.s.konst == nil || !b.NoCmpXchg {
		return b.strAddr(v.s, 0)
	}
	text := pad(*v.s.konst)
	return b.constAddr(text + string(make([]byte, max(0, layout.StringRoom(v.t.Cap)-len(text)))))
}

// assemble is the opposite of comps: it takes components from next.
func assemble(t types.Type, next func() *ir.Value) val {
	v := val{t: t}
	if hasTag(t) {
		v.tag = next()
	}
	switch {
	case t.Kind == types.None || t.Kind == types.Bot:
	case isText(t.Kind):
		v.s = &str{addr: next(), n: next(), flags: next(), room: layout.StringRoom(t.Cap)}
	case t.Kind == types.Tuple || t.Kind == types.Record:
		for _, e := range t.Elems {
			v.elems = append(v.elems, assemble(e, next))
		}
	default:
		v.x = next()
	}
	return v
}

// same reports whether two values are the same components.
func same(v, w val) bool {
	if !v.t.Equal(w.t) || v.tag != w.tag || v.x != w.x || len(v.elems) != len(w.elems) {
		return false
	}
	if v.s != w.s {
		return false
	}
	for i := range v.elems {
		if !same(v.elems[i], w.elems[i]) {
			return false
		}
	}
	return true
}

// absent is a value of t that is not there: everything but the tag is zero.
func (b *code) absent(t types.Type, tag int64) val {
	if t.Kind == types.Ptr && tag == wire.TagNone {
		tag = wire.TagPresent // None is the address 0, and has no tag of its own
	}
	v := val{t: t}
	if hasTag(t) {
		v.tag = b.Const(tag)
	}
	switch {
	case t.Kind == types.None || t.Kind == types.Bot:
	case isText(t.Kind):
		flag := [...]int64{wire.TagPresent: 0, wire.TagNone: wire.RefNone, wire.TagFault: wire.RefFault}[tag]
		empty := ""
		v.s = &str{konst: &empty, room: 8, flags: b.Const(flag)}
	case t.Kind == types.Tuple || t.Kind == types.Record:
		for _, e := range t.Elems {
			v.elems = append(v.elems, b.absent(e, wire.TagPresent))
		}
	default:
		v.x = b.Const(0)
	}
	return v
}

// convert makes v a value of type t.
func (b *code) convert(v val, t types.Type) val {
	if v.t.Equal(t) {
		return v
	}
	if v.t.Kind == types.None || v.t.Kind == types.Bot {
		return b.convertNone(v, t)
	}
	out := v
	out.t = t
	switch {
	case isText(t.Kind) && isText(v.t.Kind):
		out.s = b.cutTo(v.s, v.t, t)
		return out
	case t.Kind == types.Bytes && v.t.Kind == types.Int:
		out.s, out.x, out.tag = b.bytesOf(v, t), nil, nil
		return out
	case t.Kind == types.Tuple || t.Kind == types.Record:
		out.elems = nil
		for i, e := range v.elems {
			out.elems = append(out.elems, b.convert(e, t.Elems[i]))
		}
	case t.Kind == types.Int && v.t.Kind == types.Int:
		out.x = b.fit(v, t)
	case t.Kind == types.Bool && v.t.Kind == types.Int: // C's bool
		out.x = b.Cmp(ir.NE, v.x, b.Const(0))
	}
	return b.retag(out, v, t)
}

// bytesOf is an int as the bytes that it has in memory.
func (b *code) bytesOf(v val, t types.Type) *str {
	room := layout.StringRoom(t.Cap)
	m := b.allocText(room)
	b.OpImm(ir.OpZero, int64(room), b.addr(m, 0))
	b.Store(int(v.t.Bits/8), b.addr(m, 0), 0, v.x)
	s := &str{mem: m, room: room, n: b.Const(int64(v.t.Bits / 8))}
	if v.tag != nil { // tag 1, 2 -> RefNone, RefFault
		s.flags = b.Imm(ir.OpShl, v.tag, tagToFlags)
	}
	return s
}

// fit narrows an int where its type may hold more than t.
func (b *code) fit(v val, t types.Type) *ir.Value {
	if t.Bits == 64 || v.t.Bits < t.Bits && (t.Signed || !v.t.Signed) || v.t.Bits == t.Bits && v.t.Signed == t.Signed {
		return v.x
	}
	return b.Extend(v.x, int(t.Bits), t.Signed)
}

// retag gives out the tag that values of t have. A pointer's None is 0, so it
// becomes a tag when the new type has another kind.
func (b *code) retag(out, v val, t types.Type) val {
	switch {
	case !hasTag(t):
		out.tag = nil
	case v.t.Kind == types.Ptr && t.Kind != types.Ptr && (v.t.MayNone || t.MayNone):
		if v.tag == nil {
			out.tag = b.Cmp(ir.EQ, v.x, b.Const(0)) // TagNone is 1
			break
		}
		isNull := b.Cmp(ir.EQ, b.Op(ir.OpOr, v.x, v.tag), b.Const(0)) // one that could not be read is 0, too
		out.tag = b.Op(ir.OpOr, isNull, v.tag)
	}
	return out
}

// convertNone makes a None or FAULT of type t.
func (b *code) convertNone(v val, t types.Type) val {
	if t.Kind == types.None || t.Kind == types.Bot {
		out := v
		out.t = t
		if hasTag(t) && out.tag == nil {
			out.tag = b.Const(wire.TagNone)
		}
		return out
	}
	if v.tag == nil {
		return b.absent(t, wire.TagNone)
	}
	out := b.absent(t, wire.TagFault)
	if isText(t.Kind) { // tag 1, 2 -> RefNone, RefFault
		out.s.flags = b.Imm(ir.OpShl, v.tag, tagToFlags)
	} else if t.Kind == types.Ptr && hasTag(t) {
		out.tag = b.Imm(ir.OpAnd, v.tag, wire.TagFault)
	} else if hasTag(t) {
		out.tag = v.tag
	}
	return out
}

// cutTo gives s the type t, which may have less room.
func (b *code) cutTo(s *str, from, t types.Type) *str {
	if s.konst != nil {
		return b.cutConst(s, t)
	}
	if t.Cap >= from.Cap {
		return s
	}
	out := *s
	limit := int64(t.Cap - 1)
	pair := types.TupleOf(types.I64, types.I64)
	n, flags := b.strLen(s), b.strFlags(s)
	j := b.newJoin(pair)
	b.unless(ir.UGT, n, limit, func() {
		b.jumpWith(j, pairOf(pair, b.Const(limit), b.Imm(ir.OpOr, flags, wire.RefCut)))
	})
	b.jumpWith(j, pairOf(pair, n, flags))
	v := b.enter(j)
	out.n, out.flags = v.elems[0].x, v.elems[1].x
	return &out
}

// cutConst is cutTo of a constant.
func (b *code) cutConst(s *str, t types.Type) *str {
	limit := t.Cap
	if t.Kind == types.Str {
		limit--
	}
	if len(*s.konst) <= limit {
		return s
	}
	cut := (*s.konst)[:max(limit, 0)]
	return &str{konst: &cut, room: len(pad(cut)), flags: b.Const(wire.RefCut)}
}

// pairOf is a tuple of two numbers, by which two values go over a join.
func pairOf(t types.Type, x, y *ir.Value) val {
	return val{t: t, elems: []val{intVal(types.I64, x), intVal(types.I64, y)}}
}

func signed(t types.Type) bool { return t.Kind == types.Int && t.Signed }

// isScalar reports whether val has values of t in x.
func isScalar(t types.Type) bool {
	switch t.Kind {
	case types.Int, types.Bool, types.Ptr, types.Mem, types.Stack, types.Float:
		return true
	}
	return false
}

// constBool is a constant of the tree.
func constBool(v bool) *tree.Expr {
	e := &tree.Expr{Op: tree.OpConst, Type: types.Boolean}
	if v {
		e.Int = 1
	}
	return e
}

// isPlain reports whether values of t are words that mean the same everywhere:
// no addresses of memory that is the subprogram's.
func isPlain(t types.Type) bool {
	return !isText(t.Kind) && !slices.ContainsFunc(t.Elems, func(e types.Type) bool { return !isPlain(e) })
}

// valueType is t for a join that needs a value, Bot for None.
func valueType(t types.Type) types.Type {
	if t.Kind == types.None && !hasTag(t) {
		return types.Type{}
	}
	return t
}
