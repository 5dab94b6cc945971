package elffile

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"
)

// Entries of the PLT and their names, as malloc@plt.

// Stubs gives the entries of the procedure linkage tables of a file by address, each named for the function to which it
// leads: malloc@plt. What lies before the first of them has the name of its section: .plt.
func Stubs(f *File) (out []Function) {
	t := stubs{File: f}
	for _, s := range f.CodeSections() {
		if !strings.HasPrefix(s.Name, ".plt") && !strings.HasPrefix(s.Name, ".iplt") || s.Size > maxTable {
			continue
		}
		if t.words == nil {
			t.readWords()
		}
		if code, err := f.Code(s.Addr, s.Size); err == nil {
			out = append(out, t.of(s, code)...)
		}
	}
	return out
}

// stubs are those of a file. words has the names of the functions by the words through which entries jump.
type stubs struct {
	*File
	words map[uint64]string
}

// stubStep is how far apart entries begin at least, and landing the instruction of arm64 that some have in front.
const (
	stubStep = 8
	landing  = "\x5f\x24\x03\xd5" // bti c
)

// of gives those of a section. An entry goes on to the next one.
func (t stubs) of(s CodeSection, code []byte) (out []Function) {
	add := func(addr uint64, name string) {
		if offset, ok := t.Offset(addr); ok {
			out = append(out, Function{Name: name, Addr: addr, Size: s.End() - addr, Offset: offset, Local: true})
		}
	}
	step := stubStep
	if t.Machine == elf.EM_AARCH64 {
		step = len(landing)
	}
	for at := 0; at < len(code); at += step {
		entry := make([]byte, stubSize)
		copy(entry, code[at:])
		name, ok := t.name(s.Addr+uint64(at), entry)
		begin := s.Addr + uint64(at)
		if step == len(landing) && at >= step && string(code[at-step:at]) == landing {
			begin -= uint64(step)
		}
		if at == 0 && !ok {
			add(begin, s.Name)
		} else if ok {
			add(begin, name+"@plt")
		}
	}
	for i := range out[:max(len(out)-1, 0)] {
		out[i].Size = out[i+1].Addr - out[i].Addr
	}
	return out
}

// name gives the function to which an entry leads.
func (t stubs) name(addr uint64, code []byte) (name string, ok bool) {
	word, ok := stubWord(t.Machine, addr, code)
	if !ok {
		return "", false
	}
	name, ok = t.words[word]
	return name, ok
}

// readWords reads words.
func (t *stubs) readWords() {
	t.words = map[uint64]string{}
	symbols, err := t.elf.DynamicSymbols()
	if t.Is32 || err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return
	}
	for _, section := range []string{".rela.dyn", ".rela.plt"} {
		eachRela(t.File, section, func(r rela) bool {
			if r.symbol > 0 && r.symbol <= len(symbols) && symbols[r.symbol-1].Name != "" {
				t.words[r.where] = symbols[r.symbol-1].Name
			} else if t.choosesLater(r.kind) {
				t.words[r.where] = t.chooser(r.added)
			}
			return true
		})
	}
}

// chooser is the name of the function at an address, and its place if it has none.
func (t *stubs) chooser(addr uint64) string {
	if fn, ok := t.At(addr); ok && fn.Addr == addr {
		return fn.Name
	}
	return fmt.Sprintf("%#x", addr)
}

// choosesLater reports whether a relocation of a kind asks a function which one is to be called (IFUNC).
func (t *stubs) choosesLater(kind uint32) bool {
	return t.Machine == elf.EM_X86_64 && elf.R_X86_64(kind) == elf.R_X86_64_IRELATIVE ||
		t.Machine == elf.EM_AARCH64 && elf.R_AARCH64(kind) == elf.R_AARCH64_IRELATIVE
}
