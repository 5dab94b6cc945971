// Package cpplib knows what std::string of C++ is where debug information only declares it. clang leaves out classes
// that the library itself has instantiated, unless a program is built with -fstandalone-debug:
//
//	namespace std {
//	        inline namespace __cxx11 { class basic_string<char, …>; }
//	        typedef __cxx11::basic_string<char> string;
//	}
//
// In this inline namespace it is that of libstdc++ since gcc 5, whose ABI says what lies in it. The strings of libc++
// stand in std::__1, and are not known here.
package cpplib

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// std::string where debug information only declares it.

// A string is passed by the address of a copy. Its size, and the places of the address of its bytes and of their
// number, which takes eight, are in bytes (bits/basic_string.h: _M_dataplus, _M_string_length, _M_local_buf).
const (
	StringSize    = 32
	StringAddress = 0
	StringLength  = 8
)

// Strings finds declarations of std::string. It belongs to one goroutine.
type Strings struct {
	// Data is the debug information of the program.
	Data *dwarfinfo.Data
	// declared are the declarations of each unit that was asked for.
	declared map[*dwarfinfo.Unit]map[dwarf.Offset]bool
}

// Declared reports whether an entry is a declaration of std::string, and no more.
func (s *Strings) Declared(e *dwarfinfo.Entry) bool {
	if e.Val(dwarf.AttrDeclaration) == nil || !isString(e) {
		return false
	}
	if s.declared == nil {
		s.declared = map[*dwarfinfo.Unit]map[dwarf.Offset]bool{}
	}
	of, known := s.declared[e.Unit()]
	if !known {
		of = s.inUnit(e.Unit())
		s.declared[e.Unit()] = of
	}
	return of[e.Offset]
}

func isString(e *dwarfinfo.Entry) bool {
	name, _ := e.Val(dwarf.AttrName).(string)
	return strings.HasPrefix(name, "basic_string<char,")
}

// inUnit gives the classes of strings in std::__cxx11. What is damaged has none.
func (s *Strings) inUnit(u *dwarfinfo.Unit) map[dwarf.Offset]bool {
	out := map[dwarf.Offset]bool{}
	root, err := u.Root()
	if err != nil || root == nil {
		return out
	}
	s.namespaces(root, []string{"std", "__cxx11"}, func(e *dwarfinfo.Entry) {
		if isString(e) {
			out[e.Offset] = true
		}
	})
	return out
}

// namespaces calls f for what stands in the namespace of a path. A unit can have one in several parts.
func (s *Strings) namespaces(e *dwarfinfo.Entry, path []string, f func(*dwarfinfo.Entry)) {
	// A fault ends the walk: what stands behind it is not known, and a string there is as if it were not known at all.
	_ = s.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		switch {
		case len(path) == 0:
			f(kid)
		case kid.Tag == dwarf.TagNamespace && kid.Val(dwarf.AttrName) == path[0]:
			s.namespaces(kid, path[1:], f)
		}
		return true, nil
	})
}
