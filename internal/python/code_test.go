package python

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// A memory lies at an address.
type memory struct {
	at int64
	b  []byte
}

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off < m.at || off-m.at > int64(len(m.b)) {
		return 0, io.EOF
	}
	return bytes.NewReader(m.b).ReadAt(p, off-m.at)
}

// The objects of the code of a function of Python 3.12, at base.
const base = 0x7f00_0000_1000

func frame(identity, unit uint64) Frame {
	return Frame(wire.StackPython | 1<<wire.PythonVersionShift | identity<<wire.PythonIdentityShift |
		unit<<wire.PythonPlaceShift | base>>wire.PythonAlign&(1<<wire.PythonPlaceShift-1))
}

// identity is that of the code in a memory.
func identity(m memory) uint64 {
	h := heap{memory: m, objects: releases[12].object}
	return h.identity(m.b[:h.begin])
}

func object(name string, kind int, lines []byte) memory {
	m := memory{base, make([]byte, 0x1000)}
	put := func(at int, n uint64) { binary.LittleEndian.PutUint64(m.b[at:], n) }
	l := releases[12].object
	binary.LittleEndian.PutUint32(m.b[l.first:], 10)
	put(l.name, base+0x200)
	put(l.file, base+0x400)
	put(l.lines, base+0x800)
	text := func(at int, text string, kind int) {
		runes := []rune(text)
		put(at+lengthAt, uint64(len(runes)))
		begin, ascii := l.plain, uint32(1)
		if kind > 1 || len(runes) != len(text) {
			begin, ascii = l.wide, 0
		}
		binary.LittleEndian.PutUint32(m.b[at+stateAt:], uint32(kind)<<2|1<<5|ascii<<6)
		for i, r := range runes {
			var wide [4]byte
			binary.LittleEndian.PutUint32(wide[:], uint32(r))
			copy(m.b[at+begin+i*kind:], wide[:kind])
		}
	}
	text(0x200, name, kind)
	text(0x400, "/a/b.py", 1)
	put(0x800+lengthAt, uint64(len(lines)))
	copy(m.b[0x800+bytesAt:], lines)
	return m
}

// Names have characters of one, two and four bytes. Lines are those of a table with each kind of entry.
func TestCode(t *testing.T) {
	lines := []byte{
		0x80 | 15<<3,       // an instruction of no line
		0x80 | 0<<3 | 1, 0, // two on line 10
		0x80 | 11<<3, 0, 0, // one on line 11
		0x80 | 13<<3, 0x40 | 2, 2, // 65 lines on
		0x80 | 14<<3 | 2, 1<<1 | 1, 0, 0x40 | 1, 1, 0, // three a line before
	}
	for name, kind := range map[string]int{"f": 1, "größe": 1, "Ω": 2, "𝒳": 4} {
		m := object(name, kind, lines)
		c, err := Read(m, frame(identity(m), 1), base)
		if err != nil || c.Name != name || c.File != "/a/b.py" || c.First != 10 {
			t.Fatalf("%s: %+v, %v", name, c, err)
		}
		for place, want := range map[int]int{-1: 10, 0: 0, 1: 10, 2: 10, 3: 11, 4: 76, 5: 75, 7: 75, 8: 0, 1000: 0} {
			if got := c.Line(place); got != want {
				t.Errorf("instruction %d is on line %d, want %d", place, got, want)
			}
		}
	}
	for i, change := range map[int]byte{68: 1, 0x200 + 24: 1, 0x400 + 40 + 6: 'x', 0x400 + 16: 1, 136: 16} {
		m := object("f", 1, lines)
		f := frame(identity(m), 1)
		m.b[i] ^= change
		if c, err := Read(m, f, base); err == nil {
			t.Errorf("other code at the address is taken for it: %+v", c)
		}
	}
	m := object("f", 3, lines)
	if c, err := Read(m, frame(identity(m), 1), base); err == nil {
		t.Errorf("a string of no kind is %+v", c)
	}
	if n, known := frame(1, wire.PythonFarAway).Place(); known {
		t.Errorf("an instruction that is far away is %d", n)
	}
}

// A name that is too long ends with a mark.
//
// > Of a name with more than 1,024 characters these are shown, with `…` behind them.
func TestLongNames(t *testing.T) {
	for name, want := range map[string]string{"größer": "größ…", "groß": "groß"} {
		m := object(name, 1, nil)
		h := heap{memory: m, objects: releases[12].object}
		if got := h.text(base+0x200, 4); got != want || h.err != nil || mostName != 1024 {
			t.Errorf("%s: got %q, %v", name, got, h.err)
		}
	}
}

// Whatever lies in memory, what is read is bounded and ends.
func FuzzCode(f *testing.F) {
	f.Add(object("f", 1, []byte{0xf0, 1, 2, 3}).b, uint16(3))
	f.Add(object("Ω", 2, []byte{0x80 | 14<<3, 0x7f, 0x7f, 0x7f}).b, uint16(8000))
	f.Fuzz(func(t *testing.T, b []byte, unit uint16) {
		if len(b) < releases[12].object.begin {
			return
		}
		m := memory{base, b}
		w := frame(identity(m), uint64(unit)&wire.PythonFarAway)
		c, err := Read(m, w, base)
		if err != nil {
			return
		}
		if len(c.Name) > 4*mostName+3 || len(c.File) > 4*mostFile+3 || c.Name == "" {
			t.Errorf("a name of %d bytes and a file of %d", len(c.Name), len(c.File))
		}
		if place, known := w.Place(); known {
			c.Line(place)
		}
	})
}
