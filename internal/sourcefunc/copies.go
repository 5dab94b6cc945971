package sourcefunc

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// This file finds the copies of functions that were inlined:
//
//	function work          has code
//	  inlined doubled      a copy, with its own address and where the call stands; of the function doubled
//	    inlined half       a copy in the copy: a call of its own

// originList are the places of the functions of which copies are looked for.
func (s *search) originList() (out []dwarf.Offset) {
	for at := range s.origins {
		out = append(out, at)
	}
	return out
}

// copiesIn notes the copies in a unit.
func (s *search) copiesIn(u *dwarfinfo.Unit) error {
	w := &copiesWalk{search: s}
	return u.Walk(w.entry)
}

// A copiesWalk goes over the functions of a unit.
type copiesWalk struct {
	*search
	// around are the functions in which the walk is, the outermost first, with how deep they lie.
	around []functionAt
}

// functionAt is a function with code. Skipped: what is in it is known from another unit.
type functionAt struct {
	depth   int
	at      dwarf.Offset
	skipped bool
}

func (w *copiesWalk) entry(e *dwarfinfo.Entry, depth int) (into bool, err error) {
	for n := len(w.around); n > 0 && w.around[n-1].depth >= depth; n-- {
		w.around = w.around[:n-1]
	}
	switch e.Tag {
	case dwarf.TagSubprogram:
		return w.function(e, depth), nil
	case dwarf.TagInlinedSubroutine:
		if n := len(w.around); n > 0 && !w.around[n-1].skipped {
			w.copy(e, w.around[n-1].at)
		}
		return true, nil
	}
	return holders[e.Tag], nil
}

func (w *copiesWalk) function(e *dwarfinfo.Entry, depth int) (into bool) {
	at, ok := entryOf(e)
	if !ok {
		return false
	}
	in := functionAt{depth, e.Offset, !w.owns(at, e.Offset)}
	w.around = append(w.around, in)
	if w.Files != nil && !in.skipped {
		if of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok && w.origins[of] != nil {
			w.body(w.origins[of], e)
		}
	}
	return true
}

// maxCopies bounds the copies of a query.
const maxCopies = 1 << 18

func (w *copiesWalk) copy(e *dwarfinfo.Entry, around dwarf.Offset) {
	of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	fn := w.origins[of]
	if !ok || fn == nil || len(fn.Copies) > maxCopies {
		return
	}
	at, ok := entryOf(e)
	if !ok {
		return // nothing is left of it
	}
	at = w.afterHoisted(e, at)
	c := Copy{Entry: at, Place: e.Offset, Around: around}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if number, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
		if c.File = w.tables.File(e.Unit(), number); c.File != "" {
			c.File, c.Line = path.Clean(c.File), int(line)
		}
	}
	fn.Copies = append(fn.Copies, c)
}

// afterHoisted is where a copy begins that LLVM has scattered: it does not say, and the first range can be an
// instruction that it has put in front of a loop. The copy begins where its parameters do, where that is a range's
// begin.
func (w *copiesWalk) afterHoisted(e *dwarfinfo.Entry, first uint64) uint64 {
	ranges, err := e.Ranges()
	if err != nil || len(ranges) < 2 || ranges[0][0] != first || e.Has(dwarf.AttrEntrypc) {
		return first
	}
	begins := map[uint64]bool{}
	// What is damaged says nothing of where it begins.
	_ = w.data.EachChild(e.Keep(), func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag == dwarf.TagFormalParameter {
			spans, _, err := kid.Spans()
			for _, s := range spans {
				begins[s.Low] = true
			}
			return true, err
		}
		return true, nil
	})
	for _, r := range ranges {
		if begins[r[0]] {
			return r[0]
		}
	}
	return first
}

// result is what was found.
func (s *search) result() (out []*Function, err error) {
	files := map[string]bool{}
	for _, fn := range s.list {
		if len(fn.Bodies) == 0 && len(fn.Copies) == 0 {
			continue
		}
		if s.Files != nil && fn.File == "" {
			if fn.File = s.fileByLines(fn); !s.Files.Is(fn.File) {
				continue
			}
		}
		slices.Sort(fn.Bodies)
		slices.SortStableFunc(fn.Copies, func(a, b Copy) int { return cmp.Compare(a.Entry, b.Entry) })
		files[fn.File] = true
		out = append(out, fn)
	}
	switch {
	case len(out) == 0 && s.wrong != nil:
		return nil, s.wrong
	case s.Files == nil:
		return out, nil
	case !s.known:
		return nil, s.Files.Unknown()
	}
	_, err = s.Files.OneOf(files)
	return out, err
}

// lastName is the part of a name that the source has where the function is defined, as far as that is certain: of
// shop::cart::add it is add. Go's names stand in debug information as a whole. "" is a part of all names.
func lastName(text string) string {
	if strings.Contains(text, ").") {
		return text // main.(*cart).add
	}
	if strings.ContainsAny(text, "<>({[ ~") || strings.HasPrefix(text, "_Z") || strings.HasPrefix(text, "_R") ||
		strings.Contains(text, "operator") {
		return ""
	}
	return text[strings.LastIndexByte(text, ':')+1:]
}

// partOf reports whether a name of the source can be that of a function by its whole name.
func partOf(whole, short string) bool {
	return strings.ContainsAny(short, "{<") || strings.Contains(whole, short)
}
