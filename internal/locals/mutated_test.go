package locals_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/internal/callframe"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/sourceline"
	"github.com/startrace/startrace/test/debuginfo"
	"github.com/startrace/startrace/test/need"
)

const source = `#include <stdio.h>
struct pair { long a; int b; };
static inline int add(int x, int y) {
	int sum = x + y;
	return sum * 2;
}
int main(int argc, char **argv) {
	struct pair p = {argc, 7};
	char text[16] = "abc";
	for (int i = 0; i < argc + 3; i++) {
		int n = add(i, argc) / 4;
		p.b += n;
		printf("%d %s %ld\n", n, text, p.a);
	}
	return p.b;
}
`

var names = []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets",
	".debug_addr", ".debug_ranges", ".debug_rnglists", ".debug_aranges", ".debug_loc", ".debug_loclists",
	".debug_line", ".eh_frame"}

// sections are those of a program, and the address of .eh_frame.
func sections(t testing.TB, path string) (out map[string][]byte, addr uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out = map[string][]byte{}
	for _, name := range names {
		if s := f.Section(name); s != nil {
			if out[name], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out, f.Section(".eh_frame").Addr
}

// seen counts the places of lines and the variables there.
type seen struct{ places, variables, known int }

// look finds the places of all lines, and the variables at each.
func look(t *testing.T, s map[string][]byte, addr uint64) (n seen) {
	t.Helper()
	d := debuginfo.Damaged(s)
	if d == nil {
		return n
	}
	frames, err := callframe.Read("amd64", s[".eh_frame"], addr, nil)
	if err != nil && !errors.Is(err, callframe.ErrDamaged) {
		t.Errorf("not said to be damaged: %v", err)
	}
	f := &locals.Finder{Data: d, Arch: "amd64", CFA: frames.CFA}
	for line := 1; line < 17; line++ {
		found, err := sourceline.Find(d, "program.c", line)
		if err != nil {
			return n
		}
		for _, p := range found.List[:min(len(found.List), 100)] {
			n.places++
			scope, err := f.At(p.Addr, locals.SourceLine{File: found.File, Number: line})
			if err != nil && !errors.Is(err, dwarfinfo.ErrDamaged) {
				t.Errorf("not said to be damaged: %v", err)
			}
			if scope == nil {
				continue
			}
			for _, v := range scope.Variables {
				if n.variables++; v.Place.Kind != location.Nowhere {
					n.known++
				}
				_ = v.Place.String()
			}
		}
	}
	return n
}

// TestMutated reads debug information and call frames in which bytes were changed at random, or the end of a section
// was cut off: there is an error or none, and no panic.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, command := range []string{"gcc -g -O2", "clang -g -O1", "gcc -gdwarf-4 -O0"} {
		good, addr := sections(t, need.Built(t, command, "program.c", source))
		if n := look(t, good, addr); n.places < 8 || n.variables < 20 || n.known < n.variables/3 {
			t.Errorf("%s: %+v", command, n)
		}
		for range 500 {
			bad := map[string][]byte{}
			for name, b := range good {
				bad[name] = bytes.Clone(b)
			}
			for range 1 + r.IntN(8) {
				if b := bad[names[r.IntN(len(names))]]; len(b) > 0 {
					b[r.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.IntN(256))}[r.IntN(6)]
				}
			}
			if name := names[r.IntN(len(names))]; r.IntN(4) == 0 && len(bad[name]) > 0 {
				bad[name] = bad[name][:r.IntN(len(bad[name]))]
			}
			look(t, bad, addr)
		}
	}
}

// FuzzLook looks into lines, places and frames that a fuzzer makes.
func FuzzLook(f *testing.F) {
	good, addr := sections(f, need.Built(f, "gcc -g -O2", "program.c", source))
	f.Add(good[".debug_line"], good[".debug_loclists"], good[".eh_frame"])
	f.Fuzz(func(t *testing.T, lines, lists, frames []byte) {
		s := map[string][]byte{}
		for name, b := range good {
			s[name] = b
		}
		s[".debug_line"], s[".debug_loclists"], s[".eh_frame"] = lines, lists, frames
		look(t, s, addr)
	})
}
