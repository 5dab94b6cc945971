package location

import "encoding/binary"

// The run of an expression of DWARF: its stack, its bounds, operations of two numbers (`twoOperands`).

// A Base is the type that a number in an expression has: Size bytes, with a sign or without one.
type Base struct {
	// Size is in bytes; Signed: it has a sign.
	Size   int
	Signed bool
	// Other: it is no int, as a double.
	Other bool
}

// Frame is what expressions refer to, at one address of a program.
type Frame struct {
	// Arch is the GOARCH of the program.
	Arch string
	// Base gives what DW_OP_fbreg counts from; false where that is not known.
	Base func() (*Expr, bool)
	// CFA gives the value that the stack pointer had before the call of the function; false where it is not known.
	CFA func() (*Expr, bool)
	// Address gives the address of an index of .debug_addr.
	Address func(index uint64) (uint64, bool)
	// Thread gives how far behind the address of the thread a variable of its own lies, by its offset among those of
	// its file; false where only the program knows. nil: it is not known.
	Thread func(offset uint64) (int64, bool)
	// Type gives the base type at an offset of the unit; of 0 that of numbers without a type.
	Type func(offset uint64) (Base, bool)
}

// Unframed is a frame of which nothing is known: for expressions of registers.
func Unframed(arch string) Frame {
	unknown := func() (*Expr, bool) { return nil, false }
	return Frame{Arch: arch, Base: unknown, CFA: unknown, Address: func(uint64) (uint64, bool) { return 0, false },
		Type: func(uint64) (Base, bool) { return Base{}, false }}
}

// Anything is a frame that has some number for all that an expression asks for: for expressions of which only the parts
// matter that they have a place for.
func Anything(arch string) Frame {
	some := func() (*Expr, bool) { return constant(0), true }
	return Frame{Arch: arch, Base: some, CFA: some, Address: func(uint64) (uint64, bool) { return 0, true },
		Type: func(uint64) (Base, bool) { return Base{Size: 8, Signed: true}, true }}
}

// The bounds of an expression: real ones have some ten operations.
const (
	maxOperations = 128
	maxStack      = 32
	maxNodes      = 256
)

// An evaluation runs one expression.
type evaluation struct {
	frame Frame
	data  []byte
	at    int
	stack []number
	// nodes are the nodes of trees that were made, and steps the operations of all ways that were gone.
	nodes int
	steps *int
	// verdict is what the place is where the expression does not come to its end; ended says that it is known.
	verdict Place
	ended   bool
	// held is the place that the operations since the last piece said by themselves: a register, a value.
	held *Place
	// pieces are those so far, and bytes how many they have.
	pieces []Fragment
	bytes  int
}

// A number is a tree on the stack, of a type; nil is that of addresses.
type number struct {
	*Expr
	typ *Base
}

// Of gives the place that an expression means. Without an expression the value is nowhere.
func Of(expression []byte, f Frame) Place {
	if len(expression) == 0 {
		return Place{}
	}
	return (&evaluation{frame: f, data: expression, steps: new(int)}).run()
}

// run goes on to the end of the expression.
func (m *evaluation) run() Place {
	for ; m.at < len(m.data) && !m.ended; *m.steps++ {
		if *m.steps > maxOperations || len(m.stack) > maxStack || m.nodes > maxNodes {
			return Place{Kind: Unreadable}
		}
		m.step()
	}
	switch {
	case m.ended:
		return m.verdict
	case len(m.pieces) > 0:
		return Place{Kind: Split, Fragments: m.pieces}
	case m.held != nil:
		return *m.held
	case len(m.stack) == 0:
		return Place{}
	}
	return Place{Kind: Memory, Value: m.stack[len(m.stack)-1].Expr}
}

// end ends the run: the place is of a kind that has no value.
func (m *evaluation) end(k Kind) { m.verdict, m.ended = Place{Kind: k}, true }

// step runs one operation.
func (m *evaluation) step() {
	code := opcode(m.number(1))
	switch {
	case code >= opLit0 && code <= opLit31:
		m.push(constant(int64(code - opLit0)))
		return
	case code >= opReg0 && code <= opReg31:
		m.inRegister(uint64(code - opReg0))
		return
	case code >= opBreg0 && code <= opBreg31:
		m.fromRegister(uint64(code-opBreg0), m.signed())
		return
	case code == opBra:
		m.branch()
		return
	}
	if o, ok := twoOperands[code]; ok {
		m.apply(o)
		return
	}
	do, ok := operations()[code]
	if !ok {
		m.end(Unreadable)
		return
	}
	do(m)
}

// twoOperands are the operations that take two numbers from the stack.
var twoOperands = map[opcode]Op{
	opAnd: And, opMinus: Sub, opMul: Mul, opOr: Or, opPlus: Add, opShl: Shl,
	opShr: Shr, opShra: Sar, opXor: Xor, opEq: Eq, opGe: Ge, opGt: Gt,
	opLe: Le, opLt: Lt, opNe: Ne,
}

// push puts a number on the stack.
func (m *evaluation) push(e *Expr) { m.stack = append(m.stack, number{e, nil}) }

// pop takes one. Where there is none, the expression is damaged.
func (m *evaluation) pop() number {
	if len(m.stack) == 0 {
		m.end(Unreadable)
		return number{constant(0), nil}
	}
	n := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return n
}

// node makes a node of trees.
func (m *evaluation) node(e *Expr) *Expr {
	m.nodes += size(e)
	return e
}

// size is how many nodes a tree has: one that an expression uses twice counts twice.
func size(e *Expr) int {
	n := 1
	for _, a := range e.Args {
		n += size(a)
	}
	return n
}

// apply is an operation of two numbers. One of a type computes with the bits of that type.
func (m *evaluation) apply(o Op) {
	y, x := m.pop(), m.pop()
	if m.ended {
		return
	}
	typ := x.typ
	if (typ == nil) != (y.typ == nil) || typ != nil && *typ != *y.typ {
		m.end(Unreadable) // the compiler has mixed types, and means something else than it says
		return
	}
	if o == Add && y.Op == Const && typ == nil {
		m.stack = append(m.stack, number{Plus(x.Expr, y.N), nil})
		return
	}
	if typ != nil && typ.Signed && o == Shr {
		o = Sar
	}
	if typ != nil && !typ.Signed && (o == Lt || o == Le || o == Gt || o == Ge) && typ.Size == 8 {
		m.end(Unreadable) // numbers of 64 bits without a sign
		return
	}
	e := m.node(&Expr{Op: o, Args: []*Expr{x.Expr, y.Expr}})
	switch o {
	case Eq, Ne, Lt, Le, Gt, Ge:
		typ = nil
	}
	m.stack = append(m.stack, m.as(e, typ))
}

// as is a number of a type.
func (m *evaluation) as(e *Expr, typ *Base) number {
	switch {
	case typ == nil || typ.Size == 8:
		return number{e, typ}
	case typ.Other || typ.Size > 8 || typ.Size < 1:
		m.end(Unreadable)
		return number{e, nil}
	case e.Op == Const:
		return number{constant(narrow(e.N, typ)), typ}
	}
	return number{m.node(&Expr{Op: Extend, Size: typ.Size, Signed: typ.Signed, Args: []*Expr{e}}), typ}
}

// narrow is what a number is in a type of less than 64 bits.
func narrow(n int64, typ *Base) int64 {
	unused := 64 - 8*typ.Size
	if typ.Signed {
		return n << unused >> unused
	}
	return int64(uint64(n) << unused >> unused)
}

// typed is the type at an offset of the unit.
func (m *evaluation) typed(offset uint64) (*Base, bool) {
	if offset == 0 {
		return nil, true
	}
	t, ok := m.frame.Type(offset)
	if !ok || t.Other {
		m.end(Unreadable)
		return nil, false
	}
	return &t, true
}

// inRegister: the value is what a register has.
func (m *evaluation) inRegister(n uint64) {
	r, ok := InRegister(m.frame.Arch, n)
	if !ok {
		m.hold(Place{Kind: Unreadable})
		return
	}
	m.hold(Place{Kind: Held, Value: r})
}

// hold says the place of the piece, or of the whole value.
func (m *evaluation) hold(p Place) { m.held = &p }

// fromRegister pushes what a register has, and a number.
func (m *evaluation) fromRegister(n uint64, offset int64) {
	r, ok := InRegister(m.frame.Arch, n)
	if !ok {
		m.end(Unreadable)
		return
	}
	m.push(Plus(r, offset))
}

// piece ends a part of the value. A part that has no expression before it is nowhere.
func (m *evaluation) piece(bytes uint64) {
	if bytes > 1<<16 {
		m.end(Unreadable)
		return
	}
	p := Fragment{At: m.bytes, Bytes: int(bytes)}
	switch {
	case m.held != nil:
		p.Place = *m.held
	case len(m.stack) > 0:
		p.Place = Place{Kind: Memory, Value: m.pop().Expr}
	}
	m.bytes += int(bytes)
	m.held, m.stack = nil, nil
	m.pieces = append(m.pieces, p)
}

// bytesOf takes the next n bytes of the expression.
func (m *evaluation) bytesOf(n uint64) []byte {
	if n > uint64(len(m.data)-m.at) {
		m.at = len(m.data)
		m.end(Unreadable)
		return nil
	}
	b := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

// number reads one of some bytes.
func (m *evaluation) number(size int) uint64 {
	var word [8]byte
	copy(word[:], m.bytesOf(uint64(size)))
	return binary.LittleEndian.Uint64(word[:])
}

// unsigned and signed read a LEB128.
func (m *evaluation) unsigned() (v uint64) {
	for shift := uint(0); shift < 64; shift += 7 {
		b := m.number(1)
		if v |= b & 0x7f << shift; b < 0x80 {
			return v
		}
	}
	m.end(Unreadable)
	return 0
}

func (m *evaluation) signed() (v int64) {
	for shift := uint(0); shift < 64; shift += 7 {
		b := m.number(1)
		if v |= int64(b&0x7f) << shift; b < 0x80 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	m.end(Unreadable)
	return 0
}
