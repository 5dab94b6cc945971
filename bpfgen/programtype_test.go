package bpfgen

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Programs of each way to attach have a type; those that are loaded for one function say for what.
func TestProgramTypes(t *testing.T) {
	for _, kind := range tree.AttachKinds() {
		_, says := attachTypes[kind]
		if one := programType(kind) == ebpf.Tracing || programType(kind) == ebpf.LSM; one != says {
			t.Errorf("kind %d: for one function %v, says for what %v", kind, one, says)
		}
	}
}
