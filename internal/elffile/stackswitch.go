package elffile

import (
	"debug/elf"
	"slices"
)

// Programs that change stacks by themselves, as swapcontext.

// switchers are functions by which a program of C goes on with another stack: those of the C library, of Boost
// (PHP's fibers have a copy) and of Ruby.
var switchers = []string{"swapcontext", "setcontext", "jump_fcontext", "coroutine_transfer"}

// SwitchesStacks reports whether the code of the file itself goes from one stack to another: it imports one of the
// switchers, or has it and is no library that has it for others.
func (f *File) SwitchesStacks() bool {
	imported, err := f.elf.ImportedSymbols()
	if err == nil && slices.ContainsFunc(imported, func(s elf.ImportedSymbol) bool {
		return slices.Contains(switchers, s.Name)
	}) {
		return true
	}
	if names, err := f.elf.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		return false
	}
	return slices.ContainsFunc(f.table().list, func(fn Function) bool { return slices.Contains(switchers, fn.Name) })
}
