package unoptimized

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Whether a crate of Rust was optimized.
//
// rustc does not say so. Of a function that the description of a type declares, as the methods of an impl, it does not
// even say that LLVM has changed how it is called (DW_AT_calling_convention). Its parameters can lie in the frame, as
// those of functions do that were not optimized, if it takes their addresses. But a crate has one level of
// optimization, and in one that was optimized some parameters are in registers.

// A crate is what rustc compiles at once, by its source and the folder in which it ran.
type crate struct{ source, folder string }

// crateOf gives the crate of a unit, which is one of several that rustc splits it into.
func crateOf(u *dwarfinfo.Unit) (c crate, ok bool) {
	root, err := u.Root()
	if err != nil || root == nil || !compilerOf(u).rust {
		return c, false
	}
	name, _ := root.Val(dwarf.AttrName).(string)
	c.source, _, _ = strings.Cut(name, "/@/")
	c.folder, _ = root.Val(dwarf.AttrCompDir).(string)
	return c, true
}

// optimizes reports whether the crate of a unit was optimized.
func (j *Judge) optimizes(u *dwarfinfo.Unit) bool {
	c, ok := crateOf(u)
	is, known := j.crates[c]
	if known || !ok {
		return is
	}
	s := &signs{}
	s.in(u)
	units, err := j.data.Units()
	for _, other := range units {
		if of, ok := crateOf(other); err != nil || s.decided() || !ok || of != c {
			continue
		}
		s.in(other)
	}
	// Without parameters (-Cdebuginfo=1) nothing tells it.
	is = s.optimized || s.parameters == 0
	j.crates[c] = is
	return is
}

// signs are those of optimization.
type signs struct {
	// optimized: there is one. parameters is how many of functions were looked at that are none.
	optimized  bool
	parameters int
}

// enough is the number of parameters of which one is a sign if there was any optimization.
const enough = 200

func (s *signs) decided() bool { return s.optimized || s.parameters >= enough }

// in looks through a unit.
func (s *signs) in(u *dwarfinfo.Unit) {
	// What is damaged has no more signs.
	_ = u.Walk(func(e *dwarfinfo.Entry, _ int) (into bool, err error) {
		switch {
		case s.decided():
		case e.Tag == dwarf.TagNamespace:
			return true, nil
		case e.Tag == dwarf.TagSubprogram:
			ranges, err := e.Ranges()
			if err != nil || len(ranges) == 0 {
				return false, nil
			}
			const noCall = 3 // DW_CC_nocall
			convention, _ := e.Val(dwarf.AttrCalling).(int64)
			s.optimized = convention == noCall
			return !s.optimized, nil
		case e.Tag == dwarf.TagFormalParameter:
			s.at(e)
		}
		return false, nil
	})
}

// at looks at a parameter.
func (s *signs) at(p *dwarfinfo.Entry) {
	s.parameters++
	list, listed, err := p.Spans()
	if !listed {
		place, _ := p.Val(dwarf.AttrLocation).([]byte)
		list = []dwarfinfo.Span{{Expr: place}}
		s.optimized = len(place) == 0 && p.Has(dwarf.AttrConstValue)
	}
	s.optimized = s.optimized || err == nil && slices.ContainsFunc(list, func(at dwarfinfo.Span) bool {
		n := len(at.Expr)
		return n > 0 && (at.Expr[n-1] == opStackValue || at.Expr[0] >= opReg0 && at.Expr[0] <= opReg31)
	})
}
