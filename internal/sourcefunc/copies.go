package sourcefunc

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Where copies of inlined functions begin, and where they are called.
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
	if err := u.Walk(w.entry); err != nil {
		return err
	}
	if err := w.turns(u); err != nil {
		return err
	}
	return w.addRepeats(u)
}

// A copiesWalk goes over the functions of a unit.
type copiesWalk struct {
	*search
	// around are the functions in which the walk is, the outermost first, with how deep they lie.
	around []functionAt
	// within are these functions and the copies in them in which the walk is.
	within []within
	// marked and repeats are the copies that were found of which other places are looked for.
	marked  []marked
	repeats []repeated
}

// within is a function, or a copy of one, in which there is something: how deep it lies, and the function as the source
// has it.
type within struct {
	depth int
	of    dwarf.Offset
	// begins: it has code where it begins. Of a copy the compiler may have left nothing but a part.
	begins bool
	// place is where debug information speaks of a copy, 0 of a function.
	place dwarf.Offset
	// marked is which of the marked copies it is; -1: none.
	marked int
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
	for n := len(w.within); n > 0 && w.within[n-1].depth >= depth; n-- {
		w.within = w.within[:n-1]
	}
	switch e.Tag {
	case dwarf.TagSubprogram:
		w.within = append(w.within, within{depth, originOf(e), true, 0, -1})
		return w.function(e, depth), nil
	case dwarf.TagInlinedSubroutine:
		part := w.isPart(e)
		at, begins := entryOf(e)
		which := -1
		if n := len(w.around); n > 0 && !w.around[n-1].skipped && !part && begins {
			which = w.copy(e, at, w.around[n-1].at)
		}
		w.apart(originOf(e), which)
		w.within = append(w.within, within{depth, originOf(e), begins, e.Offset, which})
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
	if of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok && w.origins[of] != nil && !in.skipped {
		w.own[of] = at
		if w.Files != nil {
			w.body(w.origins[of], e)
		}
	}
	return true
}

// originOf is where debug information speaks of a function as the source has it.
func originOf(e *dwarfinfo.Entry) dwarf.Offset {
	if of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		return of
	}
	return e.Offset
}

// isPart reports whether a copy is a part of the function that is around it, and no call of it. gcc splits a function
// behind an early return, as f and f.part.0, puts f into its callers, and can put the part into that again. For the
// call of the part, which the source does not have, it gives the place at which the name of the function is declared.
//
//	static int f(int n)        // line 5, column 12: the call of f.part.0 is said to stand here
//	{ if (n < 0) return 0; … }
//
// Where nothing else is left of f, its part stands for the call.
func (w *copiesWalk) isPart(e *dwarfinfo.Entry) bool {
	of := originOf(e)
	if n := len(w.within); n == 0 || w.within[n-1].of != of || !w.within[n-1].begins {
		return false
	}
	for call, declared := range map[dwarf.Attr]dwarf.Attr{
		dwarf.AttrCallFile: dwarf.AttrDeclFile, dwarf.AttrCallLine: dwarf.AttrDeclLine,
		dwarf.AttrCallColumn: dwarf.AttrDeclColumn,
	} {
		if !e.Has(call) || e.Val(call) != w.declared(of, declared) {
			return false
		}
	}
	return true
}

// declared is what the entry of a function says of where it is declared, or that of the member of a class that it is.
func (w *copiesWalk) declared(of dwarf.Offset, name dwarf.Attr) any {
	for range 2 {
		fn, err := w.data.Entry(of)
		if err != nil || fn == nil {
			return nil
		}
		if fn.Has(name) {
			return fn.Val(name)
		}
		of, _ = fn.Val(dwarf.AttrSpecification).(dwarf.Offset)
	}
	return nil
}

// maxCopies bounds the copies of a query.
const maxCopies = 1 << 18

// copy notes a copy, and gives which of the marked ones it is, or -1.
func (w *copiesWalk) copy(e *dwarfinfo.Entry, at uint64, around dwarf.Offset) (which int) {
	of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	fn := w.origins[of]
	if !ok || fn == nil || len(fn.Copies) > maxCopies {
		return -1
	}
	at = w.afterHoisted(e, at)
	c := Copy{Entry: at, View: e.EntryView(), Place: e.Offset, Around: around, of: of}
	if n := len(w.within); n > 0 {
		c.Within = w.within[n-1].place
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if number, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
		if c.File = w.tables.File(e.Unit(), number); c.File != "" {
			c.File, c.Line = path.Clean(c.File), int(line)
		}
	}
	fn.Copies = append(fn.Copies, c)
	w.mayRepeat(e, fn, len(fn.Copies)-1)
	m, ok := w.markOf(e, fn)
	if !ok {
		return -1
	}
	ranges, err := e.Ranges()
	if err != nil {
		return -1
	}
	w.marked = append(w.marked, marked{fn, len(fn.Copies) - 1, c, moment{at, c.View}, m, true, ranges})
	return len(w.marked) - 1
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
		for i := range fn.Copies {
			fn.Copies[i].Body = s.own[fn.Copies[i].of]
		}
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
// shop::cart::add it is add. Go's names stand in debug information as a whole, also with what is within brackets: of
// main.stack.push it is main.stack. "" is a part of all names.
func lastName(text string) string {
	if strings.Contains(text, ").") {
		return text // main.(*cart).add
	}
	if strings.ContainsAny(text, "<>({[ ~") || strings.HasPrefix(text, "_Z") || strings.HasPrefix(text, "_R") ||
		strings.Contains(text, "operator") {
		return ""
	}
	text = text[strings.LastIndexByte(text, ':')+1:]
	from := strings.LastIndexByte(text, '/') + 1
	pkg, rest, _ := strings.Cut(text[from:], ".")
	if name, _, more := strings.Cut(rest, "."); more {
		return text[:from] + pkg + "." + name
	}
	return text
}

// partOf reports whether a name of the source can be that of a function by its whole name.
func partOf(whole, short string) bool {
	return strings.ContainsAny(short, "{<[") || strings.Contains(whole, short)
}
