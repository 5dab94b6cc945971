package elffile

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"slices"
)

// The address of runtime.text in programs of Go, found in moduledata.

// goText gives the address from which .gopclntab counts since 1.18:
// runtime.text. A mistake would put probes into the middle of instructions, so
// sure says whether it is known and not guessed. A symbol has it; without
// symbols the runtime's own description of the program, its moduledata. What
// remains, the start of .text, is right if Go's linker linked the program; a C
// linker, for cgo, puts C code before.
func (f *File) goText(table uint64) (text uint64, sure bool) {
	if text, ok := symbolNamed(f, "runtime.text"); ok {
		return text, true
	}
	if symbols, err := f.elf.Symbols(); err == nil {
		for _, s := range symbols {
			if s.Name == "runtime.text" {
				return s.Value, true
			}
		}
	}
	section := f.elf.Section(".text")
	if section == nil || f.Is32 {
		return 0, false
	}
	for _, read := range []func(uint64) (moduleWords, bool){f.moduleData, f.relocatedModuleData} {
		if words, ok := read(table); ok && words.plausible(section) {
			return words.text, true
		}
	}
	return section.Addr, false
}

// moduleWords are those of runtime.moduledata that matter here; the address of
// .gopclntab comes first (Go's src/runtime/symtab.go). Their places have not
// changed since 1.16.
type moduleWords struct{ minpc, text, etext uint64 }

const (
	minpcWord, textWord, etextWord = 20, 22, 23
	moduleBytes                    = 8 * (etextWord + 1)
)

func (w moduleWords) plausible(code *elf.Section) bool {
	return w.minpc == w.text && w.text < w.etext && w.text >= code.Addr && w.etext <= code.Addr+code.Size
}

// moduleSections may hold moduledata; it has its own section since 1.26.
var moduleSections = []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"}

// moduleData looks for it by its first word.
func (f *File) moduleData(table uint64) (moduleWords, bool) {
	first := make([]byte, 8)
	f.elf.ByteOrder.PutUint64(first, table)
	for _, name := range moduleSections {
		section, ok, err := f.Section(name)
		if !ok || err != nil {
			continue
		}
		for at := 0; at+moduleBytes <= len(section.Data); at += 8 {
			if bytes.Equal(section.Data[at:at+8], first) {
				word := func(i int) uint64 { return f.elf.ByteOrder.Uint64(section.Data[at+8*i:]) }
				if w := (moduleWords{word(minpcWord), word(textWord), word(etextWord)}); w.minpc == w.text &&
					w.text != 0 {
					return w, true
				}
			}
		}
	}
	return moduleWords{}, false
}

// relocatedModuleData is moduleData of programs that are position-independent:
// the words are in the relocations (Elf64_Rela: place, kind, value).
func (f *File) relocatedModuleData(table uint64) (moduleWords, bool) {
	section, ok, err := f.Section(".rela.dyn")
	if !ok || err != nil {
		return moduleWords{}, false
	}
	const entry = 24
	values, starts := map[uint64]uint64{}, []uint64(nil)
	for data := section.Data; len(data) >= entry; data = data[entry:] {
		place, value := f.elf.ByteOrder.Uint64(data), f.elf.ByteOrder.Uint64(data[16:])
		values[place] = value
		if value == table {
			starts = append(starts, place)
		}
	}
	for _, start := range starts {
		w := moduleWords{values[start+8*minpcWord], values[start+8*textWord], values[start+8*etextWord]}
		if w.minpc == w.text && w.text != 0 {
			return w, true
		}
	}
	return moduleWords{}, false
}

// startsIn says whether the program starts in a function of the list: Go's
// linker lets it start in Go's code, a C linker in C's.
func (f *File) startsIn(list []gosym.Func) bool {
	return slices.ContainsFunc(list, func(fn gosym.Func) bool { return fn.Entry == f.elf.Entry })
}
