package locals

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Instructions of an inlined function that debug information gives to the one around it.
//
// An optimizer mixes the instructions of functions that it has inlined with those of the function around them, and then
// says of some that they are of the latter:
//
//	static int twice(int n) { return n * 2; }     line 1
//	int main(void) { … twice(x) … }               line 2; some of the instructions of line 1 lie in main only
//
// The source tells whose they are. At such an instruction the variables are those of the copy, where their lists of
// places have it. Of several copies nobody knows which one runs.

// A gap looks for the copies of the function to which a line belongs.
type gap struct {
	*Finder
	line SourceLine
	// after is the line of the declaration of the function that has the instruction; 0: the line is of none of those
	// around it.
	after int64
	// copies are those of the function that is declared at the line nearest, as far as they are known.
	copies  []*dwarfinfo.Entry
	nearest int64
	// maybe: the line is of no function around the instruction, and it can be of a copy that has no other instructions
	// of it.
	maybe bool
	steps int
}

// acrossGap gives the path to the copy that an instruction belongs to which lies around it; lost: it may be another
// one. within and after are what upTo has found of the line.
func (f *Finder) acrossGap(within []*dwarfinfo.Entry, after int64, line SourceLine) (path []*dwarfinfo.Entry, lost bool,
	err error) {
	if line.Number == 0 {
		return within, false, nil
	}
	maybe := false
	for i := len(within) - 1; i >= 0; i-- {
		if within[i].Tag == dwarf.TagLexDwarfBlock {
			continue
		}
		g := &gap{Finder: f, line: line, after: after, nearest: after}
		if err := g.in(within[i], 0); err != nil {
			return nil, false, err
		}
		if len(g.copies) > 0 {
			return append(within[:1:1], g.copies[0]), len(g.copies) > 1, nil
		}
		maybe = maybe || g.maybe
	}
	return within, maybe, nil
}

// declaredBefore gives the line of the declaration of a function if it is before a line, in its file.
func (f *Finder) declaredBefore(e *dwarfinfo.Entry, line SourceLine) (int64, bool) {
	if e.Tag == dwarf.TagLexDwarfBlock {
		return 0, false
	}
	chain := f.Data.Origins(e)
	declared, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
	return declared, declared > 0 && declared <= int64(line.Number) && f.declaredIn(chain, line.File)
}

// in goes over what lies in an entry.
func (g *gap) in(e *dwarfinfo.Entry, depth int) error {
	if depth > maxDepth {
		return nil
	}
	return g.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if g.steps++; g.steps > maxSteps {
			return false, nil
		}
		switch kid.Tag {
		case dwarf.TagInlinedSubroutine:
			if err := g.add(kid); err != nil {
				return false, err
			}
		case dwarf.TagLexDwarfBlock:
		default:
			return true, nil
		}
		return true, g.in(kid, depth+1)
	})
}

// add takes a copy of a function that has the line: it has instructions before and behind it. Behind the declaration of
// the function that has the instruction others can be declared within it, and what a generator has written tells lines
// of another file.
func (g *gap) add(e *dwarfinfo.Entry) error {
	declared, ok := g.declaredBefore(e, g.line)
	if !ok || declared < g.nearest || declared <= g.after {
		return nil
	}
	first, last, known, err := g.blockLines(e, g.line)
	if err != nil || !known || g.line.Number < first || g.line.Number > last {
		g.maybe = g.maybe || g.after == 0
		return err
	}
	if declared > g.nearest {
		g.copies, g.nearest = nil, declared
	}
	g.copies = append(g.copies, e)
	return nil
}
