package cfi

import (
	"cmp"
	"slices"
)

// The records of .eh_frame and .debug_frame: CIE and FDE.
//
// A section is a row of records, each with its length in front; one of length 0 is passed by (it marks an end, and
// linkers leave it between the parts of what they join). A CIE has what several functions share, an FDE is one
// function. Lengths of 64 bits come behind 0xffffffff.
//
//	CIE  length | id | version 1 | augmentation, a string | … | instructions
//	FDE  length | CIE | begin | size | … | instructions
//
// The id of a CIE is 0 in .eh_frame, of 4 bytes, and an FDE tells there how far back from that word its CIE begins. In
// .debug_frame the id is all ones, of 8 bytes where lengths are, and an FDE has the offset of its CIE in the section.

// section is the bytes of .eh_frame or .debug_frame.
type section struct {
	data []byte
	base uint64 // the address at which the first byte is loaded
	// debug: it is .debug_frame.
	debug bool
}

// record is one of a section: body is behind its id, or the offset of its CIE.
type record struct {
	at, body, end int
	isCIE         bool
	cie           int // where the CIE of an FDE begins
}

// records goes through a section. It ends early, and says so, where a record does not lie within the section: what
// follows cannot be found then.
func (s section) records(each func(record)) (whole bool) {
	for at := 0; at < len(s.data); {
		r, ok := s.record(at)
		if !ok {
			return false
		}
		if r.body < r.end {
			each(r)
		}
		at = r.end
	}
	return true
}

func (s section) record(at int) (record, bool) {
	c := cursor{data: s.data, at: at, end: len(s.data)}
	length, wide := uint64(c.u32()), false
	if length == 0xffffffff {
		length, wide = c.u64(), s.debug
	}
	if c.bad || length > uint64(c.end-c.at) {
		return record{}, false
	}
	r := record{at: at, end: c.at + int(length)}
	idAt := c.at
	c.end = r.end
	id, own := uint64(0), uint64(0)
	switch {
	case wide:
		id, own = c.u64(), ^uint64(0)
	case s.debug:
		id, own = uint64(c.u32()), 0xffffffff
	default:
		id = uint64(c.u32())
	}
	r.body, r.isCIE, r.cie = c.at, id == own, -1 // a record without an id has no body
	if !s.debug {
		id = uint64(idAt) - id
	}
	if id < uint64(len(s.data)) {
		r.cie = int(id)
	}
	return r, true
}

// cie is what functions share.
type cie struct {
	code uint64 // the unit in which instructions advance
	data int64  // the unit of offsets
	// encoding says how addresses are written.
	encoding byte
	// augmented: what the augmentation stands for has its length in front, in the FDE too.
	augmented bool
	// elsewhere: the return address is in a register that calls do not use.
	elsewhere bool
	// golang: Go's linker has written it.
	golang bool
	// signal: the frame is one that the kernel has made for a signal.
	signal bool
	// initial is the state in which each function begins.
	initial places
}

// maxUnit bounds the units: those of arches are 1 to 8.
const maxUnit = 64

// readCIE reads one; nil of one that is damaged, or written in a way that is refused.
func (s section) readCIE(r record, a *arch) *cie {
	c := cursor{data: s.data, at: r.body, end: r.end}
	out := &cie{}
	version, augmentation := c.u8(), c.text()
	if augmentation == "eh" { // of GCC 2: the address of a table
		c.u64()
		augmentation = ""
	}
	switch version {
	case 1, 3:
	case 4:
		if address, segment := c.u8(), c.u8(); address != 8 || segment != 0 {
			return nil
		}
	default:
		return nil
	}
	out.code, out.data = c.uleb(), c.sleb()
	returns := uint64(0)
	if version == 1 {
		returns = uint64(c.u8())
	} else {
		returns = c.uleb()
	}
	out.elsewhere, out.golang = returns != a.pc, s.debug && out.data == goData
	if out.code > maxUnit || out.data > maxUnit || out.data < -maxUnit || !out.augment(&c, augmentation) {
		return nil
	}
	p := &program{cursor: c, cie: out, arch: a, base: s.base}
	if !p.run() {
		return nil
	}
	out.initial = p.state
	return out
}

// augment goes through what the letters of the augmentation stand for.
func (out *cie) augment(c *cursor, letters string) bool {
	if letters == "" {
		return !c.bad
	}
	if letters[0] != 'z' {
		return false
	}
	out.augmented = true
	values := c.block()
	for _, letter := range letters[1:] {
		switch letter {
		case 'R':
			out.encoding = values.u8()
		case 'L': // how the table of exceptions is written
			values.u8()
		case 'P': // a function's address, and before it how it is written
			if _, ok := values.number(values.u8()); !ok {
				return false
			}
		case 'S':
			out.signal = true
		case 'B', 'G': // of arm64: return addresses are signed by the second key; the stack is tagged
		default:
			return false
		}
	}
	return !c.bad && !values.bad
}

// function is where one lies, and its instructions.
type function struct {
	begin, end uint64
	at, stop   int32 // in the section, which is shorter than 2 GiB
	cie        *cie
}

// functions gives those of a section by address.
func (s section) functions(a *arch, stats *Stats) (out []function) {
	cies := map[int]*cie{}
	count := 0
	whole := s.records(func(r record) {
		if r.isCIE {
			cies[r.at] = s.readCIE(r, a)
		} else {
			count++
		}
	})
	if !whole {
		stats.Damaged++
	}
	out = make([]function, 0, count)
	last, of := -1, (*cie)(nil)
	s.records(func(r record) {
		if r.isCIE {
			return
		}
		if r.cie != last {
			last, of = r.cie, cies[r.cie]
		}
		if f, ok := s.readFDE(r, of); ok {
			out = append(out, f)
		} else {
			stats.Damaged++
		}
	})
	if !slices.IsSortedFunc(out, byPlace) {
		slices.SortFunc(out, byPlace)
	}
	return out
}

func byPlace(a, b function) int {
	return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.at, b.at))
}

// readFDE reads one; false where it cannot be used.
func (s section) readFDE(r record, of *cie) (f function, ok bool) {
	if of == nil {
		return f, false
	}
	c := cursor{data: s.data, at: r.body, end: r.end}
	begin, ok := c.address(of.encoding, s.base)
	size, _ := c.number(of.encoding)
	if of.augmented {
		c.block()
	}
	f = function{begin: begin, end: begin + size, at: int32(c.at), stop: int32(r.end), cie: of}
	return f, ok && !c.bad && f.end > f.begin
}
