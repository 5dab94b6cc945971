package elffile

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Names of C++ and Rust demangled, as their authors wrote them, with or without parameters.

// maxDemangled is the logarithm of the longest name: templates can multiply to
// any length.
const maxDemangled = 12

// Mangled says whether a name is one of C++ or Rust.
func Mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")
}

// Demangle gives a name of C++ or Rust as its author wrote it, with
// parameters; other names as they are.
func Demangle(name string) string {
	if full := demangleAs(name); full != "" {
		return full
	}
	return name
}

// DemangleShort is Demangle without the parameters.
func DemangleShort(name string) string {
	if short := demangleAs(name, demangle.NoParams); short != "" {
		return short
	}
	return name
}

// coroutineMarks are what compilers put behind the name of a coroutine of C++ for the functions that go on with it, and
// that end it: of f(int) they are _Z1fi.resume and _Z1fi.destroy. They are no calls of f, so without parameters their
// names are f.resume and f.destroy. gcc has .actor for .resume.
var coroutineMarks = []string{".actor", ".resume", ".destroy", ".cleanup"}

// GoesOn reports whether a name is that of such a function.
func GoesOn(name string) bool {
	_, mark := cutCoroutine(name)
	return mark != ""
}

// cutCoroutine takes the mark from the name of such a function.
func cutCoroutine(name string) (of, mark string) {
	for _, mark := range coroutineMarks {
		if of, is := strings.CutSuffix(name, mark); is && strings.HasPrefix(name, "_Z") {
			return of, mark
		}
	}
	return name, ""
}

func demangleAs(name string, options ...demangle.Option) string {
	if !Mangled(name) || len(name) > 1<<maxDemangled {
		return ""
	}
	mark := ""
	if len(options) > 0 {
		name, mark = cutCoroutine(name)
	}
	text, err := demangle.ToString(keepUnderscores(name), append(options, demangle.MaxLength(maxDemangled))...)
	if err != nil || text == name {
		return ""
	}
	return withoutTags(text) + mark
}

// keepUnderscores is a mangled name as the demangler wants it. In an old name of Rust (hashLength) the demangler
// takes an underscore behind the length of a part for a separator, and leaves it out. But rustc puts one there only
// where the part would begin with a $, and else it is of the name: _ZN3und4_one17h0123456789abcdefE is und::_one. So
// an underscore of the name is doubled.
func keepUnderscores(name string) string {
	if !isOldRust(name) {
		return name
	}
	var out strings.Builder
	rest := name[len("_ZN"):]
	out.WriteString("_ZN")
	for {
		part := strings.TrimLeft(rest, "0123456789")
		n, err := strconv.Atoi(rest[:len(rest)-len(part)])
		if err != nil || n > len(part) {
			break // the end, or no name
		}
		rest = part[n:]
		part = part[:n]
		if strings.HasPrefix(part, "_") && !strings.HasPrefix(part, "_$") {
			part = "_" + part
		}
		out.WriteString(strconv.Itoa(len(part)) + part)
	}
	return out.String() + rest
}

// withoutTags is a name without the tags that a compiler gives to what returns a std::string and its kin, and no source
// has: make[abi:cxx11]().
func withoutTags(name string) string {
	for {
		before, rest, found := strings.Cut(name, "[abi:")
		_, after, closed := strings.Cut(rest, "]")
		if !found || !closed {
			return name
		}
		name = before + after
	}
}

// demangle fills t.demangled.
func (t *functionTable) demangle() {
	if t.demangled != nil {
		return
	}
	t.demangled = make([]nameForms, len(t.list))
	for i, fn := range t.list {
		t.demangled[i] = formsOf(fn.Name)
	}
}

// formsOf reads a name twice if it has parameters, which Rust's have not.
func formsOf(name string) nameForms {
	if traced, bare, generic := instance(name); generic {
		return nameForms{short: traced, bare: bare}
	}
	forms := nameForms{full: demangleAs(name)}
	if strings.Contains(forms.full, "(") {
		forms.short = demangleAs(name, demangle.NoParams)
	}
	if strings.Contains(forms.full, "<") {
		if bare := Bare(name); bare != forms.short {
			forms.bare = bare
		}
	}
	return forms
}

// Demangled gives the function's name as its author wrote it.
func (fn Function) Demangled() string { return Demangle(fn.Name) }
