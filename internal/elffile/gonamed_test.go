package elffile

import (
	"os"
	"slices"
	"testing"
)

// What is read of Go's table in pieces is what the standard library reads of the whole of it, and takes less memory.
func TestGoNamed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{self, compileGo(t, "amd64"), compileGo(t, "amd64", "-ldflags=-s -w"), compileGo(t, "arm64"),
		compileGo(t, "amd64", "-buildmode=pie"), compileGo(t, "amd64", "-buildmode=pie", "-ldflags=-s -w"),
		compileGo(t, "386")}
	for i, path := range paths {
		whole, ok := open(t, path, Options{}).Golang()
		if !ok || len(whole.table) < 1000 {
			t.Fatalf("%d: %v", i, whole.err)
		}
		names := []string{"runtime.gopark", "runtime.goexit", "runtime.systemstack", "no.such"}
		names = append(names, whole.table[0].Name, whole.table[len(whole.table)-1].Name)
		f := open(t, path, Options{})
		before := allocated()
		got := GoNamed(f, names)
		took := allocated() - before
		if want := whole.Named(names); !slices.Equal(got, want) || len(got) < 4 {
			t.Errorf("%d: got %+v, want %+v", i, got, want)
		}
		if f.Is32 {
			continue // of which nothing is traced
		}
		if t.Logf("%d: %d KB", i, took>>10); took > 8<<20 || f.golangRan {
			t.Errorf("%d: %d KB were allocated for %d functions of %d", i, took>>10, len(got), len(whole.table))
		}
	}
}

// A table of Go that is damaged anywhere gives what the rest of it says, or nothing.
func TestGoNamedDamaged(t *testing.T) {
	image, err := os.ReadFile(compileGo(t, "amd64", "-ldflags=-s -w"))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/damaged"
	write(t, path, image)
	section := open(t, path, Options{}).goTableSection()
	for word := uint64(0); word < 9; word++ {
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			damaged := slices.Clone(image)
			for i := range uint64(8) {
				damaged[section.Offset+8*word+i] = b
			}
			write(t, path, damaged)
			for _, fn := range GoNamed(open(t, path, Options{}), []string{"runtime.gopark"}) {
				if fn.Size > 1<<32 {
					t.Errorf("word %d is all %#x: %+v", word, b, fn)
				}
			}
			last, n := uint64(0), 0
			frames, err := ReadGoFrames(open(t, path, Options{}))
			if frames == nil {
				t.Fatal(err)
			}
			_ = frames.Each(func(f GoFrame) {
				if n++; f.Begin < last || f.End <= f.Begin {
					t.Fatalf("word %d is all %#x: %+v behind %#x", word, b, f, last)
				}
				last = f.End
			})
			if n > maxGoFrames {
				t.Errorf("word %d is all %#x: %d frames", word, b, n)
			}
		}
	}
}
