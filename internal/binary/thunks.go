package binary

import (
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/sourcefunc"
)

// Thunks of virtual functions that have the code of one that is wanted.
//
// Optimizers put a virtual function into its thunk (elffile.Thunk). Then calls through the base class do not come by
// the function itself, and the thunk is one more function of its name.

// withThunks adds to functions the thunks that have the code of one of them, or of one whose name is wanted.
func withThunks(e *elffile.File, list []elffile.Function, inSource []*sourcefunc.Function, wanted func(string) bool) (
	out []elffile.Function) {
	out = list
	listed := map[uint64]bool{}
	for _, fn := range list {
		listed[fn.Addr] = true
	}
	for _, thunk := range elffile.Thunks(e) {
		if listed[thunk.Addr] || !wanted(thunk.Of) {
			continue
		}
		fn := thunk.Function
		fn.Name = thunk.Of
		names := append(wrapped(fn.Name), fn.Name)
		if !leaveOutCopies(fn, inSource) && slices.ContainsFunc(calls(e, fn), func(addr uint64) bool {
			return slices.ContainsFunc(e.Aliases(addr), func(name string) bool { return slices.Contains(names, name) })
		}) {
			continue
		}
		listed[fn.Addr] = true
		out = append(out, fn)
	}
	return out
}

// thunkOf is the function that a thunk at an address has, or leads to; false where there is no thunk.
func thunkOf(e *elffile.File, addr uint64) (elffile.Function, bool) {
	for _, thunk := range elffile.Thunks(e) {
		if thunk.Addr != addr {
			continue
		}
		if list, err := e.Lookup(thunk.Of); err == nil && len(list) == 1 {
			return list[0], true
		}
	}
	return elffile.Function{}, false
}

// copiesInThunks are, of some copies, how many more there are in thunks that have the code of the function around them.
// gcc says nothing of these in debug information.
func copiesInThunks(e *elffile.File, copies []sourcefunc.Copy) (n int, in elffile.Function) {
	within := func(fn elffile.Function) (n int) {
		for i := range copies {
			if at := copies[i].Entry; at >= fn.Addr && at-fn.Addr < fn.Size {
				n++
			}
		}
		return n
	}
	for _, thunk := range elffile.Thunks(e) {
		list, err := e.Lookup(thunk.Of)
		if err != nil || len(list) != 1 || within(thunk.Function) > 0 {
			continue
		}
		if more := within(list[0]); more > 0 && !slices.Contains(calls(e, thunk.Function), list[0].Addr) {
			n, in = n+more, thunk.Function
		}
	}
	return n, in
}
