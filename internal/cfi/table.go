package cfi

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Rows by address, with gaps and padding between functions.

// A Row says that from Addr on, which is an address as the file's symbols have it, Rule holds.
type Row struct {
	Addr uint64
	Rule uint32
}

// Stats are what became of a file's call frame information.
type Stats struct {
	Functions int // of both sections
	Damaged   int // of these, and what could not be read at all: not as the standard has it, or in a way not known here
	Rows      int // how many Rows gives
	Unknown   int // rows in functions, where no rule can say what is known
}

// uncovered is, while tables are built, the rule of code that nothing is said about. No other rule is this number.
const uncovered = wire.UnwindNone | 1<<31

// A table is rows by address, no two neighbours alike. Before its first row nothing is covered.
type table struct {
	rows []Row
	// full: there were more rows than may be.
	full bool
}

// maxRows bounds a table: the largest programs have one or two million.
const maxRows = 8 << 20

// add puts a row at the end. One of the same address is replaced.
func (t *table) add(addr uint64, rule uint32) {
	n := len(t.rows)
	if n > 0 && t.rows[n-1].Addr == addr {
		n--
		t.rows = t.rows[:n]
	}
	switch {
	case n > 0 && t.rows[n-1].Rule == rule, n == 0 && rule == uncovered:
	case n >= maxRows:
		t.full = true
	default:
		t.rows = append(t.rows, Row{addr, rule})
	}
}

// at gives the rule that holds at an address.
func (t *table) at(addr uint64) uint32 {
	if i := t.behind(addr); i > 0 {
		return t.rows[i-1].Rule
	}
	return uncovered
}

// next gives where the next rule begins to hold; the largest address where none does.
func (t *table) next(addr uint64) uint64 {
	if i := t.behind(addr); i < len(t.rows) {
		return t.rows[i].Addr
	}
	return ^uint64(0)
}

// behind gives the first row behind an address.
func (t *table) behind(addr uint64) int {
	i, found := slices.BinarySearchFunc(t.rows, addr, func(r Row, addr uint64) int { return cmp.Compare(r.Addr, addr) })
	if found {
		i++
	}
	return i
}

// A row takes some bytes of a section, and a function has some rows: about so many.
const (
	bytesOfRow     = 6
	rowsOfFunction = 16
)

// roomAbove is room for the rows of small tables that are laid over a large one, so that this is not copied.
const roomAbove = 512

// table runs the functions of a section in the order of their addresses. One that reaches into the next ends there.
func (s section) table(a *arch, code []elffile.CodeSection, stats *Stats) *table {
	functions := inCode(s.functions(a, stats), code)
	t := &table{rows: make([]Row, 0, min(len(s.data)/bytesOfRow, rowsOfFunction*len(functions))+roomAbove)}
	p := &program{arch: a, base: s.base, table: t}
	for i, f := range functions {
		p.limit = f.end
		if i+1 < len(functions) {
			p.limit = min(f.end, functions[i+1].begin)
		}
		if !p.function(s, f) {
			stats.Damaged++
		}
		t.add(p.limit, uncovered)
	}
	stats.Functions += len(functions)
	return t
}

// function makes the rows of one. From where it is damaged on, nothing is known.
func (p *program) function(s section, f function) bool {
	p.cursor = cursor{data: s.data, at: int(f.at), end: int(f.stop)}
	p.cie, p.state, p.loc, p.depth = f.cie, f.cie.initial, f.begin, 0
	if p.run() {
		return true
	}
	if p.loc < p.limit && p.table != nil {
		p.table.add(p.loc, wire.UnwindNone)
	}
	return false
}

// inCode leaves out the functions that do not begin in code: linkers leave entries of functions that they have removed,
// most of them at address 0. Of two that begin at one address, the first of the section is kept.
func inCode(functions []function, code []elffile.CodeSection) []function {
	kept, at := functions[:0], 0
	for _, f := range functions {
		for at < len(code) && code[at].End() <= f.begin {
			at++
		}
		if at == len(code) {
			break
		}
		if f.begin < code[at].Addr || len(kept) > 0 && kept[len(kept)-1].begin == f.begin {
			continue
		}
		f.end = min(f.end, code[at].End())
		kept = append(kept, f)
	}
	return kept
}

// over lays a table over another one, which holds only where the first covers nothing. The larger of the two is used
// up: where it has room, the rows are put into it.
func (t *table) over(under *table) *table {
	if len(under.rows) == 0 {
		return t
	}
	if len(t.rows) == 0 {
		return under
	}
	out := &table{full: t.full || under.full}
	a, b := t.rows, under.rows
	if len(a) > len(b) {
		a, out.rows = behindRoom(a, len(b))
	} else {
		b, out.rows = behindRoom(b, len(a))
	}
	upper, lower := uint32(uncovered), uint32(uncovered)
	for len(a)+len(b) > 0 {
		addr := ^uint64(0)
		if len(a) > 0 {
			addr = a[0].Addr
		}
		if len(b) > 0 {
			addr = min(addr, b[0].Addr)
		}
		a, upper = step(a, addr, upper)
		b, lower = step(b, addr, lower)
		rule := upper
		if rule == uncovered {
			rule = lower
		}
		out.add(addr, rule)
	}
	return out
}

// behindRoom puts rows behind room for n more, which is empty. Who reads them from the first on while no more than n
// others are read may write a row for each that was read.
func behindRoom(rows []Row, n int) (moved, empty []Row) {
	all := slices.Grow(rows, n)[:len(rows)+n]
	copy(all[n:], rows)
	return all[n:], all[:0]
}

// step passes by the row of an address, if it is the first one, and gives the rule from there on.
func step(rows []Row, addr uint64, rule uint32) ([]Row, uint32) {
	if len(rows) > 0 && rows[0].Addr == addr {
		return rows[1:], rows[0].Rule
	}
	return rows, rule
}

// finish makes the rows that are given away: code that nothing covers has no rule, and padding has that before it.
func (t *table) finish(between *gaps, stats *Stats) []Row {
	out := table{rows: t.rows[:0]}
	for i, r := range t.rows {
		if r.Rule == wire.UnwindNone || r.Rule == wire.UnwindUnfollowed {
			stats.Unknown++
		}
		if r.Rule == uncovered {
			if i+1 < len(t.rows) && between.padding(r.Addr, t.rows[i+1].Addr-r.Addr) {
				continue
			}
			r.Rule = wire.UnwindNone
		}
		out.add(r.Addr, r.Rule)
	}
	stats.Rows = len(out.rows)
	return out.rows
}

// maxPadding is how many bytes between two functions can be padding, which nothing runs. What is longer is taken for
// code.
const maxPadding = 16

// A gaps reads what lies between functions, by address.
type gaps struct {
	file *elffile.File
	// pads reports whether code is padding.
	pads func([]byte) bool
	// code are some bytes of the file's, from an address on.
	code []byte
	from uint64
}

// readAtOnce is how much code is read at a time.
const readAtOnce = 64 << 10

// padding reports whether a gap of some bytes is padding. Functions of assembly can lie there, too. What cannot be read
// is padding.
func (g *gaps) padding(addr, size uint64) bool {
	if size > maxPadding {
		return false
	}
	if g.file == nil {
		return true
	}
	if addr < g.from || addr+size > g.from+uint64(len(g.code)) {
		code, err := elffile.CodeInto(g.code, g.file, addr, readAtOnce)
		if err != nil || uint64(len(code)) < size {
			return true
		}
		g.code, g.from = code, addr
	}
	return g.pads(g.code[addr-g.from:][:size])
}

// prefixes are those of amd64 that make an instruction longer.
const prefixes = "\x66\x2e"

// nopSizes are how long the forms of amd64's nop of several bytes are, by their third byte.
var nopSizes = map[byte]int{0x00: 3, 0x40: 4, 0x44: 5, 0x80: 7, 0x84: 8}

// amd64Pads: padding is bytes that do nothing or trap, and forms of nop. Compilers put ud2 or hlt behind calls that do
// not return, and assemblers jump over much padding.
func amd64Pads(code []byte) bool {
	for len(code) > 0 {
		rest := bytes.TrimLeft(code, prefixes)
		size := 1
		switch {
		case len(rest) == 0 || rest[0] == 0xeb: // jmp
			return true
		case rest[0] == 0x90 || rest[0] == 0xcc || rest[0] == 0xf4 || rest[0] == 0x00:
		case bytes.HasPrefix(rest, []byte{0x0f, 0x0b}):
			size = 2
		case bytes.HasPrefix(rest, []byte{0x0f, 0x1f}) && len(rest) > 2 && nopSizes[rest[2]] > 0:
			size = nopSizes[rest[2]]
		default:
			return false
		}
		code = rest[min(size, len(rest)):]
	}
	return true
}

// arm64Pads: padding is nop, nothing, and the end of code that does not return (brk).
func arm64Pads(code []byte) bool {
	for ; len(code) >= 4; code = code[4:] {
		word := binary.LittleEndian.Uint32(code)
		if word != 0xd503201f && word != 0 && word>>21 != 0xd4200000>>21 {
			return false
		}
	}
	return true
}
