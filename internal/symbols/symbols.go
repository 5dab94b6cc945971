// Package symbols names addresses of user programs: a process's address is
// found in the files that it has mapped, and in their ELF symbol tables.
//
// Files are read through the root of the process (/proc/PID/root), so that
// those of a container are found, and are kept by device and inode: all
// processes share the table of one library. Files are foreign data; what is
// wrong with one leaves its addresses without names.
//
// A Table belongs to one goroutine.
package symbols

import (
	"fmt"
	"strconv"
)

// A Table names addresses of processes.
type Table struct {
	files map[fileID]*file
	// maps are the mappings of each process as they were last read: they serve
	// when it has ended.
	maps map[int][]mapping
}

// Name gives the function at an address of a process; where there is no
// symbol, the file and the offset in it, else the address.
func (t *Table) Name(pid int, addr uint64) string {
	for _, m := range t.mappings(pid) {
		if addr < m.start || addr >= m.end {
			continue
		}
		return t.nameIn(pid, m, addr)
	}
	return "0x" + strconv.FormatUint(addr, 16)
}

func (t *Table) nameIn(pid int, m mapping, addr uint64) string {
	off := addr - m.start + m.offset
	if m.id.inode != 0 {
		if name, ok := t.file(pid, m).find(off); ok {
			return name
		}
	}
	if m.path == "" {
		return "0x" + strconv.FormatUint(addr, 16)
	}
	return fmt.Sprintf("%s+0x%x", m.module(), off)
}

// mappings reads those of a process anew: a program may have loaded another
// library, or have become another program.
func (t *Table) mappings(pid int) []mapping {
	list, err := readMappings(pid)
	if err != nil || len(list) == 0 { // an ended process that was not waited for has none
		return t.maps[pid]
	}
	if t.maps == nil {
		t.maps = make(map[int][]mapping)
	}
	t.maps[pid] = list
	return list
}

func (t *Table) file(pid int, m mapping) *file {
	if f, ok := t.files[m.id]; ok {
		return f
	}
	f, err := openFile(fmt.Sprintf("/proc/%d/root%s", pid, m.path))
	if err != nil {
		f = &file{} // no symbols
	}
	if t.files == nil {
		t.files = make(map[fileID]*file)
	}
	t.files[m.id] = f
	return f
}
