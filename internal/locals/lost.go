package locals

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// A LostError says that a variable can be one of a source file whose debug information is in a file of its own that is
// not known.
type LostError struct {
	// Own: it is the source file of the function.
	Own bool
	// Files have that debug information.
	Files []dwarfinfo.Lost
	// Others are the names by which variables of that name can be asked for that are known.
	Others []string
}

func (e *LostError) Error() string {
	text := "some source files of the program have their debug information in files of their own, "
	if e.Own {
		text = "the debug information of this function's source file is in a file of its own, "
	}
	text += dwarfinfo.Tell(e.Files)
	if len(e.Others) > 0 {
		text += fmt.Sprintf("; getattr(e.globals, %q) is one of another file", e.Others[0])
	}
	return text
}

// mayBeLost is a *LostError where the variable that is meant can be one of a file that is not known: that of the
// function itself comes before all others, and any other can have one that it shares. What is found in the function's
// file, or is shared, or is of a file that was named, is the one that is meant.
func (g *globals) mayBeLost(as view, from Viewpoint) error {
	if g.files != nil && len(g.list) > 0 {
		return nil
	}
	lost, own := g.lostOf(as, from)
	if own && g.files == nil {
		return &LostError{true, []dwarfinfo.Lost{lost}, g.namedByFile()}
	}
	if as.home != nil && g.own(as) != nil || g.sharedAround(as) != nil {
		return nil
	}
	all := g.Data.LostUnits()
	if len(all) == 0 {
		return nil
	}
	return &LostError{false, all, g.namedByFile()}
}

// lostOf is the file of the function's source, if that is not known. Of a function whose unit is only a skeleton, home
// is that, or not known.
func (g *globals) lostOf(as view, from Viewpoint) (dwarfinfo.Lost, bool) {
	if as.home != nil {
		return as.home.Lost()
	}
	return g.Data.Split(from.PC)
}

// namedByFile are the names of all variables with their source files.
func (g *globals) namedByFile() (out []string) {
	for _, one := range g.list {
		if one.defined {
			out = append(out, g.inFile(one))
		}
	}
	slices.Sort(out)
	return out
}
