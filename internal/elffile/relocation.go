package elffile

// The relocations of a section (Elf64_Rela), one by one.

// relaSize is that of struct Elf64_Rela.
const relaSize = 24

// A rela is a relocation: where it writes, of which kind it is, the number of its symbol, from 1 on, 0 without one, and
// what is added.
type rela struct {
	where  uint64
	kind   uint32
	symbol int
	added  uint64
}

// eachRela goes over the relocations of a section, as long as f wants more. A file without the section has none.
func eachRela(of *File, section string, f func(rela) (more bool)) {
	s, ok, err := of.Section(section)
	if !ok || err != nil {
		return
	}
	order := of.elf.ByteOrder
	for data := s.Data; len(data) >= relaSize; data = data[relaSize:] {
		how := order.Uint64(data[8:])
		if !f(rela{order.Uint64(data), uint32(how), int(how >> 32), order.Uint64(data[16:])}) {
			return
		}
	}
}
