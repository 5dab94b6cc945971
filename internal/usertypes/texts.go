package usertypes

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// Which structs are strings: of Go, std::string, String of Rust.

// A textType says which structs of a language are strings, and where their parts are: by the names of members, since
// the places differ between releases of the libraries.
type textType struct {
	// name is that of the struct; prefix: it begins so.
	name   string
	prefix bool
	// address and length are the paths of members, bases among them, to the address of the bytes and to their number.
	address, length []string
	// ahead is how many bytes lie there before those of the text.
	ahead int
}

// rustCounts are the bytes of the two numbers of owners that lie before what an Rc and an Arc of Rust lead to.
const rustCounts = 16

// textTypes are those of Go, of C++ (libstdc++ since gcc 5; of libc++ a short string has another form), and of Rust.
var textTypes = []textType{
	{name: "string", address: []string{"str"}, length: []string{"len"}},
	{name: "basic_string<char,", prefix: true, address: []string{"_M_dataplus", "_M_p"},
		length: []string{"_M_string_length"}},
	{name: "basic_string_view<char,", prefix: true, address: []string{"_M_str"}, length: []string{"_M_len"}},
	{name: "&str", address: []string{"data_ptr"}, length: []string{"length"}},
	{name: "&mut str", address: []string{"data_ptr"}, length: []string{"length"}},
	{name: "alloc::boxed::Box<str,", prefix: true, address: []string{"data_ptr"}, length: []string{"length"}},
	{name: "Rc<str,", prefix: true, address: []string{"ptr", "pointer", "data_ptr"},
		length: []string{"ptr", "pointer", "length"}, ahead: rustCounts},
	{name: "Arc<str,", prefix: true, address: []string{"ptr", "pointer", "data_ptr"},
		length: []string{"ptr", "pointer", "length"}, ahead: rustCounts},
	{name: "&std::path::Path", address: []string{"data_ptr"}, length: []string{"length"}},
	{name: "&std::ffi::os_str::OsStr", address: []string{"data_ptr"}, length: []string{"length"}},
	{name: "String", address: []string{"vec", "buf", "inner", "ptr", "pointer", "pointer"},
		length: []string{"vec", "len"}},
	{name: "String", address: []string{"vec", "buf", "ptr", "pointer", "pointer"}, // until Rust 1.83
		length: []string{"vec", "len"}},
	{name: "OsString", address: []string{"inner", "inner", "buf", "inner", "ptr", "pointer", "pointer"},
		length: []string{"inner", "inner", "len"}},
	{name: "PathBuf", address: []string{"inner", "inner", "inner", "buf", "inner", "ptr", "pointer", "pointer"},
		length: []string{"inner", "inner", "inner", "len"}},
}

// textView gives where the parts of a string are, if a struct is one.
func (t *Types) textView(e *dwarfinfo.Entry, name string) (kernel.TextView, bool) {
	for i, is := range textTypes {
		if name != is.name && !(i == 0 && t.namedString(e)) && !(is.prefix && strings.HasPrefix(name, is.name)) {
			continue
		}
		address, size, ok := t.path(e, is.address)
		if !ok || size != 8 {
			continue
		}
		if length, size, ok := t.path(e, is.length); ok && (size == 4 || size == 8) {
			return kernel.TextView{Address: address, Length: length, LengthSize: size, Ahead: is.ahead}, true
		}
	}
	return kernel.TextView{}, false
}

// namedString reports whether a struct is a type of Go that is made of string: type Path string.
func (t *Types) namedString(e *dwarfinfo.Entry) bool {
	if !ofGo(e) {
		return false
	}
	members := 0
	err := t.data.EachChild(e, func(*dwarfinfo.Entry) (bool, error) { members++; return members < 3, nil })
	return err == nil && members == 2
}

// langGo is DW_LANG_Go.
const langGo = 0x16

// path gives the place of a member of a member …, and its size, in bytes. clang may only declare the class of a
// member, as that of _M_dataplus: what is asked for is all that lies in such a one, a pointer.
func (t *Types) path(e *dwarfinfo.Entry, names []string) (off, size int, ok bool) {
	for depth := 0; len(names) > 0; depth++ {
		m, at := t.memberNamed(e, names[0], 0)
		if m == nil || depth > maxDepth {
			return 0, 0, false
		}
		off, size, names = off+at, t.pointerOr(m), names[1:]
		if e = t.bare(m); e == nil {
			return 0, 0, false
		}
		if len(names) == 1 && e.Val(dwarf.AttrDeclaration) != nil {
			return off, 8, true
		}
	}
	return off, size, true
}

// memberNamed finds a member of a struct or of its bases, and its place.
func (t *Types) memberNamed(e *dwarfinfo.Entry, name string, depth int) (found *dwarfinfo.Entry, off int) {
	err := t.data.EachChild(e, func(m *dwarfinfo.Entry) (bool, error) {
		first, _, ok := t.place(m)
		switch {
		case !ok:
		case m.Tag == dwarf.TagMember && nameOf(m) == name:
			found, off = m, first/8
		case m.Tag == dwarf.TagInheritance && depth < maxDepth:
			if of := t.bare(m); of != nil {
				inner, at := t.memberNamed(of, name, depth+1)
				found, off = inner, first/8+at
			}
		}
		return found == nil, nil
	})
	if err != nil {
		return nil, 0
	}
	return found, off
}

// bare is the type of a member behind names and qualifiers; nil where it cannot be read.
func (t *Types) bare(m *dwarfinfo.Entry) *dwarfinfo.Entry {
	for range maxDepth {
		off, ok := m.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return nil
		}
		var err error
		if m, err = t.data.Entry(off); err != nil || m == nil {
			return nil
		}
		if m.Tag != dwarf.TagTypedef && !qualifies[m.Tag] {
			return m
		}
	}
	return nil
}

// pointerOr is the size of a member: of a pointer, that need not tell its size, 8.
func (t *Types) pointerOr(m *dwarfinfo.Entry) int {
	if of := t.bare(m); of != nil && of.Tag == dwarf.TagPointerType {
		return 8
	}
	return t.sizeOf(m)
}
