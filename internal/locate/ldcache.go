package locate

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// The cache of the dynamic linker, /etc/ld.so.cache.

// A libraryCache is what /etc/ld.so.cache has.
type libraryCache struct {
	entries []cacheEntry
}

type cacheEntry struct {
	soname, path string
	flags        uint32
	hwcap        uint64 // not 0: only for processors with certain instructions
}

// The form of the file (glibc's sysdeps/generic/dl-cache.h). Since glibc 2.32
// it is the new one alone; before, the new one stood behind the old one, at a
// multiple of 8.
//
//	old: "ld.so-1.7.0", padding, u32 count; entries of 3 u32: flags, soname, path;
//	     texts, counted from the end of the entries
//	new: "glibc-ld.so.cache" "1.1", u32 count, u32 size of the texts, u8 byte order, 19 bytes more;
//	     entries of 24 bytes: u32 flags, soname, path, version of the system, u64 hwcap;
//	     texts, counted from the start of this part
const (
	oldMagic, newMagic        = "ld.so-1.7.0", "glibc-ld.so.cache1.1"
	oldHeader, newHeader      = 16, 48
	oldEntry, newEntry        = 12, 24
	orderPlace, orderLittle   = 28, 2
	orderUnset, cacheMaxBytes = 0, 32 << 20
)

var errCache = errors.New("malformed ld.so.cache")

// parseCache reads a cache of this machine's byte order (all that we run on
// are little-endian).
func parseCache(data []byte) (*libraryCache, error) {
	if bytes.HasPrefix(data, []byte(newMagic)) {
		return parseNewCache(data)
	}
	if !bytes.HasPrefix(data, []byte(oldMagic)) || len(data) < oldHeader {
		return nil, fmt.Errorf("%w: it begins with %q", errCache, data[:min(len(data), len(newMagic))])
	}
	count := uint64(binary.LittleEndian.Uint32(data[12:]))
	end := oldHeader + count*oldEntry
	if end > uint64(len(data)) {
		return nil, fmt.Errorf("%w: its %d entries do not fit into %d bytes", errCache, count, len(data))
	}
	if second := (end + 7) / 8 * 8; second < uint64(len(data)) && bytes.HasPrefix(data[second:], []byte(newMagic)) {
		return parseNewCache(data[second:])
	}
	return parseEntries(data[oldHeader:end], oldEntry, data[end:])
}

func parseNewCache(data []byte) (*libraryCache, error) {
	if len(data) < newHeader {
		return nil, fmt.Errorf("%w: it has only %d bytes", errCache, len(data))
	}
	if order := data[orderPlace]; order != orderUnset && order != orderLittle {
		return nil, fmt.Errorf("%w: its byte order is %d, want %d", errCache, order, orderLittle)
	}
	count := uint64(binary.LittleEndian.Uint32(data[len(newMagic):]))
	end := newHeader + count*newEntry
	if end > uint64(len(data)) {
		return nil, fmt.Errorf("%w: its %d entries do not fit into %d bytes", errCache, count, len(data))
	}
	return parseEntries(data[newHeader:end], newEntry, data)
}

func parseEntries(entries []byte, size int, texts []byte) (*libraryCache, error) {
	out := &libraryCache{}
	for ; len(entries) >= size; entries = entries[size:] {
		entry := cacheEntry{flags: binary.LittleEndian.Uint32(entries)}
		var ok [2]bool
		entry.soname, ok[0] = textAt(texts, binary.LittleEndian.Uint32(entries[4:]))
		entry.path, ok[1] = textAt(texts, binary.LittleEndian.Uint32(entries[8:]))
		if !ok[0] || !ok[1] {
			return nil, fmt.Errorf("%w: a name lies outside of it", errCache)
		}
		if size == newEntry {
			entry.hwcap = binary.LittleEndian.Uint64(entries[16:])
		}
		out.entries = append(out.entries, entry)
	}
	return out, nil
}

// maxName bounds a name, so that a broken cache does not multiply.
const maxName = 4096

func textAt(texts []byte, at uint32) (string, bool) {
	if uint64(at) >= uint64(len(texts)) {
		return "", false
	}
	texts = texts[at:min(uint64(len(texts)), uint64(at)+maxName)]
	end := bytes.IndexByte(texts, 0)
	if end < 0 {
		return "", false
	}
	return string(texts[:end]), true
}

// The flags of libraries: the low byte is 3 for those of glibc, the next tells
// the ABI.
const (
	flagGlibc, flagX8664, flagAArch64 = 0x0003, 0x0300, 0x0a00
)

func cacheFlags(machine elf.Machine) uint32 {
	switch machine {
	case elf.EM_X86_64:
		return flagGlibc | flagX8664
	case elf.EM_AARCH64:
		return flagGlibc | flagAArch64
	}
	return flagGlibc
}

// find gives the newest library of a name for a machine. Those for certain
// processors only are passed over: the plain one is always there.
func (c *libraryCache) find(name string, machine elf.Machine) (cacheEntry, bool) {
	var best cacheEntry
	found := false
	for _, e := range c.entries {
		if e.hwcap != 0 || e.flags != cacheFlags(machine) || !isLibrary(e.soname, name) {
			continue
		}
		if e.soname == name {
			return e, true
		}
		if !found || newer(e.soname, best.soname) {
			best, found = e, true
		}
	}
	return best, found
}
