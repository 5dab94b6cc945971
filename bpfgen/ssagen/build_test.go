package ssagen

import (
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/test/golden"
)

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
			golden.Equal(t, filepath.Join("testdata", tt.name+".txt"), text)
		})
	}
}

type sample struct {
	name string
	unit *tree.Unit
}
