package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
)

// Names of the kernel's addresses as text, vfs_read+0x7 [module], and sizes of functions.

// Addrs gives all addresses of a name in ascending order: static functions of
// different files share names, and a probe by name can then mean either (the
// kernel refuses it since 6.6).
//
// It looks through all names: a probe asks once, and sorting them takes longer.
func (s *Symbols) Addrs(name string) (out []uint64) {
	want := []byte(name)
	there := func(text []byte) bool { return bytes.Contains(text, want) }
	if name == "" || !slices.ContainsFunc(s.texts, there) {
		return nil
	}
	for i, addr := range s.addrs {
		rest, ok := bytes.CutPrefix(s.textFrom(i), want)
		if ok && len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\t') {
			out = append(out, addr)
		}
	}
	return out
}

// Size gives the size of what begins at start: up to the next symbol.
func (s *Symbols) Size(start uint64) (uint64, bool) {
	i := sort.Search(len(s.addrs), func(i int) bool { return s.addrs[i] > start })
	if i == len(s.addrs) {
		return 0, false
	}
	return s.addrs[i] - start, true
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
