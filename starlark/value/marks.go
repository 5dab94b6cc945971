package value

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"go.starlark.net/starlark"
)

// marks are what a string knows of its own bytes besides what they are: where it
// was cut, and which of its line feeds and tabs came from outside. Both are known
// by addresses, so that all parts of a string that share its memory know them.
type marks struct {
	cuts   []int // before these offsets there was more
	shapes []int // at these offsets are line feeds and tabs that were traced
}

// shaping are the characters by which scripts shape their output. Traced ones are
// escaped where they are printed, lest the name of a file forges a line.
const shaping = "\n\t"

// tracedShapes are the places of all traced line feeds and tabs of this process.
var tracedShapes places

var escapeShape = strings.NewReplacer("\n", `\n`, "\t", `\t`)

func (m marks) none() bool { return len(m.cuts) == 0 && len(m.shapes) == 0 }

// noMarks reports whether there are none at all, which is quickly known.
func noMarks() bool { return cuts.count.Load() == 0 && tracedShapes.count.Load() == 0 }

// marksOf gives what is known of s.
func marksOf(s string) marks { return marks{cutsOf(s), shapesOf(s)} }

func hasMarks(s string) bool { return !marksOf(s).none() }

// shapesOf gives the offsets of the line feeds and tabs in s that were traced.
func shapesOf(s string) []int {
	if tracedShapes.count.Load() == 0 || !strings.ContainsAny(s, shaping) {
		return nil
	}
	begin := addressOf(s)
	return tracedShapes.within(begin, begin+uintptr(len(s)-1))
}

// allShapes are the offsets of all line feeds and tabs in s.
func allShapes(s string) (offsets []int) {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\t' {
			offsets = append(offsets, i)
		}
	}
	return offsets
}

// plus is what is known of a string with another one, of which m2 is known, at an
// offset in it.
func (m marks) plus(m2 marks, at int) marks {
	return marks{appendShifted(m.cuts, m2.cuts, at), appendShifted(m.shapes, m2.shapes, at)}
}

// within are the marks of the first n bytes.
func (m marks) within(n int) marks {
	return marks{before(m.cuts, n+1), before(m.shapes, n)}
}

func before(offsets []int, end int) []int {
	i, _ := slices.BinarySearch(offsets, end)
	return offsets[:i:i]
}

func appendShifted(offsets, more []int, by int) []int {
	for _, off := range more {
		offsets = append(offsets, by+off)
	}
	return offsets
}

// shown is s, of which m is known, as it goes to a screen.
func (m marks) shown(s string) string {
	if m.none() {
		return s
	}
	out := make([]byte, 0, len(s)+len(cutMark)*len(m.cuts)+len(m.shapes))
	for i := range len(s) + 1 {
		if len(m.cuts) > 0 && m.cuts[0] == i {
			out, m.cuts = append(out, cutMark...), m.cuts[1:]
		}
		switch {
		case i == len(s):
		case len(m.shapes) > 0 && m.shapes[0] == i:
			out, m.shapes = append(out, escapeShape.Replace(s[i:i+1])...), m.shapes[1:]
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// marked makes a string of which m is known.
func marked(text string, m marks) starlark.String {
	if m.none() {
		return starlark.String(text)
	}
	buffer := make([]byte, 0, 1+len(text)+len(cutMark))
	buffer = append(append(append(buffer, 0), text...), cutMark...)
	begin, of := &buffer[1], weak.Make(&buffer[0])
	cuts.add(of, uintptr(unsafe.Pointer(begin)), m.cuts)
	tracedShapes.add(of, uintptr(unsafe.Pointer(begin)), m.shapes)
	return starlark.String(unsafe.String(begin, len(text)))
}

func addressOf(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }

// places knows addresses, by the page in which they lie. An entry holds the
// buffer of its string weakly: it is gone with the last string in it, and
// another buffer at the same address has nothing to do with it.
type places struct {
	count atomic.Int64 // of entries, also of gone buffers
	mu    sync.Mutex
	pages map[uintptr][]spot
	sweep int64 // the count at which gone buffers are looked for
}

type spot struct {
	at     uintptr
	buffer weak.Pointer[byte]
}

const pageBits = 12

func (p *places) add(buffer weak.Pointer[byte], begin uintptr, offsets []int) {
	if len(offsets) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages, p.sweep = make(map[uintptr][]spot), 1024
	}
	for _, off := range offsets {
		at := begin + uintptr(off)
		p.pages[at>>pageBits] = append(p.pages[at>>pageBits], spot{at, buffer})
	}
	if p.count.Add(int64(len(offsets))) >= p.sweep {
		p.forget()
	}
}

// forget drops the entries of buffers that are gone.
func (p *places) forget() {
	var left int64
	for page, list := range p.pages {
		list = slices.DeleteFunc(list, func(c spot) bool { return c.buffer.Value() == nil })
		if left += int64(len(list)); len(list) == 0 {
			delete(p.pages, page)
		} else {
			p.pages[page] = list
		}
	}
	p.count.Store(left)
	p.sweep = max(1024, 2*left)
}

// within gives the places from begin to end, in order, as distances from begin.
func (p *places) within(begin, end uintptr) (offsets []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page := begin >> pageBits; page <= end>>pageBits; page++ {
		for _, c := range p.pages[page] {
			if begin <= c.at && c.at <= end && c.buffer.Value() != nil {
				offsets = append(offsets, int(c.at-begin))
			}
		}
	}
	slices.Sort(offsets)
	return slices.Compact(offsets)
}
