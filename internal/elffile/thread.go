package elffile

import "debug/elf"

// Where variables of a thread (TLS) are.

// threadHeader is what lies between the address of a thread and its variables on arm64, in bytes.
const threadHeader = 16

// ThreadOffset is how far behind the address of a thread (fs on amd64, tpidr_el0 on arm64) a variable of its own lies
// that has an offset among those of a program. Those of libraries lie where only the process knows; false.
func ThreadOffset(f *File, offset uint64) (int64, bool) {
	if f.LibraryName() != "" || f.elf.Entry == 0 || f.Is32 {
		return 0, false
	}
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_TLS || p.Memsz > 1<<30 || p.Align > 1<<16 {
			continue
		}
		if offset >= p.Memsz {
			offset -= p.Vaddr // gcc -gdwarf-4 -gsplit-dwarf has the address of what they begin with
		}
		if offset >= p.Memsz {
			return 0, false
		}
		switch align := max(p.Align, 1); f.Machine {
		case elf.EM_X86_64:
			return int64(offset) - int64(roundUp(p.Memsz, align)), true
		case elf.EM_AARCH64:
			return int64(offset) + int64(roundUp(threadHeader, align)), true
		}
	}
	return 0, false
}
