package locals

import (
	"bytes"
	"debug/dwarf"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Parameters that are said to lie in the frame, and perhaps are not stored yet.
//
// Debug information of optimized code can say of a parameter that it lies in the frame of the function all the time. It
// came in registers, and the instructions that store it stand anywhere between those of the first lines. They are done
// when another function is called, which changes the registers.

// opFrameBase is the operation of an expression that adds to the base of the frame (DW_OP_fbreg), and opPiece the one
// behind a part (DW_OP_piece).
const opFrameBase, opPiece = 0x91, 0x93

// homed reports whether an entry is a parameter of the function with code that is said to lie in its frame all the
// time, or of which a part does: of the parts of a struct gcc says so where the rest is in registers.
func (w *walk) homed(e *dwarfinfo.Entry, chain []*dwarfinfo.Entry, depth int, place location.Place) bool {
	if e.Tag != dwarf.TagFormalParameter || depth > 0 || ofGo(w.function.Unit()) {
		return false
	}
	for _, x := range chain {
		expression, listed, err := x.Expression(dwarf.AttrLocation, w.pc)
		if err != nil || len(expression) < 2 {
			continue
		}
		const negative = 0x40 // of the last byte of the number: what came on the stack lies above the frame
		at := bytes.IndexByte(expression, opFrameBase)
		return at == 0 && !listed && onStack(place) && expression[len(expression)-1]&negative != 0 ||
			at >= 0 && bytes.IndexByte(expression[at:], opPiece) > 0
	}
	return false
}

// notStored makes parameters unknown that are perhaps not stored yet.
func (w *walk) notStored() {
	for i := range w.scope.Variables {
		v := &w.scope.Variables[i]
		if w.seen[v.Name].homed && w.pc < w.firstCall(w.function, 0) {
			v.Place = location.Place{}
		}
	}
}

// firstCall is behind the first call of a function, in the order of its addresses; 0 where it is not said to have any.
func (w *walk) firstCall(e *dwarfinfo.Entry, depth int) (first uint64) {
	// What is damaged ends the search: then there is no call that it tells of.
	_ = w.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		behind := uint64(0)
		switch {
		case kid.Tag == tagCallSite:
			behind, _ = kid.Val(dwarf.AttrCallReturnPC).(uint64)
		case kid.Tag == tagGNUCallSite:
			behind, _ = kid.Val(dwarf.AttrLowpc).(uint64)
		case blocks[kid.Tag] && depth < maxDepth:
			behind = w.firstCall(kid, depth+1)
		}
		if behind >= w.scope.Entry && behind-1 < first-1 {
			first = behind
		}
		return true, nil
	})
	return first
}

// onlyAtTimes reports whether a variable of which gcc gives one place, several registers, is perhaps there only at
// times: gcc does not follow an __int128 in optimized code, and says into which registers it has put it:
//
//	times(__int128 a, int n)   a comes in di and si, and is said to be in r10 and r11 from the first instruction on
func (w *walk) onlyAtTimes(p location.Place) bool {
	return p.Kind == location.Split && len(registersOf(p)) > 1 && byGCC(w.function.Unit()) &&
		!w.unoptimizedOf().Is(w.function)
}
