package dwarfinfo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is what is said of debug information that does not keep to the standard.
var ErrDamaged = errors.New("damaged debug information")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A Section is one of the file's sections, unpacked. The zero Section is one that the file has not.
type Section struct {
	// Reader gives the bytes, from offset 0 of the section on.
	Reader io.ReaderAt
	// Size is their number.
	Size int64
}

// maxPiece bounds what is read at a time: a unit, a table of abbreviations.
const maxPiece = 256 << 20

// inMemory is a Reader whose bytes need not be copied, as it has all of them.
type inMemory interface {
	Piece(off, n int64) []byte
}

// Bytes reads n bytes at an offset, which stay as they are. What does not lie in the section is damaged.
func (s *Section) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off || n > maxPiece {
		return nil, damaged("%d bytes at %d of a section of %d", n, off, s.Size)
	}
	if all, ok := s.Reader.(inMemory); ok {
		return all.Piece(off, n), nil
	}
	b := make([]byte, n)
	if n == 0 {
		return b, nil
	}
	if _, err := s.Reader.ReadAt(b, off); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return b, nil
}

// maxName bounds a name: those of templates of C++ have some thousand bytes.
const maxName = 64 << 10

// text reads a text up to its NUL.
func (s *Section) text(off int64) (string, error) {
	var out []byte
	for n := int64(64); len(out) < maxName; n = 1024 {
		if n = min(n, s.Size-off); n <= 0 {
			break
		}
		b, err := s.Bytes(off, n)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(append(out, b[:end]...)), nil
		}
		out = append(out, b...)
		off += n
	}
	return "", damaged("a text without an end")
}

// Lines gives the section of the tables of lines.
func (d *Data) Lines() (*Section, error) { return d.line() }

// LineTexts gives the sections that tables of lines have the names of their files in; nothing where they have them
// themselves, before DWARF 5.
func (d *Data) LineTexts() (str, lineStr []byte, err error) {
	if lineStr, err = d.lineStr.Bytes(0, d.lineStr.Size); err != nil {
		return nil, nil, err
	}
	if d.lineStr.Size == 0 && d.str.Size <= maxPiece {
		str, err = d.str.Bytes(0, d.str.Size)
	}
	return str, lineStr, err
}
