package bpfgen

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
)

// wayOf is a way of a kind.
type wayOf struct {
	tree.Way
	kind tree.AttachKind
}

func (w wayOf) Kind() tree.AttachKind { return w.kind }

// Programs of each way to attach have a type; those that are loaded for one function say for what.
func TestProgramTypes(t *testing.T) {
	for _, kind := range tree.AttachKinds() {
		_, says := attachTypes[kind]
		typ := programType(tree.Attach{Way: wayOf{kind: kind}})
		if one := typ == ebpf.Tracing || typ == ebpf.LSM; one != says {
			t.Errorf("kind %d: for one function %v, says for what %v", kind, one, says)
		}
	}
}
