package location

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// What each operation DW_OP_… does.

// operations are what an operation does that takes no two numbers. What is missing here ends the run: the place is
// Unreadable.
var operations = sync.OnceValue(func() map[opcode]func(*evaluation) {
	nowhere := func(m *evaluation) { m.end(Nowhere) } // known to debuggers that look at the caller, or to nobody
	return map[opcode]func(*evaluation){
		opAddr:          func(m *evaluation) { m.static(m.number(8)) },
		opAddrx:         (*evaluation).addressIndex,
		opGNUAddrIndex:  (*evaluation).addressIndex,
		opConstx:        (*evaluation).constIndex,
		opGNUConstIndex: (*evaluation).constIndex,

		opConst1u: func(m *evaluation) { m.push(constant(int64(m.number(1)))) },
		opConst1s: func(m *evaluation) { m.push(constant(int64(int8(m.number(1))))) },
		opConst2u: func(m *evaluation) { m.push(constant(int64(m.number(2)))) },
		opConst2s: func(m *evaluation) { m.push(constant(int64(int16(m.number(2))))) },
		opConst4u: func(m *evaluation) { m.push(constant(int64(m.number(4)))) },
		opConst4s: func(m *evaluation) { m.push(constant(int64(int32(m.number(4))))) },
		opConst8u: func(m *evaluation) { m.push(constant(int64(m.number(8)))) },
		opConst8s: func(m *evaluation) { m.push(constant(int64(m.number(8)))) },
		opConstu:  func(m *evaluation) { m.push(constant(int64(m.unsigned()))) },
		opConsts:  func(m *evaluation) { m.push(constant(m.signed())) },

		opDup:  func(m *evaluation) { m.pick(0) },
		opOver: func(m *evaluation) { m.pick(1) },
		opPick: func(m *evaluation) { m.pick(int(m.number(1))) },
		opDrop: func(m *evaluation) { m.pop() },
		opSwap: func(m *evaluation) { y, x := m.pop(), m.pop(); m.stack = append(m.stack, y, x) },
		opRot:  func(m *evaluation) { z, y, x := m.pop(), m.pop(), m.pop(); m.stack = append(m.stack, z, x, y) },
		opNop:  func(*evaluation) {},

		opDiv:          (*evaluation).divide,
		opMod:          (*evaluation).remainder,
		opAbs:          (*evaluation).absolute,
		opSkip:         (*evaluation).skip,
		opNeg:          func(m *evaluation) { m.unary(Neg) },
		opNot:          func(m *evaluation) { m.unary(Not) },
		opPlusUconst:   (*evaluation).plusConst,
		opDeref:        func(m *evaluation) { m.load(8, nil) },
		opDerefSize:    func(m *evaluation) { m.load(m.number(1), nil) },
		opDerefType:    (*evaluation).loadTyped,
		opGNUDerefType: (*evaluation).loadTyped,

		opFormTLSAddress:    (*evaluation).ofThread,
		opGNUPushTLSAddress: (*evaluation).ofThread,

		opRegx:          func(m *evaluation) { m.inRegister(m.unsigned()) },
		opBregx:         func(m *evaluation) { n := m.unsigned(); m.fromRegister(n, m.signed()) },
		opFbreg:         (*evaluation).frameBase,
		opCallFrameCFA:  (*evaluation).cfa,
		opRegvalType:    (*evaluation).registerTyped,
		opGNURegvalType: (*evaluation).registerTyped,

		opConstType:      (*evaluation).constTyped,
		opGNUConstType:   (*evaluation).constTyped,
		opConvert:        (*evaluation).convert,
		opGNUConvert:     (*evaluation).convert,
		opReinterpret:    (*evaluation).convert,
		opGNUReinterpret: (*evaluation).convert,

		opPiece:         func(m *evaluation) { m.piece(m.unsigned()) },
		opStackValue:    func(m *evaluation) { m.hold(Place{Kind: Held, Value: m.pop().Expr}) },
		opImplicitValue: (*evaluation).implicitValue,
		opGNUUninit:     func(*evaluation) {}, // behind the place of a variable that has no value yet

		opEntryValue:         nowhere,
		opGNUEntryValue:      nowhere,
		opImplicitPointer:    nowhere,
		opGNUImplicitPointer: nowhere,
		opGNUParameterRef:    nowhere,
		opGNUVariableValue:   nowhere,
	}
})

func (m *evaluation) addressIndex() {
	addr, ok := m.frame.Address(m.unsigned())
	if !ok {
		m.end(Unreadable)
		return
	}
	m.static(addr)
}

// static pushes an address of the file. What the linker has left out of it is nowhere.
func (m *evaluation) static(addr uint64) {
	if dwarfinfo.NoAddress(addr) {
		m.end(Nowhere)
		return
	}
	m.push(&Expr{Op: Static, N: int64(addr)})
}

func (m *evaluation) constIndex() {
	n, ok := m.frame.Address(m.unsigned())
	if !ok {
		m.end(Unreadable)
		return
	}
	m.push(constant(int64(n)))
}

// pick pushes a copy of the number that lies n below the top.
func (m *evaluation) pick(n int) {
	if n >= len(m.stack) {
		m.end(Unreadable)
		return
	}
	x := m.stack[len(m.stack)-1-n]
	m.nodes += size(x.Expr)
	m.stack = append(m.stack, x)
}

func (m *evaluation) unary(o Op) {
	x := m.pop()
	m.stack = append(m.stack, m.as(m.node(&Expr{Op: o, Args: []*Expr{x.Expr}}), x.typ))
}

// divide is a division by a number that the expression says: a share, a number of elements. By another one it might be
// one by 0.
func (m *evaluation) divide() {
	y, x := m.pop(), m.pop()
	if y.Op != Const || y.N <= 0 || x.typ != nil && !x.typ.Signed && x.typ.Size == 8 {
		m.end(Unreadable)
		return
	}
	m.stack = append(m.stack, m.as(m.node(&Expr{Op: Div, Args: []*Expr{x.Expr, y.Expr}}), x.typ))
}

// remainder is that of a division by a number that the expression says. One without a type has no sign.
func (m *evaluation) remainder() {
	y, x := m.pop(), m.pop()
	if y.Op != Const || y.N <= 0 || (x.typ == nil || x.typ.Size == 8 && !x.typ.Signed) && y.N&(y.N-1) != 0 {
		m.end(Unreadable)
		return
	}
	var e *Expr
	if x.typ == nil || !x.typ.Signed && y.N&(y.N-1) == 0 {
		e = &Expr{Op: And, Args: []*Expr{x.Expr, constant(y.N - 1)}}
	} else { // of the sign of x
		whole := &Expr{Op: Mul, Args: []*Expr{{Op: Div, Args: []*Expr{x.Expr, y.Expr}}, y.Expr}}
		e = &Expr{Op: Sub, Args: []*Expr{x.Expr, whole}}
	}
	m.stack = append(m.stack, m.as(m.node(e), x.typ))
}

// absolute is of a number of a type. gcc takes it of a register that has an int of 32 bits, too, without the sign that
// this has, and so says -3 of what is 3.
func (m *evaluation) absolute() {
	x := m.pop()
	if x.typ == nil {
		m.end(Unreadable)
		return
	}
	below := &Expr{Op: Lt, Args: []*Expr{x.Expr, constant(0)}}
	e := &Expr{Op: Select, Args: []*Expr{below, {Op: Neg, Args: []*Expr{x.Expr}}, x.Expr}}
	m.stack = append(m.stack, m.as(m.node(e), x.typ))
}

// target is where the operation leads to that jumps. One that jumps back would have no end that we know.
func (m *evaluation) target() (to int, ok bool) {
	distance := int16(m.number(2))
	to = m.at + int(distance)
	if m.ended || distance < 0 || to > len(m.data) {
		m.end(Unreadable)
		return 0, false
	}
	return to, true
}

func (m *evaluation) skip() {
	if to, ok := m.target(); ok {
		m.at = to
	}
}

// branch goes both ways to the end, one after the other, and takes what the condition says.
func (m *evaluation) branch() {
	to, ok := m.target()
	condition := m.pop()
	switch {
	case !ok || m.ended:
	case condition.Op == Const && condition.N != 0:
		m.at = to
	case condition.Op == Const:
	default:
		there := *m
		there.at = to
		there.stack, there.pieces = slices.Clone(m.stack), slices.Clone(m.pieces)
		yes := there.run()
		no := m.run()
		m.verdict, m.ended = either(condition.Expr, yes, no), true
	}
}

// either is the place that a condition says: yes where it is not 0. What only one of them may read is read always, and
// so none of them may read memory.
func either(condition *Expr, yes, no Place) Place {
	if yes.String() == no.String() {
		return yes
	}
	if yes.Kind != no.Kind || yes.Kind != Held && yes.Kind != Memory || loads(yes.Value) || loads(no.Value) ||
		size(condition)+size(yes.Value)+size(no.Value) > maxNodes {
		return Place{Kind: Unreadable}
	}
	return Place{Kind: yes.Kind, Value: &Expr{Op: Select, Args: []*Expr{condition, yes.Value, no.Value}}}
}

// loads reports whether a tree reads memory.
func loads(e *Expr) bool { return e.Op == Load || slices.ContainsFunc(e.Args, loads) }

func (m *evaluation) plusConst() {
	n := int64(m.unsigned())
	x := m.pop()
	m.stack = append(m.stack, m.as(Plus(x.Expr, n), x.typ))
}

// load reads what a number is the address of.
func (m *evaluation) load(bytes uint64, typ *Base) {
	switch bytes {
	case 1, 2, 4, 8:
	default:
		m.end(Unreadable)
		return
	}
	x := m.pop()
	m.stack = append(m.stack, m.as(m.node(&Expr{Op: Load, Size: int(bytes), Args: []*Expr{x.Expr}}), typ))
}

func (m *evaluation) loadTyped() {
	bytes := m.number(1)
	if typ, ok := m.typed(m.unsigned()); ok {
		m.load(bytes, typ)
	}
}

// ofThread is the address of a variable that each thread has for itself.
func (m *evaluation) ofThread() {
	x := m.pop()
	if x.Op != Const || m.frame.Thread == nil {
		m.end(Unreadable)
		return
	}
	offset, ok := m.frame.Thread(uint64(x.N))
	if !ok {
		m.end(Unreadable)
		return
	}
	m.push(Plus(&Expr{Op: Thread}, offset))
}

func (m *evaluation) frameBase() {
	offset := m.signed()
	base, ok := m.frame.Base()
	if !ok {
		m.end(Unreadable)
		return
	}
	m.push(Plus(base, offset))
}

func (m *evaluation) cfa() {
	cfa, ok := m.frame.CFA()
	if !ok {
		m.end(Unreadable)
		return
	}
	m.push(cfa)
}

func (m *evaluation) registerTyped() {
	n := m.unsigned()
	typ, ok := m.typed(m.unsigned())
	if !ok {
		return
	}
	r, ok := InRegister(m.frame.Arch, n)
	if !ok {
		m.end(Unreadable)
		return
	}
	m.stack = append(m.stack, m.as(r, typ))
}

func (m *evaluation) constTyped() {
	typ, ok := m.typed(m.unsigned())
	b := m.bytesOf(m.number(1))
	if !ok || len(b) > 8 {
		m.end(Unreadable)
		return
	}
	m.stack = append(m.stack, m.as(constant(word(b)), typ))
}

// word is a number of up to 8 bytes.
func word(b []byte) int64 {
	var w [8]byte
	copy(w[:], b)
	return int64(binary.LittleEndian.Uint64(w[:]))
}

// convert gives a number another type, 0: none. Of ints that is what its bits are in that type.
func (m *evaluation) convert() {
	typ, ok := m.typed(m.unsigned())
	if ok {
		m.stack = append(m.stack, m.as(m.pop().Expr, typ))
	}
}

// implicitValue is a value that the expression has itself.
func (m *evaluation) implicitValue() { m.hold(inBytes(m.bytesOf(m.unsigned()))) }

// inBytes is the place of a value whose bytes are known.
func inBytes(b []byte) Place {
	if len(b) <= 8 {
		return Place{Kind: Held, Value: constant(word(b))}
	}
	p := Place{Kind: Split}
	for at := 0; at < len(b); at += 8 {
		part := b[at:min(at+8, len(b))]
		value := Place{Kind: Held, Value: constant(word(part))}
		p.Fragments = append(p.Fragments, Fragment{At: at, Bytes: len(part), Place: value})
	}
	return p
}
