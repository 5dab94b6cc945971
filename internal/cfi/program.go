package cfi

import (
	"cmp"

	"github.com/startrace/startrace/internal/wire"
)

// The instructions DW_CFA_…, a case each, which change what is known of registers.

// maxRemembered is how many states a function may remember at once; compilers need one.
const maxRemembered = 64

// How the caller's register is found, or the CFA.
const (
	howSame       = iota // it is still in its register
	howUndefined         // it is lost: of the pc, there is no caller
	howOffset            // it lies at CFA and an offset; of the CFA, it is a register and an offset
	howExpression        // it lies at the address that an expression gives; of the CFA, it is the expression's value
	howRegister          // it is in another register
	howOther             // it is the value of an expression, or unknown
)

// A place is where one register of the caller is. The offset of the CFA stays when an expression takes its place: an
// instruction may name a register again.
type place struct {
	offset   int64
	at       uint32 // of an expression: where it is in the section
	length   uint8  // of an expression
	register uint8
	how      uint8
}

// otherRegister stands for those from it on.
const otherRegister = 255

func (p place) expression(data []byte) cursor {
	return cursor{data: data, at: int(p.at), end: int(p.at) + int(p.length)}
}

// places are what is known at an instruction: of all registers, those that a walk along the stack needs.
type places struct{ cfa, fp, pc place }

// A program is the instructions of one function (DWARF 6.4.2), which tell how the state changes from one place in the
// code to the next.
type program struct {
	cursor
	cie   *cie
	arch  *arch
	base  uint64 // of the section
	state places

	// loc is the place in the code; the function ends at limit.
	loc, limit uint64
	// table gets a row for each place; nil of a CIE.
	table *table

	// watched is a register, 0: none, and keptAt where the function saves it first, behind the CFA.
	watched uint64
	keptAt  int64

	depth int
	saved [maxRemembered]places
}

// Instructions, DW_CFA_. Those of the first three have an operand in the low bits.
const (
	opAdvance = 0x40
	opOffset  = 0x80
	opRestore = 0xc0
	opBits    = 0xc0

	opNop               = 0x00
	opSetLoc            = 0x01
	opAdvance1          = 0x02
	opAdvance2          = 0x03
	opAdvance4          = 0x04
	opOffsetExtended    = 0x05
	opRestoreExtended   = 0x06
	opUndefined         = 0x07
	opSameValue         = 0x08
	opRegister          = 0x09
	opRememberState     = 0x0a
	opRestoreState      = 0x0b
	opDefCFA            = 0x0c
	opDefCFARegister    = 0x0d
	opDefCFAOffset      = 0x0e
	opDefCFAExpression  = 0x0f
	opExpression        = 0x10
	opOffsetExtendedSF  = 0x11
	opDefCFASF          = 0x12
	opDefCFAOffsetSF    = 0x13
	opValOffset         = 0x14
	opValOffsetSF       = 0x15
	opValExpression     = 0x16
	opNegateRAStateOfPC = 0x2c // arm64: from here on, the return address is signed, or no longer
	opNegateRAState     = 0x2d // the same; of SPARC, registers are in another window
	opArgsSize          = 0x2e // GNU: for exceptions
	opNegativeOffset    = 0x2f // GNU
)

// run goes through the instructions; false where they are damaged, or one is not known. The rows up to there are right.
func (p *program) run() bool {
	for p.at < p.end {
		op := p.u8()
		ok := true
		switch low := uint64(op &^ opBits); op & opBits {
		case opAdvance:
			ok = p.advance(low)
		case opOffset:
			p.set(low, place{how: howOffset, offset: int64(p.uleb()) * p.cie.data})
		case opRestore:
			p.restore(low)
		default:
			ok = p.extended(op)
		}
		if !ok || p.bad {
			return false
		}
	}
	p.row()
	return true
}

// extended is run for the instructions without an operand in their byte.
func (p *program) extended(op byte) bool {
	switch op {
	case opNop, opNegateRAState, opNegateRAStateOfPC:
	case opSetLoc:
		return p.setLoc()
	case opAdvance1:
		return p.advance(uint64(p.u8()))
	case opAdvance2:
		return p.advance(uint64(p.u16()))
	case opAdvance4:
		return p.advance(uint64(p.u32()))
	case opRememberState:
		return p.remember()
	case opRestoreState:
		return p.recall()
	case opArgsSize:
		p.uleb()
	case opDefCFA:
		p.cfaIn(p.uleb())
		p.state.cfa.offset = int64(p.uleb())
	case opDefCFASF:
		p.cfaIn(p.uleb())
		p.state.cfa.offset = p.sleb() * p.cie.data
	case opDefCFARegister:
		p.cfaIn(p.uleb())
	case opDefCFAOffset:
		p.state.cfa.offset = int64(p.uleb())
	case opDefCFAOffsetSF:
		p.state.cfa.offset = p.sleb() * p.cie.data
	case opDefCFAExpression:
		offset := p.state.cfa.offset
		p.state.cfa = p.expression()
		p.state.cfa.offset = offset
	default:
		return p.ofRegister(op)
	}
	return true
}

// ofRegister is run for the instructions that say where a register of the caller is.
func (p *program) ofRegister(op byte) bool {
	register := p.uleb()
	switch op {
	case opOffsetExtended:
		p.set(register, place{how: howOffset, offset: int64(p.uleb()) * p.cie.data})
	case opOffsetExtendedSF:
		p.set(register, place{how: howOffset, offset: p.sleb() * p.cie.data})
	case opNegativeOffset:
		p.set(register, place{how: howOffset, offset: -int64(p.uleb()) * p.cie.data})
	case opRestoreExtended:
		p.restore(register)
	case opUndefined:
		p.set(register, place{how: howUndefined})
	case opSameValue:
		p.set(register, place{how: howSame})
	case opExpression:
		p.set(register, p.expression())
	case opRegister:
		p.set(register, place{how: howRegister, register: uint8(min(p.uleb(), otherRegister))})
	case opValOffset:
		p.uleb()
		p.set(register, place{how: howOther})
	case opValOffsetSF:
		p.sleb()
		p.set(register, place{how: howOther})
	case opValExpression:
		p.block()
		p.set(register, place{how: howOther})
	default:
		return false
	}
	return true
}

func (p *program) set(register uint64, to place) {
	switch register {
	case p.arch.fp:
		p.state.fp = to
	case p.arch.pc:
		p.state.pc = to
	case p.watched:
		if to.how == howOffset && p.keptAt == 0 {
			p.keptAt = to.offset
		}
	}
}

// restore gives a register the place that it had at the function's begin.
func (p *program) restore(register uint64) {
	switch register {
	case p.arch.fp:
		p.state.fp = p.cie.initial.fp
	case p.arch.pc:
		p.state.pc = p.cie.initial.pc
	}
}

func (p *program) remember() bool {
	if p.depth == len(p.saved) {
		return false
	}
	p.saved[p.depth] = p.state
	p.depth++
	return true
}

func (p *program) recall() bool {
	if p.depth == 0 {
		return false
	}
	p.depth--
	p.state = p.saved[p.depth]
	return true
}

// cfaIn sets the register that CFA is counted from.
func (p *program) cfaIn(register uint64) {
	p.state.cfa.how, p.state.cfa.register = howOffset, uint8(min(register, otherRegister))
}

// expression reads one. Those that are longer than any that a rule can express are howOther.
func (p *program) expression() place {
	b := p.block()
	if b.end-b.at > maxExpression {
		return place{how: howOther}
	}
	return place{how: howExpression, at: uint32(b.at), length: uint8(b.end - b.at)}
}

// advance gives the rule up to here, and goes on. What lies behind the function's end is of no interest.
func (p *program) advance(units uint64) bool {
	by := units * p.cie.code
	return p.moveTo(p.loc+by, by <= ^p.loc)
}

func (p *program) setLoc() bool {
	to, ok := p.address(p.cie.encoding, p.base)
	return p.moveTo(to, ok && to >= p.loc)
}

func (p *program) moveTo(loc uint64, ok bool) bool {
	if ok && loc > p.loc {
		p.row()
		p.loc = loc
	}
	return ok
}

// row puts what is known from this place on into the table.
func (p *program) row() {
	switch {
	case p.table == nil || p.loc >= p.limit:
	case p.cie.elsewhere:
		p.table.add(p.loc, wire.UnwindUnfollowed)
	case p.cie.golang:
		p.table.add(p.loc, p.arch.goRule(p.rule()))
	default:
		p.table.add(p.loc, p.rule())
	}
}

// rule gives what the state says. Where it says nothing of the frame there is no rule that could be followed.
func (p *program) rule() uint32 {
	if p.state.cfa == (place{}) {
		return wire.UnwindNone
	}
	return cmp.Or(p.arch.rule(p), wire.UnwindUnfollowed)
}
