package elffile

import (
	"debug/elf"
	"encoding/binary"
)

// The function of the same file to which an entry of the PLT leads.

// Stub gives the function to which an entry of the procedure linkage table (PLT) leads, if the file itself has one of
// that name: the linker takes that, unless the program or a library before it has another. The entry jumps to where a
// word of the global offset table points, for which a relocation names the function.
func (f *File) Stub(addr uint64) (Function, bool) {
	code, err := f.Code(addr, stubSize)
	if err != nil || len(code) < stubSize {
		return Function{}, false
	}
	word, ok := stubWord(f.Machine, addr, code)
	if !ok {
		return Function{}, false
	}
	if f.slots == nil {
		f.slots = f.readSlots()
	}
	to, ok := f.slots[word]
	if !ok {
		return Function{}, false
	}
	fn, ok := f.At(to)
	return fn, ok && fn.Addr == to && fn.Size > 0
}

// stubSize is the size of an entry.
const stubSize = 16

// stubWord gives the address of the word through which an entry jumps:
//
//	x86    [endbr64] [bnd] jmp *word(%rip)
//	arm64  adrp x16, page; ldr x17, [x16, offset]; …; br x17
func stubWord(machine elf.Machine, addr uint64, code []byte) (uint64, bool) {
	switch machine {
	case elf.EM_X86_64:
		at := 0
		if binary.LittleEndian.Uint32(code) == 0xfa1e0ff3 {
			at = 4
		}
		if code[at] == 0xf2 {
			at++
		}
		if code[at] != 0xff || code[at+1] != 0x25 {
			return 0, false
		}
		return addr + uint64(at) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(code[at+2:])))), true
	case elf.EM_AARCH64:
		page, load := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
		if page&0x9f00001f != 0x90000010 || load&0xffc003ff != 0xf9400211 {
			return 0, false
		}
		pages := int64(int32(page>>5<<13)>>13)<<2 | int64(page>>29&3)
		return addr&^0xfff + uint64(pages<<12) + uint64(load>>10&0xfff)*8, true
	}
	return 0, false
}

// readSlots gives the addresses of the file's own functions by the words that the linker fills with them.
func (f *File) readSlots() map[uint64]uint64 {
	out := map[uint64]uint64{}
	s, ok, err := f.Section(".rela.plt")
	if !ok || err != nil || f.Is32 {
		return out
	}
	symbols, err := f.elf.DynamicSymbols()
	if err != nil {
		return out
	}
	const size = 24 // struct Elf64_Rela: where, which symbol and how, what is added
	for data := s.Data; len(data) >= size; data = data[size:] {
		i := f.elf.ByteOrder.Uint64(data[8:]) >> 32
		if i == 0 || i > uint64(len(symbols)) || symbols[i-1].Section == elf.SHN_UNDEF {
			continue
		}
		out[f.elf.ByteOrder.Uint64(data)] = symbols[i-1].Value
	}
	return out
}
