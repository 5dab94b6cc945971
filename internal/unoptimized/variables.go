package unoptimized

import (
	"debug/dwarf"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// What the place of a variable tells of how its function was compiled.

// The operations of expressions (DW_OP_…) that tell it.
const (
	opAddr, opDeref, opConst1u, opConsts     = 0x03, 0x06, 0x08, 0x11
	opReg0, opReg31, opBreg0, opBreg31       = 0x50, 0x6f, 0x70, 0x8f
	opRegx, opFbreg, opPiece, opCallFrameCFA = 0x90, 0x91, 0x93, 0x9c
	opStackValue, opAddrx, opEntryValue      = 0x9f, 0xa1, 0xa3
	opConstx, opGNUEntryValue, opGNUAddress  = 0xa2, 0xf3, 0xfb
	opGNUConst                               = 0xfc
)

// maxDepth bounds how deep blocks lie in each other.
const maxDepth = 64

// A look is one at the parameters and variables of a function.
type look struct {
	data     *dwarfinfo.Data
	function *dwarfinfo.Entry
	compiler compiler
	// fixed: one is in the frame all the time, or its address is, as only without optimization. moving: one is not.
	fixed, moving bool
}

// into looks at what a function or a block has, without what was inlined there.
func (l *look) into(e *dwarfinfo.Entry, depth int) error {
	return l.data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		var err error
		switch kid.Tag {
		case dwarf.TagFormalParameter, dwarf.TagVariable:
			err = l.at(kid)
		case dwarf.TagLexDwarfBlock:
			if depth < maxDepth {
				err = l.into(kid, depth+1)
			}
		}
		return !l.moving, err
	})
}

// at looks at one variable.
func (l *look) at(v *dwarfinfo.Entry) error {
	parameter := v.Tag == dwarf.TagFormalParameter
	list, listed, err := v.Spans()
	switch {
	case err != nil:
		return err
	case listed && (KeptByAddress(v, l.function) || l.compiler.rust && byAddress(list)):
		l.fixed = true
		return nil
	case listed:
		l.moving = l.moving || len(list) > 0 || parameter && l.compiler.drops()
		return nil
	}
	place, _ := v.Val(dwarf.AttrLocation).([]byte)
	switch {
	case len(place) == 0: // it is a constant, or nowhere
		l.moving = l.moving || parameter && l.compiler.drops()
	case inFrame(place):
		l.fixed = l.fixed || l.tells(v, place)
	case parameter && l.movedOn(place):
	case l.compiler.gcc && !l.compiler.asked() && inRegister(place): // declared as "register"
	case !static(place):
		l.moving = true
	}
	return nil
}

// inFrame reports whether a place is memory of the call, or leads on from there.
func inFrame(place []byte) bool {
	const rbp, rsp, fp, sp = 6, 7, 29, 31 // of amd64, and of arm64
	op, n := place[0], len(place)
	if place[n-1] == opStackValue || n > 1 && place[n-2] == opPiece {
		return false
	}
	switch {
	case op == opFbreg, op == opCallFrameCFA:
		return true
	case op < opBreg0 || op > opBreg31:
		return false
	}
	return slices.Contains([]byte{rbp, rsp, fp, sp}, op-opBreg0) || n > 2 || n > 1 && place[1] != 0
}

// inRegister reports whether a place is a register, or what one was at the function's entry.
func inRegister(place []byte) bool {
	op := place[0]
	return op >= opReg0 && op <= opReg31 || op == opRegx || op == opEntryValue || op == opGNUEntryValue
}

// static reports whether a place is one outside of all calls, or of a thread.
func static(place []byte) bool {
	op := place[0]
	return place[len(place)-1] != opStackValue && (op == opAddr || op >= opConst1u && op <= opConsts || op == opAddrx ||
		op == opConstx || op == opGNUAddress || op == opGNUConst)
}

// tells reports whether a place in the frame is one that a variable has only without optimization. With it, gcc and
// clang have variables there whose addresses are taken, and parameters that are passed on the stack. A parameter that
// is passed in a register is not in the frame before it was put there.
func (l *look) tells(v *dwarfinfo.Entry, place []byte) bool {
	if !l.compiler.gcc && !l.compiler.clang {
		return true
	}
	return v.Tag == dwarf.TagFormalParameter && place[0] == opFbreg && below(place[1:])
}

// below reports whether the number that begins here, in the form of signed LEB128, is negative.
func below(number []byte) bool {
	const more, sign = 0x80, 0x40
	for _, b := range number {
		if b&more == 0 {
			return b&sign != 0
		}
	}
	return false
}

// movedOn reports whether the place of a parameter is all the time where its address leads, which a register has. So
// rustc, clang, and gcc on arm64, have it without optimization where the register is needed for nothing else.
func (l *look) movedOn(place []byte) bool {
	return (l.compiler.rust || l.compiler.clang || l.compiler.gcc) && leadsOn(place) && len(place) == 2
}

// leadsOn reports whether a place is where an address leads that a register has, or the frame.
func leadsOn(place []byte) bool {
	n := len(place)
	return n > 1 && place[0] >= opBreg0 && place[0] <= opBreg31 &&
		(n == 2 && place[1] == 0 || n > 2 && place[n-1] == opDeref)
}

// KeptByAddress reports whether a variable is where an address leads that a register or the frame has, from some
// instruction behind the first one of its function on. So rustc and clang have it without optimization of what is
// passed by its address, and of a variable that is what the function returns in memory. With optimization it is known
// from the first instruction on.
func KeptByAddress(v, function *dwarfinfo.Entry) bool {
	if c := compilerOf(function.Unit()); !c.rust && !c.clang {
		return false
	}
	ranges, err := function.Ranges()
	if err != nil || len(ranges) == 0 {
		return false
	}
	list, listed, err := v.Spans()
	return listed && err == nil && byAddress(list) && !slices.ContainsFunc(list, func(s dwarfinfo.Span) bool {
		return s.Low <= ranges[0][0]
	})
}

// byAddress reports whether all places of a list are where an address leads, or in the frame.
func byAddress(list []dwarfinfo.Span) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s dwarfinfo.Span) bool {
		is := s.Expr
		return len(is) == 0 || !leadsOn(is) && !inFrame(is) && is[0] != opEntryValue && is[0] != opGNUEntryValue
	})
}
