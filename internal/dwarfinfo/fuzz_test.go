package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// walked reads all of what sections hold, as far as that goes.
func walked(t *testing.T, sections map[string][]byte) {
	t.Helper()
	walkedWith(t, sections, Others{})
}

// in gives the sections of a map.
func in(sections map[string][]byte) Sections {
	return func(name string) (Section, error) {
		b := sections[name]
		return Section{bytes.NewReader(b), int64(len(b))}, nil
	}
}

// walkedWith is walked with what other files have, and gives how many entries were read.
func walkedWith(t *testing.T, sections map[string][]byte, others Others) (entries int) {
	t.Helper()
	d, err := Open(in(sections), others)
	if err != nil || d == nil {
		return 0
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
			entries++
			for _, a := range e.attrs {
				e.Val(a.name)
			}
			_, _, _ = e.Spans()
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
	return entries
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

// splitNames are the sections of .dwo files and of packages of them.
var splitNames = []string{".debug_info.dwo", ".debug_abbrev.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo",
	".debug_types.dwo", ".debug_rnglists.dwo", ".debug_loc.dwo", ".debug_loclists.dwo", ".debug_cu_index",
	".debug_tu_index"}

// sectionsNamed gives some sections of a file.
func sectionsNamed(t testing.TB, path string, names []string) map[string][]byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	for _, s := range f.Sections {
		if slices.Contains(names, s.Name) {
			b, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			out[s.Name] = append(out[s.Name], b...) // a .dwo has several of a name, one for each type
		}
	}
	return out
}

// splitFiles are a program's file and what has its units: a .dwo, or a package of it.
func splitFiles(t *testing.T, command string, packed bool) (program, units map[string][]byte) {
	t.Helper()
	path := need.BuiltOf(t, command+" -gsplit-dwarf -c", map[string]string{"program.cc": sourceCPP})
	program = sectionsNamed(t, path, names)
	list, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.dwo"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if packed {
		packer := need.Program(t, "llvm-dwp")
		if out, err := exec.Command(packer, list[0], "-o", path+".dwp").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		list[0] = path + ".dwp"
	}
	return program, sectionsNamed(t, list[0], splitNames)
}

// with says that units of a program are in another file.
func with(units map[string][]byte) Others {
	return Others{
		Split: func(name, dir string) iter.Seq[Sections] {
			return func(yield func(Sections) bool) { yield(in(units)) }
		},
		Package: func() Sections { return in(units) },
	}
}

// TestMutatedSplit reads files of split units in which bytes were changed at random, or the end of a section was cut
// off. What was not changed is read whole.
func TestMutatedSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, command := range []string{"g++ -gdwarf-4 -O2", "g++ -gdwarf-5 -O2 -fdebug-types-section",
		"clang++ -gdwarf-5 -O2", "clang++ -gdwarf-4 -O2 -fdebug-types-section"} {
		for _, packed := range []bool{false, true} {
			program, units := splitFiles(t, command, packed)
			if n := walkedWith(t, program, with(units)); n < 500 {
				t.Errorf("%s, packed %t: %d entries", command, packed, n)
			}
			for range 50 {
				badProgram, badUnits := maps.Clone(program), maps.Clone(units)
				mutate(r, badProgram)
				mutate(r, badUnits)
				walkedWith(t, badProgram, with(badUnits))
			}
		}
	}
}

// mutate changes some bytes of sections, and may cut one off.
func mutate(r *rand.Rand, sections map[string][]byte) {
	names := slices.Sorted(maps.Keys(sections))
	for range r.IntN(8) {
		name := names[r.IntN(len(names))]
		if b := bytes.Clone(sections[name]); len(b) > 0 {
			at := r.IntN(len(b))
			if r.IntN(2) == 0 {
				at = r.IntN(min(len(b), 64)) // headers
			}
			b[at] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.IntN(256))}[r.IntN(6)]
			sections[name] = b
		}
	}
	if name := names[r.IntN(len(names))]; r.IntN(4) == 0 && len(sections[name]) > 0 {
		sections[name] = sections[name][:r.IntN(len(sections[name]))]
	}
}

// FuzzSplit reads what a fuzzer makes of a .dwo or of a package.
func FuzzSplit(f *testing.F) {
	f.Add([]byte{5}, []byte{1}, []byte{2})
	f.Fuzz(func(t *testing.T, info, abbrev, lists []byte) {
		units := map[string][]byte{".debug_info.dwo": info, ".debug_abbrev.dwo": abbrev, ".debug_types.dwo": info,
			".debug_loc.dwo": lists, ".debug_loclists.dwo": lists, ".debug_rnglists.dwo": lists,
			".debug_str.dwo": abbrev, ".debug_str_offsets.dwo": lists, ".debug_cu_index": lists,
			".debug_tu_index": abbrev}
		program := map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_addr": lists,
			".debug_str": abbrev, ".debug_ranges": lists}
		walkedWith(t, program, with(units))
	})
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
