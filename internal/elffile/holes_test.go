package elffile

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// A file claims sections of any size: what it does not hold is not read.
func TestHoles(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	sizes := []uint64{1 << 20, 1 << 34, 1 << 40}
	tried.Many(t, "%d files", len(sizes))
	for _, size := range sizes {
		file := filepath.Join(t.TempDir(), "sparse")
		data := sparse(self, size)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, int64(size)+int64(len(data))+1<<20); err != nil {
			t.Skipf("needs a file system with files of %d bytes: %v", size, err)
		}
		before := allocated()
		f, err := Open(file, Options{})
		if err == nil {
			_, err = f.Functions()
			f.Variables()
			_ = f.Close()
		}
		if err == nil || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTruncated) &&
			!errors.Is(err, ErrStripped) {
			t.Errorf("sections of %d bytes: %v", size, err)
		}
		if n := allocated() - before; n > 64<<20 {
			t.Errorf("sections of %d bytes: took %d bytes of memory", size, n)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// sparse is the head of a program whose section headers, all of a size, stand behind the
// head, with their bytes behind the end.
func sparse(program []byte, size uint64) []byte {
	const headers, entry, count = 4096, 64, 16
	out := make([]byte, headers+entry*count)
	copy(out, program[:64])
	order := binary.LittleEndian
	order.PutUint64(out[32:], 0)       // e_phoff
	order.PutUint16(out[56:], 0)       // e_phnum
	order.PutUint64(out[40:], headers) // e_shoff
	order.PutUint16(out[58:], entry)
	order.PutUint16(out[60:], count)
	order.PutUint16(out[62:], 1) // e_shstrndx
	for i := range uint64(count) {
		at := out[headers+entry*i:]
		order.PutUint32(at[4:], []uint32{0, 3, 2, 11, 7, 7}[i%6]) // STRTAB, SYMTAB, DYNSYM, NOTE
		order.PutUint64(at[24:], uint64(len(out)))
		order.PutUint64(at[32:], size)
		order.PutUint32(at[40:], 1)
		order.PutUint64(at[56:], 24)
	}
	return out
}

// Programs that were changed at random are errors, and take no more memory than they have reason to.
func TestMutated(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	const short, long = 300, 5000
	tried.Many(t, "%d, in the long form %d", short, long)
	rounds := short
	if os.Getenv("STARTRACE_LONG") != "" {
		rounds = long
	}
	small := sparse(program, 100)
	file := filepath.Join(t.TempDir(), "mutated")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rounds {
		data := append([]byte(nil), small...)
		for range 1 + r.IntN(20) {
			at := r.IntN(len(data))
			if r.IntN(2) == 0 { // the headers
				at = []int{0, 4096}[r.IntN(2)] + r.IntN(64)
			}
			data[at] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.IntN(256))}[r.IntN(6)]
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := allocated()
		if f, err := Open(file, Options{}); err == nil {
			_, _ = f.Functions()
			_, _ = f.Libraries()
			_, _ = f.Notes(".note.stapsdt")
			f.Variables()
			_ = f.Close()
		}
		if n := allocated() - before; n > 128<<20 {
			t.Errorf("round %d took %d bytes of memory", i, n)
		}
	}
}
