package elffile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/startrace/startrace/internal/naming"
)

// tiny is a stripped-down ELF file: code, a symbol table and a build id, of
// testdata/tiny.s.
func tiny(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/tiny.elf")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTiny(t *testing.T) {
	b := tiny(t)
	f, err := Read("tiny.elf", bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fn := lookup(t, f, "entry"); fn.Size != 6 || b[fn.Offset+5] != 0xc3 {
		t.Errorf("got %+v", fn)
	}
	if f.BuildID != "0011223344" {
		t.Errorf("the build id is %q", f.BuildID)
	}
}

// Every file that was cut is an error.
func TestEveryPrefix(t *testing.T) {
	b := tiny(t)
	for n := range b {
		_, err := Read("tiny.elf", bytes.NewReader(b[:n]), int64(n), Options{})
		if !errors.Is(err, ErrTruncated) && !(n == 0 && errors.Is(err, ErrNotELF)) {
			t.Errorf("%d bytes of %d: %v", n, len(b), err)
		}
	}
}

// No change of a byte, and none of four, makes anything panic.
func FuzzFile(f *testing.F) {
	f.Add(tiny(f))
	glob, err := naming.Compile("*e*")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Read("fuzz", bytes.NewReader(b), int64(len(b)), Options{DebugDirs: []string{}})
		if err != nil {
			return
		}
		list, err := file.Functions()
		if (err == nil) != (len(list) > 0) {
			t.Errorf("%d functions, %v", len(list), err)
		}
		for _, fn := range list {
			if fn.Offset >= uint64(len(b)) {
				t.Errorf("%+v lies outside of %d bytes", fn, len(b))
			}
			if _, err := file.Code(fn.Addr, fn.Size); err != nil {
				t.Errorf("%+v: %v", fn, err)
			}
		}
		GoNamed(file, []string{"main.main", ""})
		file.Golang()
		if _, err := file.Find(glob); (err == nil) != (len(list) > 0) {
			t.Error(err)
		}
	})
}

func FuzzNotes(f *testing.F) {
	f.Add([]byte("\x04\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00GNU\x00\x01\x02\x03\x04\x05\x00\x00\x00"), uint64(4))
	f.Fuzz(func(t *testing.T, data []byte, align uint64) {
		size := 0
		for note := range Notes(data, binary.LittleEndian, align) {
			size += 12 + len(note.Desc)
		}
		if size > len(data) {
			t.Errorf("the notes of %d bytes have %d", len(data), size)
		}
	})
}
