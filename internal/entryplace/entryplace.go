package entryplace

import (
	"debug/dwarf"
	"math"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/location"
)

// Where debug information has a parameter at a function's entry, judged against the ABI.

// What expressions are computed from when nothing of the function has run: the stack pointer before its call, and what
// its DW_AT_frame_base is, where that is another place.
const (
	callFrame  = "the frame of the call"
	otherFrame = "another frame"
)

// Of gives the place of a parameter at the entry of its function, which a compiler has made for an architecture; lost:
// it is in places that a list has, of which none is of the entry.
func Of(p, function *dwarfinfo.Entry, producer, arch string) (place location.Place, lost bool) {
	ranges, err := function.Ranges()
	if err != nil || len(ranges) == 0 {
		return location.Place{}, false
	}
	expression, listed, err := firstExpression(p, ranges[0][0])
	if err != nil {
		return location.Place{}, false
	}
	place = location.Of(expression, entryFrame(arch, function))
	if !listed && place.Kind == location.Held && !follows(producer) {
		return location.Place{}, false
	}
	return place, listed && expression == nil
}

// firstExpression is the expression of the place of a parameter before anything of its function at pc has run: gcc has
// for an assignment there one row that holds for no instruction, and then another one.
func firstExpression(p *dwarfinfo.Entry, pc uint64) (expression []byte, listed bool, err error) {
	list, listed, err := p.Spans()
	if !listed || err != nil {
		expression, _, err = p.Expression(dwarf.AttrLocation, pc)
		return expression, false, err
	}
	for _, s := range list {
		if s.Low == pc || s.Low < pc && pc < s.High {
			return s.Expr, true, nil
		}
	}
	return nil, true, nil
}

// entryFrame is the frame of a function before it has run.
func entryFrame(arch string, function *dwarfinfo.Entry) location.Frame {
	const callFrameCFA = 0x9c // DW_OP_call_frame_cfa
	frame := location.Anything(arch)
	named := func(name string) func() (*location.Expr, bool) {
		return func() (*location.Expr, bool) { return &location.Expr{Op: location.Register, Name: name}, true }
	}
	frame.CFA, frame.Base = named(callFrame), named(otherFrame)
	if base, _ := function.Val(dwarf.AttrFrameBase).([]byte); len(base) == 1 && base[0] == callFrameCFA {
		frame.Base = frame.CFA
	}
	return frame
}

// follows reports whether a compiler follows variables from register to register. gcc without optimization does not: it
// says of a parameter declared as "register" where it is later.
func follows(producer string) bool {
	if !strings.HasPrefix(producer, "GNU ") {
		return true
	}
	flags := strings.Fields(producer)
	return !slices.Contains(flags, "-fno-var-tracking") && slices.ContainsFunc(flags, func(flag string) bool {
		return strings.HasPrefix(flag, "-O") && flag != "-O0"
	})
}

// Gaps gives the parts of a parameter that are nowhere when its function begins: what a function does not use of a
// struct that clang passes in registers its callers need not pass.
func Gaps(place location.Place) (out [][2]int) {
	if place.Kind != location.Split {
		return nil
	}
	end := 0
	for _, x := range place.Fragments {
		if x.Kind == location.Nowhere {
			out = append(out, [2]int{x.At, x.At + x.Bytes})
		}
		end = x.At + x.Bytes
	}
	return append(out, [2]int{end, math.MaxInt})
}

// LaterGaps is Gaps for a parameter that is nowhere at the entry and in parts later, as clang has a struct of which it
// takes the members out of their registers first:
//
//	mov  %rdi,%rax         nothing is said of the parameter
//	shr  $0x20,%rdi        its first four bytes are in rdi
//
// A part that it has later, and that is no constant, came from the caller. It gives false where it has no parts.
func LaterGaps(p, function *dwarfinfo.Entry, arch string) (gaps [][2]int, ok bool) {
	list, _, err := p.Spans()
	if err != nil {
		return nil, false
	}
	frame := entryFrame(arch, function)
	var there [][2]int
	for _, s := range list {
		for _, x := range location.Of(s.Expr, frame).Fragments {
			if x.Kind != location.Nowhere && (x.Value == nil || x.Value.Op != location.Const) {
				there = append(there, [2]int{x.At, x.At + x.Bytes})
			}
		}
	}
	slices.SortFunc(there, func(a, b [2]int) int { return a[0] - b[0] })
	end := 0
	for _, part := range there {
		if part[0] > end {
			gaps = append(gaps, [2]int{end, part[0]})
		}
		end = max(end, part[1])
	}
	return append(gaps, [2]int{end, math.MaxInt}), len(there) > 0
}

// A Verdict says whether a place is the one of the ABI.
type Verdict uint8

// The verdicts.
const (
	// Silent: nothing follows from it.
	Silent Verdict = iota
	// Same: it is.
	Same
	// Moved: it is another register, which is so, too, of a parameter to which another one was assigned.
	Moved
	// Foreign: it is where the ABI never has one of its kind.
	Foreign
)

// Judge says whether the place of a parameter at the entry is the one that the ABI gives it. On the stack, that counts
// from base bytes below the frame of the call.
func Judge(is location.Place, by abi.Location, base int) Verdict {
	if len(by.Places) == 0 {
		return Silent
	}
	switch first := by.Places[0]; is.Kind {
	case location.Held:
		return held(is.Value, first)
	case location.Split:
		return parts(is.Fragments, by.Places)
	case location.Memory:
		return inMemory(is.Value, first, by.Indirect, base)
	}
	return Silent
}

// parts is Judge for a value in several places.
func parts(list []location.Fragment, by []abi.Place) (most Verdict) {
	at := 0
	for _, p := range by {
		i := slices.IndexFunc(list, func(x location.Fragment) bool { return x.At == at && x.Kind == location.Held })
		if i >= 0 {
			most = max(most, held(list[i].Value, p))
		}
		at += p.Bytes
	}
	return most
}

// held is Judge for a value in a register.
func held(is *location.Expr, by abi.Place) Verdict {
	switch {
	case is.Op != location.Register || by.Where != abi.Register:
		return Silent
	case is.Name == by.Name:
		return Same
	}
	return Moved
}

// inMemory is Judge for a value in memory. The ABI has those at or above the frame of the call that it passes on the
// stack; the stack pointer there is base bytes below.
func inMemory(at *location.Expr, by abi.Place, indirect bool, base int) Verdict {
	if at.Op == location.Load || at.Op == location.Register && at.Name != callFrame && at.Name != otherFrame {
		if by.Where == abi.Stack || indirect {
			return Silent
		}
		return Foreign // its address is passed
	}
	offset, ok := fromCall(at)
	switch {
	case !ok || offset < 0 || indirect:
		return Silent
	case by.Where != abi.Stack || offset != int64(by.Off-base):
		return Foreign
	}
	return Same
}

// fromCall is how far an address is from the frame of the call; false: that is not known.
func fromCall(at *location.Expr) (int64, bool) {
	switch {
	case at.Op == location.Register && at.Name == callFrame:
		return 0, true
	case at.Op == location.Add && at.Args[1].Op == location.Const:
		offset, ok := fromCall(at.Args[0])
		return offset + at.Args[1].N, ok
	}
	return 0, false
}
