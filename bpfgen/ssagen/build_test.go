package ssagen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/startrace/startrace/bpfgen/tree"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-want +got); run with -update if that is right:\n%s", file, d)
	}
}

// TestBuild compares the SSA of small programs, tree and SSA in one file.
func TestBuild(t *testing.T) {
	for _, tt := range samples() {
		t.Run(tt.name, func(t *testing.T) {
			s := NewShared(tt.unit, AMD64, false)
			text := tt.unit.String()
			for _, p := range tt.unit.Programs {
				code, err := s.Program(p, DefaultStack, BySize)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range code.Funcs {
					text += "\n" + f.String()
				}
			}
			golden(t, tt.name+".txt", text)
		})
	}
}

type sample struct {
	name string
	unit *tree.Unit
}
