package binary

import (
	"debug/dwarf"
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/sourcefunc"
)

// Functions of Go that only call one of the source are left out.
//
// The compiler of Go makes functions that only call one of the source. Debug information calls them trampolines:
//
//	main.f.deferwrap1    what `defer f(x)` runs at the end
//	main.f.gowrap1       what `go f(x)` starts
//	main.T.get-fm        the method of a value, as a function
//	main.(*T).get        the method of T, for interfaces that hold a *T; also for what embeds a T
//	main.sum[int]        the function for ints, which gives a dictionary to main.sum[go.shape.int]
//
// A pattern does not mean them, since the function that they call is called once.

// goWrapperByName reports whether such a function can be told by its name. The code of a generic function is for shapes
// of its types, and what has the types themselves gives a dictionary to that.
func goWrapperByName(name string) bool {
	if _, types, generic := strings.Cut(name, "["); generic && !strings.Contains(types, "go.shape.") {
		return true
	}
	last := strings.TrimRight(name[strings.LastIndex(name, ".")+1:], "0123456789")
	return last == "deferwrap" || last == "gowrap" || strings.HasSuffix(name, "-fm")
}

// goABI is what stands behind the name of a function that is called with all on the stack.
const goABI = ".abi0"

// withoutGoWrappers leaves out such functions of Go, and copies of them, unless a query names them, or means nothing
// else.
func (f *Finder) withoutGoWrappers(e *elffile.File, at *File, list []elffile.Function,
	inSource []*sourcefunc.Function, q Query) []elffile.Function {
	if at.Go == "" || len(list) == 0 {
		return list
	}
	said := f.trampolines(at, list)
	is := func(fn elffile.Function) bool {
		return said[fn.Addr] || said == nil && goWrapperByName(fn.Name) || wrapsABI(e, fn) || goesToMethod(e, fn)
	}
	var out []elffile.Function
	wrappers := map[uint64]bool{}
	for _, fn := range list {
		if !elffile.Spells(q.Pattern, fn.Name) && is(fn) {
			wrappers[fn.Addr] = true
			continue
		}
		out = append(out, fn)
	}
	if len(out) == 0 && countCopies(inSource) == 0 {
		return list
	}
	for _, fn := range inSource {
		fn.Copies = slices.DeleteFunc(fn.Copies, func(c sourcefunc.Copy) bool { return wrappers[c.Body] })
	}
	return out
}

// trampolines are those of some functions, by their addresses, as debug information has them; nil where there is none.
func (f *Finder) trampolines(at *File, list []elffile.Function) map[uint64]bool {
	table := f.tables[at.Path]
	if table == nil {
		return nil
	}
	said := map[uint64]bool{}
	units := map[*dwarfinfo.Unit]bool{}
	for _, fn := range list {
		u, err := table.Data().UnitOf(fn.Addr)
		if err != nil || u == nil || units[u] {
			continue
		}
		units[u] = true
		// What is damaged says nothing of the others.
		_ = u.Walk(func(e *dwarfinfo.Entry, _ int) (bool, error) {
			if low, ok := e.Low(); ok && e.Has(dwarf.AttrTrampoline) {
				said[low] = true
			}
			return false, nil
		})
	}
	return said
}

// wrapsABI reports whether a function only calls the one of its name of the other ABI of Go: of two, one for calls by
// registers and one for calls by the stack, it is the one that the linker has made.
func wrapsABI(e *elffile.File, fn elffile.Function) bool {
	other, onStack := strings.CutSuffix(fn.Name, goABI)
	if !onStack {
		other = fn.Name + goABI
	}
	return slices.ContainsFunc(calls(e, fn), func(addr uint64) bool {
		return addr != fn.Addr && slices.Contains(e.Aliases(addr), other)
	})
}

// goesToMethod reports whether a method of a pointer ends with a jump to another function, as no function does that
// Go compiles from the source. Debug information does not tell it apart.
func goesToMethod(e *elffile.File, fn elffile.Function) bool {
	if !strings.Contains(fn.Name, ".(*") || e.Language(fn) != elffile.LanguageGo {
		return false
	}
	code, err := e.Code(fn.Addr, fn.Size)
	if err != nil {
		return false
	}
	left, err := gofunc.FindReturns(runtime.GOARCH, code)
	return err == nil && len(left.Tail) > 0 && len(left.At) == 0
}
