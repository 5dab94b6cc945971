package unwind

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/wire"
)

// How a walk finds a file that no table has yet.

// A fileKey is what the kernel knows of a file that is mapped (package wire).
type fileKey [wire.UnwindFileKey]byte

// A Stamped is a file of which it is known what the kernel knows of it.
type Stamped interface {
	// Stamp gives the name of its device, as /proc/PID/maps has it, its inode and size, and when it was changed.
	Stamp() (device string, inode uint64, size int64, changed time.Time)
}

// keyOf is the key of a file by its id; false where it is not known.
func keyOf(id any) (key fileKey, ok bool) {
	if v, ok := id.(vdso); ok {
		binary.NativeEndian.PutUint64(key[wire.UnwindFileSize:], v.size)
		return key, true
	}
	of, ok := id.(Stamped)
	if !ok {
		return key, false
	}
	device, inode, size, changed := of.Stamp()
	major, minor, _ := strings.Cut(device, ":")
	high, err := strconv.ParseUint(major, 16, 12)
	low, errLow := strconv.ParseUint(minor, 16, 20)
	if err != nil || errLow != nil {
		return key, false
	}
	order := binary.NativeEndian
	order.PutUint32(key[wire.UnwindFileDevice:], uint32(high<<20|low))
	order.PutUint32(key[wire.UnwindFileNano:], uint32(changed.Nanosecond()))
	order.PutUint64(key[wire.UnwindFileSeconds:], uint64(changed.Unix()))
	order.PutUint64(key[wire.UnwindFileInode:], inode)
	order.PutUint64(key[wire.UnwindFileSize:], uint64(size))
	return key, true
}

// foundAs is what walks are told of a file that they find by its key; nil for one with rules for several segments, or
// none.
func (f *packedFile) foundAs() []byte {
	if f.chunk == 0 || len(f.code) != 1 || f.before != 0 {
		return nil
	}
	s := f.code[0]
	place := pageOf(s.Offset)
	b := make([]byte, wire.UnwindFileValue)
	order := binary.NativeEndian
	order.PutUint64(b[wire.UnwindFilePlace:], place)
	order.PutUint64(b[wire.UnwindFileBytes:], f.bytes(s))
	order.PutUint64(b[wire.UnwindFileDistance:], place-pageOf(s.Addr)+f.first)
	order.PutUint32(b[wire.UnwindFileChunk:], f.chunk)
	if f.python != nil {
		order.PutUint32(b[wire.UnwindFilePython:], 1)
	}
	return b
}

// tellFound lets walks find a file, and forgetFound not any more.
func (k *Keeper) tellFound(f *file) {
	key, ok := keyOf(f.id)
	if value := f.foundAs(); ok && value != nil {
		err := k.kernel.file(key, value)
		f.told = err == nil
		if !errors.Is(err, syscall.E2BIG) { // else tables have it alone
			k.check(err)
		}
	}
}

// forgetFound is said at tellFound.
func (k *Keeper) forgetFound(f *file) {
	if key, ok := keyOf(f.id); ok && f.run != nil {
		k.check(k.kernel.forgetFile(key))
	}
}
