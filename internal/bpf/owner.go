package bpf

import (
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// The module or kernel that has the function of a trampoline.

// An Owner is what has the function of a trampoline: see Program.AttachTo.
type Owner interface {
	// FD is the descriptor that the kernel wants beside the function's type: of a module's BTF, or of a BPF program. It
	// is 0 for the kernel proper.
	FD() int
	// Close closes the descriptor.
	Close() error
}

// Kernel owns the functions of the kernel proper.
var Kernel Owner = theKernel{}

type theKernel struct{}

func (theKernel) FD() int      { return 0 }
func (theKernel) Close() error { return nil }

// Module opens the types of a module (5.11).
func Module(name string) (Owner, error) {
	h, err := btf.FindHandle(func(info *btf.HandleInfo) bool { return info.IsModule() && info.Name == name })
	if err != nil {
		return nil, fmt.Errorf("open the types of module %s: %w", name, err)
	}
	return h, nil
}
