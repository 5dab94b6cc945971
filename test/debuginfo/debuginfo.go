// Package debuginfo opens the debug information of programs that tests have built.
package debuginfo

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Debug information in the file of a program, and in sections that a test has damaged.

// Of gives the debug information in the file of a program, until the test ends.
func Of(t testing.TB, path string) *dwarfinfo.Data {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	d, err := dwarfinfo.Open(func(name string) (dwarfinfo.Section, error) {
		s := f.Section(name)
		if s == nil {
			return dwarfinfo.Section{}, nil
		}
		b, err := s.Data()
		return section(b), err
	}, dwarfinfo.Others{})
	if err != nil || d == nil {
		t.Fatalf("%s: %v, %v", path, d, err)
	}
	return d
}

// Damaged gives debug information by its sections, whose content may be wrong: nil where it cannot be opened.
func Damaged(sections map[string][]byte) *dwarfinfo.Data {
	d, err := dwarfinfo.Open(func(name string) (dwarfinfo.Section, error) { return section(sections[name]), nil },
		dwarfinfo.Others{})
	if err != nil {
		return nil
	}
	return d
}

func section(b []byte) dwarfinfo.Section {
	return dwarfinfo.Section{Reader: bytes.NewReader(b), Size: int64(len(b))}
}
