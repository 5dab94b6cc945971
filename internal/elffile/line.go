package elffile

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
)

// File and line of an address by the table of lines of a file (DWARF).

// Lines finds where the source of code is, by debug information (DWARF).
type Lines struct{ data *dwarf.Data }

// maxDebug bounds the debug information that is read: the more there is, the longer
// the first address waits.
const maxDebug = 256 << 20

// Lines reads the debug information of the file or of its separate debug file;
// without any, no address has a line.
func (f *File) Lines() *Lines {
	if l := linesOf(f.elf); l.data != nil {
		return l
	}
	path := f.DebugFile()
	if path == "" {
		return &Lines{}
	}
	separate, err := elf.Open(path)
	if err != nil {
		return &Lines{}
	}
	defer separate.Close() // the sections have been read then
	return linesOf(separate)
}

func linesOf(e *elf.File) *Lines {
	size := uint64(0)
	for _, name := range []string{".debug_info", ".debug_line", ".debug_str", ".zdebug_info", ".zdebug_line"} {
		if s := e.Section(name); s != nil {
			size += s.Size
		}
	}
	if size == 0 || size > maxDebug {
		return &Lines{}
	}
	data, err := e.DWARF()
	if err != nil {
		return &Lines{} // damaged: as good as none
	}
	return &Lines{data}
}

// At gives the file and line of the code at an address, "" if they are not
// known.
func (l *Lines) At(addr uint64) string {
	if l.data == nil {
		return ""
	}
	unit, err := l.data.Reader().SeekPC(addr)
	if err != nil {
		return ""
	}
	lines, err := l.data.LineReader(unit)
	if err != nil || lines == nil {
		return ""
	}
	var at dwarf.LineEntry
	if err := lines.SeekPC(addr, &at); err != nil || at.File == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", at.File.Name, at.Line)
}
