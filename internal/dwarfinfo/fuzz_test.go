package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// walked reads all of what sections hold, as far as that goes.
func walked(t *testing.T, sections map[string][]byte) {
	t.Helper()
	d, err := Open(func(name string) (Section, error) {
		b := sections[name]
		return Section{bytes.NewReader(b), int64(len(b))}, nil
	})
	if err != nil || d == nil {
		return
	}
	units, err := d.Units()
	for _, u := range units {
		r := d.Entries()
		if err = r.Seek(dwarf.Offset(u.entries)); err != nil {
			break
		}
		for range 10_000 {
			e, fault := r.Next()
			if err = fault; e == nil {
				break
			}
			for _, a := range e.attrs {
				e.Val(a.name)
			}
			_, _ = e.Ranges()
			_, _, _ = e.Expression(dwarf.AttrLocation, u.low+uint64(len(e.values)))
			_ = d.EachChild(e, func(*Entry) (bool, error) { return false, nil })
		}
		if _, fault := d.UnitOf(uint64(u.off)); fault != nil {
			err = fault
		}
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("not said to be damaged: %v", err)
	}
}

// names are the sections that are read.
var names = []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets",
	".debug_addr", ".debug_ranges", ".debug_rnglists", ".debug_aranges", ".debug_loc", ".debug_loclists"}

// sectionsIn gives the sections of a file.
func sectionsIn(t testing.TB, path string) map[string][]byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	for _, name := range names {
		if s := f.Section(name); s != nil {
			if out[name], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

// TestMutated reads debug information in which bytes were changed at random, or the end of a section was cut off: there
// is an error or none, and no panic.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, command := range []string{"gcc -g -O2", "clang -g -O2", "gcc -gdwarf-4 -O0"} {
		good := sectionsIn(t, need.Built(t, command, "program.c", sourceC))
		for range 500 {
			bad := map[string][]byte{}
			for name, b := range good {
				bad[name] = bytes.Clone(b)
			}
			for range 1 + r.IntN(8) {
				b := bad[names[r.IntN(len(names))]]
				if len(b) > 0 {
					b[r.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.IntN(256))}[r.IntN(6)]
				}
			}
			if name := names[r.IntN(len(names))]; r.IntN(4) == 0 && len(bad[name]) > 0 {
				bad[name] = bad[name][:r.IntN(len(bad[name]))]
			}
			walked(t, bad)
		}
	}
}

// FuzzInfo reads entries and abbreviations that a fuzzer makes.
func FuzzInfo(f *testing.F) {
	if good := sectionsIn(f, need.Built(f, "gcc -g -O2", "program.c", sourceC)); good != nil {
		f.Add(good[".debug_info"], good[".debug_abbrev"], good[".debug_rnglists"])
	}
	f.Fuzz(func(t *testing.T, info, abbrev, lists []byte) {
		walked(t, map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_rnglists": lists,
			".debug_loc": lists, ".debug_loclists": lists, ".debug_ranges": lists,
			".debug_aranges": lists, ".debug_str": abbrev, ".debug_addr": lists})
	})
}
