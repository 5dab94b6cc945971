package value

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"go.starlark.net/starlark"
)

// A string that a kernel half read and that was longer than its room is the
// bytes that were read, to scripts: its length, ==, `in`, hashes and keys are
// those of these bytes. That it was cut is only printed, as a mark.
//
// A starlark.String has no place to say so, and a type of our own would be no
// string to the interpreter's builtins (join, sorted, a dict's keys). So it is
// known by where it lies: the place in memory behind the last byte that was
// read. A part of a string shares its memory: s[3:] of one that was cut ends in
// the same place, and s[:3] does not. What is copied (JSON and back, a text
// that a script writes itself) knows nothing. What a script puts together by +,
// % and join gets new places (see Joined).
//
//	"/usr/share/do" read of "/usr/share/doc/x", in a buffer of its own:
//
//	NUL  / u s r / s h a r e / d o  … (three bytes)
//	     ^ s                        ^ the place: within the buffer, whatever lies behind it

// cutMark is printed where a string was cut.
const cutMark = "…"

// cuts are the places of all strings of this process.
var cuts places

// places knows the places where strings were cut, by the page in which they
// lie. An entry holds its buffer weakly: it is gone with its last string, and
// another buffer at the same address has nothing to do with it.
type places struct {
	count atomic.Int64 // of entries, also of gone buffers
	mu    sync.Mutex
	pages map[uintptr][]cutPlace
	sweep int64 // the count at which gone buffers are looked for
}

type cutPlace struct {
	at     uintptr
	buffer weak.Pointer[byte]
}

const pageBits = 12

// Cut makes the string of b that knows that there was more.
func Cut(b []byte) starlark.String { return marked(string(b), []int{len(b)}) }

// marked makes a string that was cut before each of the offsets, none of which
// is beyond its end.
func marked(text string, offsets []int) starlark.String {
	if len(offsets) == 0 {
		return starlark.String(text)
	}
	buffer := make([]byte, 0, 1+len(text)+len(cutMark))
	buffer = append(append(append(buffer, 0), text...), cutMark...)
	begin := &buffer[1]
	cuts.add(weak.Make(&buffer[0]), uintptr(unsafe.Pointer(begin)), offsets)
	return starlark.String(unsafe.String(begin, len(text)))
}

func (p *places) add(buffer weak.Pointer[byte], begin uintptr, offsets []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages, p.sweep = make(map[uintptr][]cutPlace), 1024
	}
	for _, off := range offsets {
		at := begin + uintptr(off)
		p.pages[at>>pageBits] = append(p.pages[at>>pageBits], cutPlace{at, buffer})
	}
	if p.count.Add(int64(len(offsets))) >= p.sweep {
		p.forget()
	}
}

// forget drops the entries of buffers that are gone.
func (p *places) forget() {
	var left int64
	for page, list := range p.pages {
		list = slices.DeleteFunc(list, func(c cutPlace) bool { return c.buffer.Value() == nil })
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

// cutsOf gives the offsets in s before which it was cut; len(s) is its end.
func cutsOf(s string) []int {
	if cuts.count.Load() == 0 {
		return nil
	}
	begin := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	offsets := cuts.within(begin, begin+uintptr(len(s)))
	if len(s) > 0 && len(offsets) > 0 && offsets[0] == 0 {
		return offsets[1:] // that of a string that ends where s begins
	}
	return offsets
}

// IsCut reports whether there was more behind the last byte of s.
func IsCut(s string) bool {
	offsets := cutsOf(s)
	return len(offsets) > 0 && offsets[len(offsets)-1] == len(s)
}

// Printed gives s with a mark wherever it was cut, as people see it.
func Printed(s string) string {
	offsets := cutsOf(s)
	if len(offsets) == 0 {
		return s
	}
	out := make([]byte, 0, len(s)+len(cutMark)*len(offsets))
	from := 0
	for _, at := range offsets {
		out = append(append(out, s[from:at]...), cutMark...)
		from = at
	}
	return string(append(out, s[from:]...))
}
