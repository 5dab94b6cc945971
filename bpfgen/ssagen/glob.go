package ssagen

import (
	"encoding/binary"
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/naming"
)

// matches(s, GLOB) as a bit-parallel automaton.

// A pattern is a glob as a bit-parallel automaton: element i of the pattern
// is bit i of the states. masks[c] has the bits of the elements that accept
// byte c; stars the bits before which a * stands. It is run as
//
//	D = 1
//	for each byte c: D = ((masks[c] & D) << 1) | (D & stars)
//	match = D >> n & 1
//
// which takes the same few instructions for every byte and has no branch that
// depends on the pattern.
type pattern struct {
	masks [256]uint64
	stars uint64
	n     int // elements
}

func (p *pattern) element(accepts func(c byte) bool) error {
	if p.n >= tree.MaxPattern {
		return fmt.Errorf("pattern of more than %d characters", tree.MaxPattern)
	}
	for c := 1; c < 256; c++ {
		if accepts(byte(c)) {
			p.masks[c] |= 1 << p.n
		}
	}
	p.n++
	return nil
}

func (p *pattern) star() { p.stars |= 1 << p.n }

// containsPattern is *c*, its characters without special meaning.
func (b texts) containsPattern(c string) pattern {
	var p pattern
	p.star()
	for i := 0; i < len(c); i++ {
		if err := p.element(func(x byte) bool { return x == c[i] }); err != nil {
			b.fail("%v", err)
		}
	}
	p.star()
	return p
}

// patterns are the alternatives of a glob, which infer has checked.
func (b texts) patterns(glob string) []pattern {
	g, err := naming.Compile(glob)
	if err != nil {
		b.fail("%v", err)
	}
	var out []pattern
	for _, alt := range g.Alternatives() {
		var p pattern
		for _, e := range alt {
			if e.Star {
				p.star()
			} else if err := p.element(e.Accepts); err != nil {
				b.fail("%v", err)
			}
		}
		out = append(out, p)
	}
	return out
}

// table is the pattern's masks as constant data.
func (p *pattern) table() string {
	data := make([]byte, 0, 256*8)
	for _, m := range p.masks {
		data = binary.LittleEndian.AppendUint64(data, m)
	}
	return string(data)
}

// automaton branches on whether one of the patterns matches s.
func (b texts) automaton(s *str, patterns []pattern, then, els *ir.Block) {
	for i := range patterns {
		next := els
		if i < len(patterns)-1 {
			next = b.NewBlock()
		}
		d := b.runPattern(s, &patterns[i])
		bit := b.Imm(ir.OpAnd, b.Imm(ir.OpLShr, d, int64(patterns[i].n)), 1)
		b.BranchImm(ir.NE, bit, 0, then, next)
		b.Begin(next)
	}
}

// runPattern gives the states after the last byte of s.
func (b texts) runPattern(s *str, p *pattern) *ir.Value {
	table := p.table()
	var n *ir.Value
	if s.n != nil {
		n = b.loopBound(s.n)
	}
	head, body, test, end := b.NewBlock(), b.NewBlock(), b.NewBlock(), b.NewBlock()
	b.Jump(head, b.Const(0), b.Const(1))
	b.Reach(head, body, test, end)
	k, d := head.Param(b.Pos), head.Param(b.Pos)
	b.Begin(head)
	b.BranchImm(ir.ULT, k, int64(s.room), test, end)
	b.Begin(test)
	if n != nil {
		b.Branch(ir.ULT, k, n, body, end)
		b.Begin(body)
	}
	c := b.Load(1, b.Op(ir.OpAdd, b.strAddr(s, 0), k), 0)
	if n == nil {
		b.BranchImm(ir.NE, c, 0, body, end)
		b.Begin(body)
	}
	at := b.Op(ir.OpAdd, b.constAddr(table), b.Imm(ir.OpShl, c, 3))
	step := b.Imm(ir.OpShl, b.Op(ir.OpAnd, b.Load(8, at, 0), d), 1)
	stay := b.Imm(ir.OpAnd, d, int64(p.stars))
	b.Jump(head, b.Imm(ir.OpAdd, k, 1), b.Op(ir.OpOr, step, stay))
	goesRound(b.code, int64(s.room), test, body)
	b.Begin(end)
	return d
}
