package elffile

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Names of functions without parameters, templates' arguments and Rust's hash.

// Bare is Demangle without what makes names of C++ and Rust long: the parameters, the arguments of templates and
// generics, and Rust's hash.
//
//	std::vector<int, std::allocator<int> >::push_back(int const&)   std::vector::push_back
//	core::ptr::drop_in_place<alloc::vec::Vec<u8>>                   core::ptr::drop_in_place
//	<shop::Cart<T> as core::fmt::Debug>::fmt                        <shop::Cart as core::fmt::Debug>::fmt
func Bare(name string) string {
	bare := ""
	if isRust(name) {
		bare = withoutGenerics(demangleAs(name, demangle.NoClones))
	} else {
		bare = demangleAs(name, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams)
	}
	if bare == "" {
		return name
	}
	return bare
}

// BareOfSource is Bare, also of a name of C++ that is not mangled, as debug information has those of which the linker
// knows none: ns::(anonymous namespace)::twice<int> is ns::(anonymous namespace)::twice.
func BareOfSource(name string) string {
	if Mangled(name) {
		return Bare(name)
	}
	var out strings.Builder
	for name != "" {
		at := strings.IndexAny(name, "<(")
		if at < 0 {
			break
		}
		end := at + closing(name[at:])
		keep := strings.HasPrefix(name[at:], "(anonymous namespace)") || strings.HasSuffix(name[:at], "operator") ||
			strings.HasSuffix(name[:at], "{lambda") ||
			!ofArguments(name[:at]) && (at > 0 || !strings.HasSuffix(out.String(), "operator()"))
		if keep {
			out.WriteString(name[:end])
		} else {
			out.WriteString(name[:at])
		}
		name = name[end:]
	}
	return out.String() + name
}

// closing is where the bracket with which a text begins is closed, and what is behind it.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '<', '(':
			depth++
		case '>', ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// hashLength is that of the hash at the end of an old name of Rust, with its length in front and the E behind:
// 17h0123456789abcdefE.
const hashLength = 2 + 1 + 16 + 1

// isRust reports whether a mangled name is one of Rust.
func isRust(name string) bool { return strings.HasPrefix(name, "_R") || isOldRust(name) }

// isOldRust reports whether it is an old name of Rust. These look like those of C++, but for the hash.
func isOldRust(name string) bool {
	if !strings.HasPrefix(name, "_ZN") {
		return false
	}
	if at := strings.LastIndex(name, "E."); at > 0 {
		name = name[:at+1]
	}
	if len(name) < hashLength || !strings.HasSuffix(name, "E") {
		return false
	}
	hash, found := strings.CutPrefix(name[len(name)-hashLength:len(name)-1], "17h")
	return found && strings.Trim(hash, hexDigits) == "" && severalDigits(hash)
}

const hexDigits = "0123456789abcdef"

// severalDigits reports whether a text has five different digits at least. The demangler takes it for no hash
// otherwise.
func severalDigits(text string) bool {
	different := 0
	for _, digit := range hexDigits {
		if strings.ContainsRune(text, digit) {
			different++
		}
	}
	return different >= 5
}

// withoutGenerics is a name of Rust without the arguments of generics. What stands in brackets at the begin of a path
// is no argument, but the type whose function it is.
func withoutGenerics(text string) string {
	var out strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			break
		}
		before := text[:at]
		inside, rest := bracketed(text[at:])
		path, arguments := strings.CutSuffix(before, "::")
		arguments = (arguments || ofArguments(before)) && !strings.HasPrefix(inside, "impl ")
		switch of := withoutGenerics(inside); {
		case arguments:
			out.WriteString(path)
		case isPath(of):
			out.WriteString(before + of)
		default:
			out.WriteString(before + "<" + of + ">")
		}
		text = rest
	}
	return out.String() + text
}

// ofArguments reports whether a bracket behind a text opens arguments: it follows a name.
func ofArguments(before string) bool {
	return before != "" && inName(before[len(before)-1])
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isPath reports whether a text is names with :: between them.
func isPath(text string) bool {
	other := func(c rune) bool { return c < 0x80 && !inName(byte(c)) && c != ':' }
	return text != "" && strings.IndexFunc(text, other) < 0
}

// bracketed takes apart a text that begins with an opening bracket: what is in it, and what stands behind it. The arrow
// in the type of a function closes none.
func bracketed(text string) (inside, rest string) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '<':
			depth++
		case '>':
			if text[i-1] == '-' {
				continue
			}
			if depth--; depth == 0 {
				return text[1:i], text[i+1:]
			}
		}
	}
	return text[1:], ""
}

// instance gives the name of an instance of a generic function of Go as stack traces print it, and without the
// brackets; false of what is none.
//
//	main.(*stack[go.shape.int]).push    main.(*stack[...]).push    main.(*stack).push
func instance(name string) (traced, bare string, generic bool) {
	if !strings.Contains(name, "[") || !strings.Contains(name, ".") || Mangled(name) {
		return "", "", false
	}
	var out strings.Builder
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '[':
			if depth++; depth == 1 {
				out.WriteString("[...]")
			}
		case ']':
			depth--
		default:
			if depth == 0 {
				out.WriteByte(name[i])
			}
		}
	}
	traced = out.String()
	return traced, strings.ReplaceAll(traced, "[...]", ""), depth == 0
}
