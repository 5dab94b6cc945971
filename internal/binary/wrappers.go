package binary

import (
	"debug/dwarf"
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/sourcefunc"
)

// Constructors and destructors of C++ that compilers make several functions of.
//
// Of a constructor or destructor of C++ compilers make several functions with one name of the source (Itanium C++ ABI,
// 5.1.4.3). Some are wrappers of others:
//
//	_ZN4CartD0Ev    Cart::~Cart    of delete: calls the next one, and frees the memory
//	_ZN4CartD1Ev    Cart::~Cart    of a whole object
//	_ZN4CartD2Ev    Cart::~Cart    of one that is a part of an object of a derived class
//	_ZN4CartD4Ev    Cart::~Cart    what gcc -Os makes of D1 and D2, which go on there
//
// One destruction is one call: that of the innermost of them.

// innerOf are, of the marks of such functions, those of functions that they may wrap.
var innerOf = []struct {
	mark  string
	inner []string
}{
	{"D0E", []string{"D1E", "D2E", "D4E"}}, {"D1E", []string{"D2E", "D4E"}}, {"D2E", []string{"D4E"}},
	{"C1E", []string{"C2E", "C4E"}}, {"C2E", []string{"C4E"}},
}

// wrapped are the names of the functions that one may wrap; none of most.
func wrapped(name string) (names []string) {
	if !strings.HasPrefix(name, "_Z") {
		return nil
	}
	for _, o := range innerOf {
		if at := strings.LastIndex(name, o.mark); at > 0 {
			for _, mark := range o.inner {
				names = append(names, name[:at]+mark+name[at+len(mark):])
			}
			return names
		}
	}
	return nil
}

// oneForEachCall gives the functions of a query so that each call of the source comes by one of them: without wrappers,
// and with thunks. A mangled name means the function that has it.
func (f *Finder) oneForEachCall(e *elffile.File, at *File, list []elffile.Function, inSource []*sourcefunc.Function,
	q Query) (out []elffile.Function) {
	if strings.HasPrefix(q.Pattern, "_Z") {
		return list
	}
	wanted, err := elffile.Matcher(q.Pattern)
	if q.Source != "" || err != nil {
		wanted = func(name string) bool {
			return slices.ContainsFunc(inSource, func(fn *sourcefunc.Function) bool {
				return elffile.Demangle(fn.Name) == elffile.Demangle(name)
			})
		}
	}
	list = f.withoutGoWrappers(e, at, list, inSource, q)
	f.withoutInnerCopies(e, at, list, inSource)
	return withThunks(e, withoutWrappers(e, list, inSource), inSource, wanted)
}

// withoutWrappers leaves out functions that call another one of the list for the same call of the source, and the
// copies that were inlined into such a function.
func withoutWrappers(e *elffile.File, list []elffile.Function, inSource []*sourcefunc.Function) (
	out []elffile.Function) {
	listed := map[uint64]bool{}
	for _, fn := range list {
		listed[fn.Addr] = true
	}
	for _, fn := range list {
		inner := wrapped(fn.Name)
		is := func(addr uint64) bool {
			return addr != fn.Addr && listed[addr] && slices.ContainsFunc(e.Aliases(addr), func(name string) bool {
				return slices.Contains(inner, name)
			})
		}
		switch {
		case len(inner) == 0:
		case slices.ContainsFunc(e.Aliases(fn.Addr), func(name string) bool { return slices.Contains(inner, name) }):
		case leaveOutCopies(fn, inSource): // it has the code of what it wraps
		case slices.ContainsFunc(calls(e, fn), is):
			continue
		}
		out = append(out, fn)
	}
	return out
}

// leaveOutCopies leaves out the copies of the function of a wrapper that were inlined into that, and reports whether
// there were any.
func leaveOutCopies(wrapper elffile.Function, inSource []*sourcefunc.Function) (some bool) {
	name, short := elffile.Demangle(wrapper.Name), elffile.DemangleShort(wrapper.Name)
	for _, fn := range inSource {
		// Of what g++ -Os makes of C1 and C2 it does not say the parameters.
		unsaid := fn.Name == short && fn.Name != name
		if elffile.Demangle(fn.Name) != name && !unsaid {
			continue
		}
		before := len(fn.Copies)
		fn.Copies = slices.DeleteFunc(fn.Copies, func(c sourcefunc.Copy) bool {
			return c.Entry >= wrapper.Addr && c.Entry-wrapper.Addr < wrapper.Size && (!unsaid || c.Within == 0)
		})
		some = some || len(fn.Copies) < before
	}
	return some
}

// A copyOf is a copy of a function.
type copyOf struct {
	fn    *sourcefunc.Function
	entry uint64
}

// withoutInnerCopies leaves out, of copies of wrappers that were inlined, those that call what they wrap: the function,
// which is one of the list, or where that was inlined into them, its copy.
func (f *Finder) withoutInnerCopies(e *elffile.File, at *File, list []elffile.Function,
	inSource []*sourcefunc.Function) {
	places := map[dwarf.Offset]copyOf{}
	for _, fn := range inSource {
		for i := range fn.Copies {
			places[fn.Copies[i].Place] = copyOf{fn, fn.Copies[i].Entry}
		}
	}
	listed := map[uint64]bool{}
	for _, fn := range list {
		listed[fn.Addr] = true
	}
	for _, fn := range inSource {
		inner := wrapped(fn.Name)
		fn.Copies = slices.DeleteFunc(fn.Copies, func(c sourcefunc.Copy) bool {
			return wraps(places[c.Within], copyOf{fn, c.Entry}) ||
				slices.ContainsFunc(f.callsOfCopy(e, at, inner, c), func(addr uint64) bool { return listed[addr] })
		})
	}
}

// wraps reports whether a copy is that of a wrapper of the constructor or destructor whose copy is directly in it. g++
// gives both one name, or does not say the parameters of the inner one; then they are one where they begin together: a
// call of the source, as of a constructor that another one delegates to, has other parameters or code in front of it.
func wraps(outer, inner copyOf) bool {
	switch {
	case outer.fn == nil:
		return false
	case slices.Contains(wrapped(outer.fn.Name), inner.fn.Name):
		return true
	case outer.entry != inner.entry || !isStructor(elffile.DemangleShort(inner.fn.Name)):
		return false
	}
	return outer.fn == inner.fn ||
		inner.fn.Line == outer.fn.Line && inner.fn.Name == elffile.DemangleShort(outer.fn.Name)
}

// isStructor reports whether a name of the source is that of a constructor or a destructor.
func isStructor(name string) bool {
	at := strings.LastIndex(name, "::")
	if at < 0 {
		return false
	}
	class, member := name[:at], strings.TrimPrefix(name[at+2:], "~")
	depth := 0
	for i := len(class); i > 0 && (depth > 0 || strings.HasSuffix(class, ">")); i-- {
		switch class[i-1] {
		case '>':
			depth++
		case '<':
			depth--
		}
		class = class[:i-1]
	}
	return class == member || strings.HasSuffix(class, "::"+member)
}

// callsOfCopy are the addresses of functions of some names that a copy calls; none where no names are given.
func (f *Finder) callsOfCopy(e *elffile.File, at *File, names []string, c sourcefunc.Copy) (addrs []uint64) {
	table := f.tables[at.Path]
	if len(names) == 0 || table == nil {
		return nil
	}
	entry, err := table.Data().Entry(c.Place)
	if err != nil || entry == nil {
		return nil
	}
	ranges, err := entry.Ranges()
	if err != nil {
		return nil
	}
	for _, r := range ranges {
		part := elffile.Function{Addr: r[0], Size: r[1] - r[0]}
		for _, addr := range calls(e, part) {
			if slices.ContainsFunc(e.Aliases(addr), func(name string) bool { return slices.Contains(names, name) }) {
				addrs = append(addrs, addr)
			}
		}
	}
	return addrs
}

// calls are the addresses of the functions that one calls, as far as its instructions say them, or a table of linkage
// does.
func calls(e *elffile.File, fn elffile.Function) (addrs []uint64) {
	code, err := e.Code(fn.Addr, fn.Size)
	if err != nil {
		return nil
	}
	targets, err := gofunc.Calls(runtime.GOARCH, code)
	if err != nil {
		return nil
	}
	for _, target := range targets {
		addr := fn.Addr + uint64(target)
		if through, is := e.Stub(addr); is {
			addr = through.Addr
		}
		addrs = append(addrs, addr)
	}
	return addrs
}
