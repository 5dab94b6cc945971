package value

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"go.starlark.net/starlark"
)

// Where the marks of strings are kept, by their place in memory.

// A note is what is known of a string that lies in a buffer of its own. It holds
// the buffer weakly: it is gone with the last string in it, and another buffer at
// the same address has nothing to do with it.
type note struct {
	begin, end uintptr // of the string
	buffer     weak.Pointer[byte]
	marks      marks
}

// noted are the notes of this process.
var noted notes

// cutStrings is how many notes have cuts, also of gone strings: most runs have none.
var cutStrings atomic.Int64

// notes has notes by the pages in which their strings lie.
type notes struct {
	mu    sync.Mutex
	pages map[uintptr][]*note
	count int64 // also of gone strings
	sweep int64 // the count at which gone strings are looked for
}

const pageBits = 12

// note makes a string of which m is known. The buffer has a byte before the string and
// more behind it, so that no other string begins or ends where it does.
func (n *notes) note(text string, m marks) starlark.String {
	buffer := make([]byte, 0, 1+len(text)+len(cutMark))
	buffer = append(append(append(buffer, 0), text...), cutMark...)
	begin := &buffer[1]
	n.add(&note{uintptr(unsafe.Pointer(begin)), uintptr(unsafe.Pointer(begin)) + uintptr(len(text)),
		weak.Make(&buffer[0]), m})
	return starlark.String(unsafe.String(begin, len(text)))
}

func (n *notes) add(one *note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pages == nil {
		n.pages, n.sweep = make(map[uintptr][]*note), 1024
	}
	for page := one.begin >> pageBits; page <= one.end>>pageBits; page++ {
		n.pages[page] = append(n.pages[page], one)
	}
	if len(one.marks.cuts) > 0 {
		cutStrings.Add(1)
	}
	if n.count++; n.count >= n.sweep {
		n.forget()
	}
}

// forget drops the notes of strings that are gone.
func (n *notes) forget() {
	left, cut := map[*note]bool{}, int64(0)
	for page, list := range n.pages {
		list = slices.DeleteFunc(list, func(one *note) bool { return one.buffer.Value() == nil })
		if n.pages[page] = list; len(list) == 0 {
			delete(n.pages, page)
		}
		for _, one := range list {
			if !left[one] && len(one.marks.cuts) > 0 {
				cut++
			}
			left[one] = true
		}
	}
	cutStrings.Store(cut)
	n.count = int64(len(left))
	n.sweep = max(1024, 2*n.count)
}

// of gives what is known of s, a string or a part of one.
func (n *notes) of(s string) marks {
	begin := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	end := begin + uintptr(len(s))
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.pages[begin>>pageBits] {
		if one.begin <= begin && end <= one.end && one.buffer.Value() != nil {
			return one.marks.part(int(begin-one.begin), len(s))
		}
	}
	return marks{}
}

// part is what is known of n bytes at an offset. A cut where the part begins is that of
// what was before it, if anything was.
func (m marks) part(at, n int) marks {
	first := at
	if at > 0 && n > 0 {
		first++
	}
	return marks{cuts: between(m.cuts, first, at+n+1, at), all: m.all, own: between(m.own, at, at+n, at)}
}

// between are the offsets from first to before end, as distances from at.
func between(offsets []int, first, end, at int) []int {
	i, _ := slices.BinarySearch(offsets, first)
	j, _ := slices.BinarySearch(offsets, end)
	if offsets = offsets[i:j:j]; at == 0 || len(offsets) == 0 {
		return offsets
	}
	out := make([]int, len(offsets))
	for i, off := range offsets {
		out[i] = off - at
	}
	return out
}
