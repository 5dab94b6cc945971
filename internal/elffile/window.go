package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Large sections read in pieces, and one symbol found without reading all.

// A window gives bytes of a large section that is read from its begin to its end.
type window struct {
	from io.ReaderAt
	size uint64
	// read are bytes from at on.
	at   uint64
	read []byte
}

const windowSize = 64 << 10

// bytes gives n bytes at an offset, windowSize at most, until it is called again.
func (w *window) bytes(at, n uint64) ([]byte, error) {
	if at > w.size || n > w.size-at {
		return nil, fmt.Errorf("%w: %d bytes at %d of %d", ErrMalformed, n, at, w.size)
	}
	if at < w.at || at+n > w.at+uint64(len(w.read)) {
		if w.read == nil {
			w.read = make([]byte, windowSize)
		}
		w.at, w.read = at, w.read[:min(windowSize, w.size-at)]
		if _, err := w.from.ReadAt(w.read, int64(at)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return w.read[at-w.at:][:n], nil
}

// places are where names stand, as offsets from the begin of all names, each of which ends with a NUL.
func (w *window) places(names []string, begin, end uint64) (map[uint32]string, error) {
	out := map[uint32]string{}
	var all, rest []byte // rest is a name that goes on in the next piece
	for at := begin; at < end; {
		piece, err := w.bytes(at, min(windowSize, end-at))
		if err != nil {
			return nil, err
		}
		start := at - uint64(len(rest)) - begin // of the first name
		at += uint64(len(piece))
		all = append(append(all[:0], rest...), piece...)
		for rest = all; ; {
			n := bytes.IndexByte(rest, 0)
			if n < 0 {
				break
			}
			if i := slices.IndexFunc(names, func(s string) bool { return s == string(rest[:n]) }); i >= 0 {
				out[uint32(start)] = names[i]
			}
			start, rest = start+uint64(n)+1, rest[n+1:]
		}
		if len(rest) > maxLongName {
			return nil, fmt.Errorf("%w: a name without an end", ErrMalformed)
		}
	}
	return out, nil
}

// maxLongName bounds a name: those of instances of types have some thousand bytes.
const maxLongName = 1 << 20

// symbolNamed gives the value of a symbol of .symtab, without reading the others; not ok: there is none whose name
// stands for itself.
func symbolNamed(f *File, name string) (value uint64, ok bool) {
	table := f.elf.SectionByType(elf.SHT_SYMTAB)
	if table == nil || f.Is32 || int(table.Link) >= len(f.elf.Sections) ||
		table.Flags&elf.SHF_COMPRESSED != 0 {
		return 0, false
	}
	texts := f.elf.Sections[table.Link]
	at, err := (&window{from: texts, size: texts.Size}).places([]string{name}, 0, texts.Size)
	if err != nil || len(at) == 0 || texts.Type != elf.SHT_STRTAB {
		return 0, false
	}
	w := &window{from: table, size: table.Size}
	for off := uint64(0); ; off += elf.Sym64Size {
		b, err := w.bytes(off, elf.Sym64Size)
		if err != nil {
			return 0, false
		}
		if at[f.elf.ByteOrder.Uint32(b)] == name {
			return f.elf.ByteOrder.Uint64(b[8:]), true // after name, info, other and section
		}
	}
}
