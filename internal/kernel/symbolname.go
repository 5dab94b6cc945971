package kernel

import (
	"bytes"
	"fmt"
	"sort"
)

// Addrs gives all addresses of a name in ascending order: static functions of
// different files share names, and a probe by name can then mean either (the
// kernel refuses it since 6.6).
func (s *Symbols) Addrs(name string) (out []uint64) {
	s.byNameOnce.Do(s.indexNames)
	want := []byte(name)
	compare := func(i int) int {
		n, _ := s.line(int(s.byName[i]))
		return bytes.Compare(n, want)
	}
	for i := sort.Search(len(s.byName), func(i int) bool { return compare(i) >= 0 }); i < len(s.byName) && compare(i) == 0; i++ {
		out = append(out, s.addrs[s.byName[i]])
	}
	return out
}

// Text names an address as kernel messages do: vfs_read+0x7, nf_hook+0x4
// [nf_tables]; without an offset at the start. What is no address of the kernel
// is written as a number.
func (s *Symbols) Text(addr uint64) string {
	sym, offset, ok := s.Find(addr)
	if !ok {
		return fmt.Sprintf("0x%x", addr)
	}
	text := sym.Name
	if offset != 0 {
		text += fmt.Sprintf("+0x%x", offset)
	}
	if sym.Module != "" {
		text += " [" + sym.Module + "]"
	}
	return text
}

// MatchSymbols gives the functions, those of modules too, whose names match,
// by address. All of them are there, also those that must not be probed.
func (s *Symbols) MatchSymbols(glob Glob) (out []Symbol) {
	for i := range s.addrs {
		if !s.code[i] {
			continue
		}
		if name, _ := s.line(i); glob.Match(string(name)) {
			out = append(out, s.at(i))
		}
	}
	return out
}
