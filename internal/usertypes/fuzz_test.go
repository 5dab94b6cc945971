package usertypes

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/debuginfo"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/smallkernel"
)

// TestMutated reads the types of debug information in which bytes were changed at random, with what they lead to: there
// is an error or none, and no panic, and reading ends.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for command, source := range map[string]string{"gcc -g": typesC, "g++ -g": typesCPP} {
		name := map[string]string{"gcc -g": "types.c", "g++ -g": "types.cc"}[command]
		good := map[string][]byte{}
		f, err := elf.Open(need.Built(t, command, name, source))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str"} {
			if good[s], err = f.Section(s).Data(); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
		for range 150 {
			bad := map[string][]byte{}
			for name, b := range good {
				bad[name] = bytes.Clone(b)
			}
			for range 1 + r.IntN(20) {
				section := []string{".debug_info", ".debug_info", ".debug_abbrev", ".debug_str"}[r.IntN(4)]
				b := bad[section]
				b[r.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.IntN(256))}[r.IntN(6)]
			}
			walked(t, bad)
		}
	}
}

// walked asks for the types of all entries, and follows pointers and fields.
func walked(t *testing.T, sections map[string][]byte) {
	t.Helper()
	data := debuginfo.Damaged(sections)
	if data == nil {
		return
	}
	btf, err := kernel.ParseBTF(smallkernel.BTF(t, smallkernel.Types()...))
	if err != nil {
		t.Fatal(err)
	}
	types := New(data, btf)
	units, _ := data.Units() // those in front of what is damaged
	for _, u := range units {
		root, err := u.Root()
		if err != nil {
			continue
		}
		n := 0
		err = data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) {
			n++
			if of, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok && n < 300 {
				if id, err := types.At(of); err == nil {
					follow(btf, id, 4)
				} else if !errors.Is(err, dwarfinfo.ErrDamaged) {
					t.Errorf("not said to be damaged: %v", err)
				}
			}
			return n < 300, nil
		})
		if err != nil && !errors.Is(err, dwarfinfo.ErrDamaged) {
			t.Errorf("not said to be damaged: %v", err)
		}
	}
}

// follow looks at a type and what it leads to.
func follow(btf *kernel.BTF, id kernel.TypeID, depth int) {
	_ = btf.TypeName(id)
	_, _ = btf.Size(id)
	is, err := btf.Type(btf.Skip(id))
	if err != nil || depth == 0 {
		return
	}
	if is.Elem != 0 {
		follow(btf, is.Elem, depth-1)
	}
	for i, name := range btf.Fields(id) {
		if f, err := btf.Field(id, name); err == nil && i < 10 {
			follow(btf, f.Type, depth-1)
		}
	}
}
