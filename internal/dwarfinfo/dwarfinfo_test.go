package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"reflect"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// opened reads a file in both ways.
func opened(t *testing.T, path string) (*Data, *dwarf.Data) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	want, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(sectionsOf(f), Others{})
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		t.Fatalf("%s has no debug information", path)
	}
	return d, want
}

func sectionsOf(f *elf.File) func(string) (Section, error) {
	return func(name string) (Section, error) {
		s := f.Section(name)
		if s == nil {
			return Section{}, nil
		}
		b, err := s.Data()
		return Section{bytes.NewReader(b), int64(len(b))}, err
	}
}

const sourceC = `
#include <stdio.h>
struct point { int x, y; unsigned flag : 3; struct { long inner; }; };
enum color { RED = -1, GREEN };
typedef struct point *where;
static int sum(where p, enum color c, const char *name) { return p->x + p->y + (int)c + name[0]; }
int __attribute__((noinline)) twice(int n) { return n * 2; }
static int __attribute__((noinline, cold)) seldom(int n) { puts("seldom"); return n; }
int main(int argc, char **argv) {
	struct point p = { argc, 2 };
	if (argc > 5) seldom(argc);
	return sum(&p, RED, argv[0]) + twice(argc);
}
`

const sourceGo = `package main
type shop struct { name string; prices []int; rest map[string]*shop }
//go:noinline
func (s *shop) total(more int) (int, error) { for _, p := range s.prices { more += p }; return more, nil }
func main() { s := &shop{prices: []int{1, 2}}; println(s.total(3)) }
`

const sourceCPP = `
#include <string>
#include <vector>
namespace shop { struct base { int id; virtual ~base() {} }; struct order : base { std::string name; };
int total(const order &o, std::vector<int> &list) { int n = o.id; for (int i : list) n += i; return n; } }
int main(int argc, char **argv) { shop::order o; std::vector<int> v(argc); return shop::total(o, v); }
`

// programs are those that both readers read.
func programs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"Go": need.Built(t, "go build", "program.go", sourceGo)}
	ofC := []string{"gcc -g -O2", "gcc -gdwarf-4 -O0", "gcc -gdwarf-2 -O1", "gcc -g -gdwarf64 -O1", "clang -g -O2",
		"clang -gdwarf-4 -O1"}
	ofCPP := []string{"g++ -g -O1", "g++ -gdwarf-4 -fdebug-types-section"}
	if testing.Short() {
		ofC, ofCPP = ofC[:2], ofCPP[1:]
	}
	for _, command := range ofC {
		out[command] = need.Built(t, command, "program.c", sourceC)
	}
	for _, command := range ofCPP {
		out[command] = need.Built(t, command, "program.cc", sourceCPP)
	}
	return out
}

// TestEntries compares all entries of all units of .debug_info, and all values, with what debug/dwarf gives.
func TestEntries(t *testing.T) {
	for name, path := range programs(t) {
		t.Run(name, func(t *testing.T) {
			d, want := opened(t, path)
			units, err := d.Units()
			if err != nil {
				t.Fatal(err)
			}
			r, other, n := d.Entries(), want.Reader(), 0
			for _, u := range units {
				if u.off >= d.parts[0].typesAt { // debug/dwarf gives those by their signatures alone
					break
				}
				if err := r.Seek(dwarf.Offset(u.entries)); err != nil {
					t.Fatal(err)
				}
				other.Seek(dwarf.Offset(u.entries))
				for {
					e, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					if e == nil {
						break
					}
					if n++; !sameEntry(t, other, e) {
						return
					}
				}
			}
			if n < 20 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

// sameEntry compares an entry with the next of the other reader.
func sameEntry(t *testing.T, other *dwarf.Reader, e *Entry) bool {
	t.Helper()
	w, err := other.Next()
	if err != nil || w == nil {
		t.Errorf("entry %#x: %v", e.Offset, err)
		return false
	}
	if w.Tag == 0 && e.Tag == 0 {
		return true
	}
	if w.Offset != e.Offset || w.Tag != e.Tag || w.Children != e.Children || len(w.Field) != len(e.attrs) {
		t.Errorf("got %#x %s, want %#x %s", e.Offset, e.Tag, w.Offset, w.Tag)
		return false
	}
	for _, f := range w.Field {
		got := e.Val(f.Attr)
		if f.Class == dwarf.ClassReferenceSig || f.Class == dwarf.ClassUnknown || f.Class == dwarf.ClassRngList {
			continue // ranges are compared by TestUnitOf
		}
		if !reflect.DeepEqual(got, f.Val) {
			t.Errorf("entry %#x, %s, %s: got %v (%T), want %v (%T)", e.Offset, f.Attr, f.Class, got, got, f.Val, f.Val)
			return false
		}
	}
	return true
}

// TestUnitOf compares the unit of each function, and its ranges.
func TestUnitOf(t *testing.T) {
	for name, path := range programs(t) {
		t.Run(name, func(t *testing.T) {
			d, want := opened(t, path)
			r := want.Reader()
			n := 0
			for {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e == nil {
					break
				}
				if e.Tag != dwarf.TagSubprogram {
					continue
				}
				ranges, err := want.Ranges(e)
				if err != nil || len(ranges) == 0 {
					continue
				}
				n++
				got, err := d.Entry(e.Offset)
				if err != nil {
					t.Fatal(err)
				}
				if mine, err := got.Ranges(); err != nil || !reflect.DeepEqual(mine, ranges) {
					t.Errorf("entry %#x: ranges %x, %v, want %x", e.Offset, mine, err, ranges)
				}
				u, err := d.UnitOf(ranges[0][0])
				if err != nil || u == nil || u != got.Unit() {
					t.Errorf("entry %#x: the unit of %#x is %v, %v", e.Offset, ranges[0][0], u, err)
				}
			}
			if n < 2 {
				t.Errorf("%d functions", n)
			}
		})
	}
}

// TestSkipChildren compares where the reader stands behind each entry that has children.
func TestSkipChildren(t *testing.T) {
	d, want := opened(t, need.Built(t, "g++ -g -O1", "program.cc", sourceCPP))
	other := want.Reader()
	r := d.Entries()
	for n := 0; ; n++ {
		w, err := other.Next()
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			return
		}
		if !w.Children || w.Tag == dwarf.TagCompileUnit {
			continue
		}
		if err := r.Seek(w.Offset); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.SkipChildren()
		probe := want.Reader()
		probe.Seek(w.Offset)
		if _, err := probe.Next(); err != nil {
			t.Fatal(err)
		}
		probe.SkipChildren()
		next, err := probe.Next()
		mine, mineErr := r.Next()
		if err != nil || mineErr != nil || next == nil || next.Tag != mine.Tag ||
			next.Tag != 0 && next.Offset != mine.Offset {
			t.Fatalf("entry %#x: behind its children is %v, want %v", w.Offset, mine, next)
		}
	}
}
