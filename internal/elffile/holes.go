package elffile

import (
	"fmt"
	"io"
	"os"
)

// Files with long holes are read only where they hold something.

// maxHole is the longest hole that is read. No table of a real file has as many zeros one
// after another, and whoever makes a file can claim any size of what it does not hold.
const maxHole = 64 << 10

// mostHoles bounds how many holes of a file are looked for.
const mostHoles = 4096

// The words of lseek(2) for files with holes, since Linux 3.1 (include/uapi/linux/fs.h).
const (
	seekData = 3
	seekHole = 4
)

// A held reads a file as far as it holds something: what lies in a long hole is an error
// and no zeros. So whatever is read is bounded by what the file takes on its disk.
type held struct {
	file  *os.File
	holes []hole // the long ones, ascending
}

// A hole is a part of a file that nothing was written to.
type hole struct {
	from, to int64 // offsets in the file
}

// heldBy looks for the holes of a file. A file system that does not know holes says that all
// is data.
func heldBy(f *os.File, size int64) (io.ReaderAt, error) {
	h := &held{file: f}
	for at, n := int64(0), 0; at < size; n++ {
		from, err := f.Seek(at, seekHole)
		if err != nil || from >= size {
			break
		}
		to, err := f.Seek(from, seekData)
		if err != nil {
			to = size // the hole reaches to the end
		}
		if to-from > maxHole {
			h.holes = append(h.holes, hole{from, to})
		}
		if at = to; n == mostHoles {
			return nil, fmt.Errorf("%w: more than %d holes", ErrMalformed, mostHoles)
		}
	}
	if len(h.holes) == 0 {
		return f, nil
	}
	return h, nil
}

// ReadAt reads what does not touch a long hole.
func (h *held) ReadAt(b []byte, off int64) (int, error) {
	for _, hole := range h.holes {
		if off < hole.to && off+int64(len(b)) > hole.from {
			return 0, fmt.Errorf("%w at %d", errHole, hole.from)
		}
	}
	return h.file.ReadAt(b, off)
}
