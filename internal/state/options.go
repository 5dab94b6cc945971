package state

import (
	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/internal/kernel"
)

// What containers in maps cannot know by themselves.

// Options says what containers cannot know by themselves.
type Options struct {
	// FuncID finds a function in the kernel's BTF. It is called only where Each
	// needs a map iterator: on 5.10, and for maps of more than 16 MB.
	FuncID func(name string) (kernel.TypeID, error)
	// Epochs is the array of all containers' epochs, where one has banks.
	Epochs *ebpf.Map
}
