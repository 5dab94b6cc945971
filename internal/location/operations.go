package location

import (
	"encoding/binary"
	"sync"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

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
		opNeg:          func(m *evaluation) { m.unary(Neg) },
		opNot:          func(m *evaluation) { m.unary(Not) },
		opPlusUconst:   (*evaluation).plusConst,
		opDeref:        func(m *evaluation) { m.load(8, nil) },
		opDerefSize:    func(m *evaluation) { m.load(m.number(1), nil) },
		opDerefType:    (*evaluation).loadTyped,
		opGNUDerefType: (*evaluation).loadTyped,

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
