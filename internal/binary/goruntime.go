package binary

import (
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/kernel"
)

// Where a program of Go has the descriptions of its types.

// goRuntime is where a program of Go has the descriptions of its types: between two symbols that its linker makes;
// false of others, and where these were stripped. Other ways to it are the runtime's variable of its module, whose
// members move between releases.
func (f *Finder) goRuntime(at *File) (kernel.GoRuntime, bool) {
	e := f.open[at.Path]
	if e == nil || at.Go == "" {
		return kernel.GoRuntime{}, false
	}
	for _, from := range []*elffile.File{e, f.debug[at.Path]} {
		if from == nil {
			continue
		}
		first, err := from.Variable("runtime.types")
		if err != nil {
			continue
		}
		if end, err := from.Variable("runtime.etypes"); err == nil && first.Addr < end.Addr {
			return kernel.GoRuntime{Path: at.Path, First: first.Addr, End: end.Addr, Moves: e.Moves()}, true
		}
	}
	return kernel.GoRuntime{}, false
}
