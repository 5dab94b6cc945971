package build

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/startrace/startrace/bpfgen/ir"
)

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

// maxElements is what fits in the word of states.
const maxElements = 63

func (p *pattern) element(accepts func(c byte) bool) error {
	if p.n >= maxElements {
		return fmt.Errorf("pattern of more than %d characters", maxElements)
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

// match runs the automaton here, for constants and tests.
func (p *pattern) match(s string) bool {
	d := uint64(1)
	for i := 0; i < len(s); i++ {
		d = (p.masks[s[i]]&d)<<1 | d&p.stars
	}
	return d>>p.n&1 != 0
}

// parseGlob reads * ? [ab] [a-z] [!a] and plain characters; \ takes the
// special meaning from the next one.
func parseGlob(glob string) (pattern, error) {
	var p pattern
	for i := 0; i < len(glob); i++ {
		c := glob[i]
		var err error
		switch c {
		case '*':
			p.star()
			continue
		case '?':
			err = p.element(func(byte) bool { return true })
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 0 {
				return p, fmt.Errorf("[ without ] in %q", glob)
			}
			err = p.element(class(glob[i+1 : i+1+end]))
			i += end + 1
		default:
			if c == '\\' && i+1 < len(glob) {
				i++
				c = glob[i]
			}
			err = p.element(func(x byte) bool { return x == c })
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// class is the test of [set].
func class(set string) func(byte) bool {
	not := strings.HasPrefix(set, "!") || strings.HasPrefix(set, "^")
	if not {
		set = set[1:]
	}
	return func(c byte) bool {
		for i := 0; i < len(set); i++ {
			lo, hi := set[i], set[i]
			if i+2 < len(set) && set[i+1] == '-' {
				hi = set[i+2]
				i += 2
			}
			if lo <= c && c <= hi {
				return !not
			}
		}
		return not
	}
}

// expandBraces gives the alternatives of {a,b}, which may nest.
func expandBraces(glob string) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 {
		return []string{glob}
	}
	depth, start := 0, open+1
	var alts []string
	for i := open; i < len(glob); i++ {
		switch glob[i] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				alts = append(alts, glob[start:i])
				start = i + 1
			}
		case '}':
			depth--
			if depth == 0 {
				var out []string
				for _, a := range append(alts, glob[start:i]) {
					out = append(out, expandBraces(glob[:open]+a+glob[i+1:])...)
				}
				return out
			}
		}
	}
	return []string{glob}
}

// containsPattern is *c*, its characters without special meaning.
func (b *builder) containsPattern(c string) pattern {
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

func (b *builder) patterns(glob string) []pattern {
	var out []pattern
	for _, alt := range expandBraces(glob) {
		p, err := parseGlob(alt)
		if err != nil {
			b.fail("%v", err)
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
func (b *builder) automaton(s *str, patterns []pattern, then, els *ir.Block) {
	for i := range patterns {
		next := els
		if i < len(patterns)-1 {
			next = b.f.NewBlock()
		}
		d := b.runPattern(s, &patterns[i])
		bit := b.imm(ir.OpAnd, b.imm(ir.OpLShr, d, int64(patterns[i].n)), 1)
		b.branchImm(ir.NE, bit, 0, then, next)
		b.begin(next)
	}
}

// runPattern gives the states after the last byte of s.
func (b *builder) runPattern(s *str, p *pattern) *ir.Value {
	table := p.table()
	var n *ir.Value
	if s.n != nil {
		n = b.loopBound(s.n)
	}
	head, body, test, end := b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock(), b.f.NewBlock()
	b.cur.Jump(b.pos, head, b.konst(0), b.konst(1))
	b.reach(head, body, test, end)
	k, d := head.Param(b.pos), head.Param(b.pos)
	b.begin(head)
	b.branchImm(ir.ULT, k, int64(s.room), test, end)
	b.begin(test)
	if n != nil {
		b.branch(ir.ULT, k, n, body, end)
		b.begin(body)
	}
	c := b.load(1, b.op(ir.OpAdd, b.strAddr(s, 0), k), 0)
	if n == nil {
		b.branchImm(ir.NE, c, 0, body, end)
		b.begin(body)
	}
	at := b.op(ir.OpAdd, b.constAddr(table), b.imm(ir.OpShl, c, 3))
	step := b.imm(ir.OpShl, b.op(ir.OpAnd, b.load(8, at, 0), d), 1)
	stay := b.imm(ir.OpAnd, d, int64(p.stars))
	b.cur.Jump(b.pos, head, b.imm(ir.OpAdd, k, 1), b.op(ir.OpOr, step, stay))
	b.begin(end)
	return d
}
