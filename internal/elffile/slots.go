package elffile

import "debug/elf"

// The word that the dynamic linker fills with the address of a variable of another file.
//
// A library's variable can be that of another file in the process: the program itself has it, to which gcc's linker
// copies what it uses of a library, or a library that comes before has one of that name. So code goes by a word that
// the dynamic linker fills with the address of the one that is meant.

// SlotOf gives that word for a variable of the file, by the address that the file has for it. It is false for one that
// no other file can take the place of, and for one that the file's own code does not use.
func SlotOf(f *File, address uint64) (slot uint64, ok bool) {
	return linkerWord(f, func(s elf.Symbol) bool { return s.Value == address && s.Section != elf.SHN_UNDEF })
}

// ImportOf gives where a variable is that another file has, or another source file without debug information, by the
// name that the linker knows: its address, where it is in this file or the linker has copied it there, or the word that
// has its address.
func ImportOf(f *File, name string) (at uint64, word, ok bool) {
	for _, read := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		symbols, _ := read() // a file without any has none
		for _, s := range symbols {
			if s.Name == name && isShared(s) && s.Section != elf.SHN_UNDEF {
				return s.Value, false, true
			}
		}
	}
	at, ok = linkerWord(f, func(s elf.Symbol) bool {
		return s.Name == name && s.Section == elf.SHN_UNDEF && elf.ST_TYPE(s.Info) != elf.STT_TLS
	})
	return at, true, ok
}

// isShared reports whether a symbol is a variable that other files can mean.
func isShared(s elf.Symbol) bool {
	return elf.ST_TYPE(s.Info) == elf.STT_OBJECT && elf.ST_BIND(s.Info) != elf.STB_LOCAL
}

// linkerWord is the word in which the dynamic linker puts the address of a symbol.
func linkerWord(f *File, is func(elf.Symbol) bool) (word uint64, ok bool) {
	symbols, err := f.elf.DynamicSymbols()
	if err != nil || f.Is32 {
		return 0, false
	}
	eachRela(f, ".rela.dyn", func(r rela) bool {
		ok = r.symbol > 0 && r.symbol <= len(symbols) && givesAddress(f, r.kind) && is(symbols[r.symbol-1])
		word = r.where
		return !ok
	})
	return word, ok
}

// givesAddress reports whether a relocation of a kind puts the address of a symbol into a word of the global offset
// table.
func givesAddress(f *File, kind uint32) bool {
	return f.Machine == elf.EM_X86_64 && elf.R_X86_64(kind) == elf.R_X86_64_GLOB_DAT ||
		f.Machine == elf.EM_AARCH64 && elf.R_AARCH64(kind) == elf.R_AARCH64_GLOB_DAT
}
