package cfi

import "bytes"

// Expressions of DWARF in frame information, and stubs of the PLT.

// maxExpression is how long an expression may be for a rule to stand for it.
const maxExpression = 32

// Operations of expressions, DW_OP_.
const (
	exprDeref      = 0x06
	exprConst1u    = 0x08
	exprConst1s    = 0x09
	exprConst2u    = 0x0a
	exprConst2s    = 0x0b
	exprConst4u    = 0x0c
	exprConst4s    = 0x0d
	exprConstu     = 0x10
	exprConsts     = 0x11
	exprMinus      = 0x1c
	exprPlus       = 0x22
	exprPlusUconst = 0x23
	exprLit0       = 0x30
	exprLit31      = 0x4f
	exprBreg0      = 0x70
	exprBreg31     = 0x8f
	exprNop        = 0x96
)

// A term is what an expression computes, as far as a rule can say it: of depth 0 the number add; of depth 1 a register
// and add; of depth 2 the word at the register and at, and add.
//
//	breg6 -8, deref, plus_uconst 16     the word at rbp - 8, and 16: {2, 6, -8, 16}
type term struct {
	depth    int
	register uint64
	at, add  int64
}

// maxTerms is how many terms an expression may have on its stack.
const maxTerms = 4

// terms is the stack of an expression.
type terms struct {
	list [maxTerms]term
	n    int
}

func (s *terms) push(t term) bool {
	if s.n == len(s.list) {
		return false
	}
	s.list[s.n] = t
	s.n++
	return true
}

// top gives the i-th term from above, and nil where there are not so many.
func (s *terms) top(i int) *term {
	if i >= s.n {
		return nil
	}
	return &s.list[s.n-1-i]
}

// evaluate gives what an expression computes; false where it is no term.
func evaluate(c cursor) (term, bool) {
	s := terms{}
	for c.at < c.end {
		if !s.operation(&c) || c.bad {
			return term{}, false
		}
	}
	if s.n != 1 {
		return term{}, false
	}
	return s.list[0], true
}

func (s *terms) operation(c *cursor) bool {
	switch op := c.u8(); {
	case op == exprNop:
		return true
	case op == exprDeref:
		return s.deref()
	case op == exprPlus || op == exprMinus:
		return s.sum(op == exprMinus)
	case op == exprPlusUconst:
		return s.push(term{add: int64(c.uleb())}) && s.sum(false)
	case op >= exprBreg0 && op <= exprBreg31:
		return s.push(term{depth: 1, register: uint64(op - exprBreg0), add: c.sleb()})
	default:
		n, ok := constant(op, c)
		return ok && s.push(term{add: n})
	}
}

func constant(op byte, c *cursor) (n int64, ok bool) {
	switch op {
	case exprConst1u:
		n = int64(c.u8())
	case exprConst1s:
		n = int64(int8(c.u8()))
	case exprConst2u:
		n = int64(c.u16())
	case exprConst2s:
		n = int64(int16(c.u16()))
	case exprConst4u:
		n = int64(c.u32())
	case exprConst4s:
		n = int64(int32(c.u32()))
	case exprConstu:
		n = int64(c.uleb())
	case exprConsts:
		n = c.sleb()
	default:
		return int64(op) - exprLit0, op >= exprLit0 && op <= exprLit31
	}
	return n, true
}

func (s *terms) deref() bool {
	t := s.top(0)
	if t == nil || t.depth != 1 {
		return false
	}
	*t = term{depth: 2, register: t.register, at: t.add}
	return true
}

// sum adds the upper number to the term below it, or takes it off.
func (s *terms) sum(minus bool) bool {
	n, t := s.top(0), s.top(1)
	if t == nil {
		return false
	}
	switch {
	case minus && n.depth == 0:
		t.add -= n.add
	case minus:
		return false
	case n.depth == 0:
		t.add += n.add
	case t.depth == 0:
		n.add += t.add
		*t = *n
	default:
		return false
	}
	s.n--
	return true
}

// What linkers write for the entries of the PLT of amd64, with a literal between the two halves: how far an entry is
// run until it has pushed a word.
//
//	breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus     rsp + 8 + (rip & 15 >= 11) * 8
var (
	stubBefore = []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a}
	stubBehind = []byte{0x2a, 0x33, 0x24, 0x22}
)

// stubPush gives that literal; false of other expressions.
func stubPush(c cursor) (n int64, ok bool) {
	b := c.data[c.at:c.end]
	if len(b) != len(stubBefore)+1+len(stubBehind) || !bytes.HasPrefix(b, stubBefore) ||
		!bytes.HasSuffix(b, stubBehind) {
		return 0, false
	}
	n = int64(b[len(stubBefore)]) - exprLit0
	return n, n >= 0 && n <= 15
}
