package sourceline

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/escape"
)

// Tables of lines (.debug_line) read unit by unit.
//
// The lines of a unit are a program of their own in .debug_line, which debug/dwarf knows how to run. It finds it by the
// unit's first entry. So it gets debug information of one such entry, with the lines of one unit.

// Tables are the tables of lines of a file. They belong to one goroutine.
type Tables struct {
	data *dwarfinfo.Data
	// str and lineStr are the sections that have the names of files, nil until they were read.
	str, lineStr []byte
	read         bool
	// files are those of the units that were asked for.
	files map[*dwarfinfo.Unit][]*dwarf.LineFile
	// stretches are those of the units that were asked for theirs.
	stretches map[*dwarfinfo.Unit]Stretches
	// moments are those of lines that were asked for, by their addresses.
	moments map[lineOf]map[uint64]uint64
}

// NewTables prepares to read.
func NewTables(d *dwarfinfo.Data) *Tables {
	return &Tables{data: d, files: map[*dwarfinfo.Unit][]*dwarf.LineFile{},
		stretches: map[*dwarfinfo.Unit]Stretches{}, moments: map[lineOf]map[uint64]uint64{}}
}

// At says where the table of a unit begins in .debug_line; false where it has none. Several units can share one.
func (t *Tables) At(u *dwarfinfo.Unit) (int64, bool, error) {
	root, err := u.Root()
	if err != nil || root == nil {
		return 0, false, err
	}
	at, ok := root.Val(dwarf.AttrStmtList).(int64)
	return at, ok, nil
}

// Of gives the rows of the table of a unit; nil where it has none.
func (t *Tables) Of(u *dwarfinfo.Unit) (*dwarf.LineReader, error) {
	at, ok, err := t.At(u)
	if err != nil || !ok {
		return nil, err
	}
	table, err := t.bytes(at)
	if err != nil {
		return nil, err
	}
	if err := t.texts(); err != nil {
		return nil, err
	}
	root, err := u.Root()
	if err != nil {
		return nil, err
	}
	dir, _ := root.Val(dwarf.AttrCompDir).(string)
	d, err := dwarf.New(lineAbbrev, nil, nil, lineInfo(dir), table, nil, nil, t.str)
	if err != nil {
		return nil, wrong("%v", err)
	}
	for name, section := range map[string][]byte{".debug_line_str": t.lineStr, ".debug_addr": {}} {
		if err := d.AddSection(name, section); err != nil {
			return nil, wrong("%v", err)
		}
	}
	e, err := d.Reader().Next()
	if err != nil {
		return nil, wrong("%v", err)
	}
	r, err := d.LineReader(e)
	if err != nil {
		return nil, wrong("%v", err)
	}
	for _, file := range r.Files() {
		if file != nil {
			file.Name = escape.Line(file.Name) // as dwarfinfo does with names
		}
	}
	wholeName(r, root, dir)
	return r, nil
}

// wholeName mends the name of a unit's own file where it is absolute in a table of DWARF 5: debug/dwarf puts the folder
// of the compiler before it, "/home/u/home/u/a.c" for "/home/u/a.c".
func wholeName(r *dwarf.LineReader, root *dwarfinfo.Entry, dir string) {
	name, _ := root.Val(dwarf.AttrName).(string)
	if !path.IsAbs(name) {
		return
	}
	for _, file := range r.Files() {
		if file != nil && file.Name == path.Join(dir, name) {
			file.Name = name
		}
	}
}

// Rows goes over the rows of the table of a unit, as long as f wants more; there are none where it has no table.
func (t *Tables) Rows(u *dwarfinfo.Unit, f func(*dwarf.LineEntry) (more bool)) error {
	r, err := t.Of(u)
	if err != nil || r == nil {
		return err
	}
	return eachRow(r, f)
}

// File gives the name of a file by its number in a unit (DW_AT_decl_file); "" where it has none.
func (t *Tables) File(u *dwarfinfo.Unit, number int64) string {
	files, known := t.files[u]
	if !known {
		if r, err := t.Of(u); err == nil && r != nil {
			files = r.Files()
		}
		t.files[u] = files
	}
	if number < 0 || number >= int64(len(files)) || files[number] == nil {
		return ""
	}
	return files[number].Name
}

// Declared is where a function is defined, by its chain of origins: what its definition says comes before what its
// declaration does. "" is a file that is not said.
func (t *Tables) Declared(chain []*dwarfinfo.Entry) (file string, line int) {
	n, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
	for _, e := range chain {
		if number, ok := e.Val(dwarf.AttrDeclFile).(int64); ok {
			if file = t.File(e.Unit(), number); file != "" {
				file = path.Clean(file)
			}
			break
		}
	}
	return file, int(n)
}

// Forget drops what was read of a unit.
func (t *Tables) Forget(u *dwarfinfo.Unit) {
	delete(t.files, u)
	delete(t.stretches, u)
}

// wrong is the error of a table that does not keep to the standard.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", dwarfinfo.ErrDamaged, fmt.Sprintf(format, args...))
}

// bytes gives those of the table that begins at an offset: its length stands in front, of 4 bytes, or of 8 behind 4
// that say so.
func (t *Tables) bytes(at int64) ([]byte, error) {
	s, err := t.data.Lines()
	if err != nil {
		return nil, err
	}
	b, err := s.Bytes(at, min(12, max(s.Size-at, 0)))
	switch {
	case err != nil:
		return nil, err
	case len(b) < 12:
		return nil, wrong("a table of lines at %d is cut off", at)
	}
	head, length := int64(4), uint64(binary.LittleEndian.Uint32(b))
	if length == 0xffffffff {
		head, length = 12, binary.LittleEndian.Uint64(b[4:])
	}
	if length > uint64(s.Size) {
		return nil, wrong("a table of lines of %d bytes at %d", length, at)
	}
	return s.Bytes(at, head+int64(length))
}

// texts reads the sections that have the names of files; tables before DWARF 5 have them themselves.
func (t *Tables) texts() (err error) {
	if !t.read {
		t.read = true
		t.str, t.lineStr, err = t.data.LineTexts()
	}
	return err
}

// lineAbbrev describes the one entry: DW_TAG_compile_unit without children, of DW_AT_stmt_list (DW_FORM_sec_offset) and
// DW_AT_comp_dir (DW_FORM_string).
var lineAbbrev = []byte{1, 0x11, 0, 0x10, 0x17, 0x1b, 0x08, 0, 0, 0}

// lineInfo is a unit of DWARF 4 with that entry, whose table of lines is at 0.
func lineInfo(dir string) []byte {
	var b []byte
	b = binary.LittleEndian.AppendUint32(b, uint32(2+4+1+1+4+len(dir)+1))
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, 8, 1)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(b, dir...)
	return append(b, 0)
}

// eachRow calls f for each row of a table of lines, until it gives false. It leaves out sequences of code that the
// linker has left out.
func eachRow(r *dwarf.LineReader, f func(*dwarf.LineEntry) (more bool)) error {
	for begins, leftOut := true, false; ; {
		var row dwarf.LineEntry // f may keep it
		err := r.Next(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return wrong("%v", err)
		}
		if begins {
			leftOut = dwarfinfo.NoAddress(row.Address)
		}
		if begins = row.EndSequence; !leftOut && !f(&row) {
			return nil
		}
	}
}
