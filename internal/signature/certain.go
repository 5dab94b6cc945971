package signature

import (
	"debug/dwarf"
	"strings"
)

// changed reports whether the compiler may have moved the parameters of a function: gcc
// and clang do so with functions that only their own unit calls. gcc gives what it makes
// another name (IsClone), clang tells nobody.
func (f *finder) changed(chain []*dwarf.Entry) bool {
	if f.language == langGo {
		name, _ := attribute(chain, dwarf.AttrName).(string)
		return strings.Contains(name, "[") // a dictionary takes a register
	}
	producer, _ := f.unit.Val(dwarf.AttrProducer).(string)
	external, _ := attribute(chain, dwarf.AttrExternal).(bool)
	return !external && !strings.HasPrefix(producer, "GNU ")
}

// IsClone reports whether a symbol is that of a changed copy of a function.
func IsClone(symbol string) bool {
	for _, mark := range []string{".isra.", ".constprop.", ".part.", ".cold", ".llvm."} {
		if strings.Contains(symbol, mark) {
			return true
		}
	}
	return false
}

// plain reports whether a struct is passed as C passes it, wherever it stands: one of C
// is; one of C++ if it has members only, for what has functions or bases may be passed by
// its address.
func (f *finder) plain(s *dwarf.StructType) bool {
	switch f.language {
	case langRust:
		return false
	case 0x04, 0x1a, 0x21, 0x2b:
		return s.Kind != "class" && f.membersOnly(s)
	}
	return true
}

// membersOnly looks for the definition of a struct of C++ by what debug/dwarf leaves out of
// its type: bases and functions. They would show in its entry, which a StructType does not
// name, so all entries of the unit are asked for the one of this name and size.
func (f *finder) membersOnly(s *dwarf.StructType) bool {
	r := f.data.Reader()
	r.Seek(f.unit.Offset)
	if e, err := r.Next(); err != nil || e == nil || s.StructName == "" {
		return false
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == dwarf.TagCompileUnit {
			return false
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		size, _ := e.Val(dwarf.AttrByteSize).(int64)
		switch {
		case (e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagUnionType) && name == s.StructName &&
			size == s.ByteSize:
			return onlyMembers(r, e)
		case e.Tag == dwarf.TagSubprogram:
			r.SkipChildren()
		}
	}
}

func onlyMembers(r *dwarf.Reader, e *dwarf.Entry) bool {
	for e.Children {
		m, err := r.Next()
		if err != nil || m == nil {
			return false
		}
		if m.Tag == 0 {
			break
		}
		if m.Tag != dwarf.TagMember {
			return false
		}
		r.SkipChildren()
	}
	return true
}
