package binary

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
)

// The instructions at which functions of Go, and those with exceptions, return, and messages that these cannot be
// found.
//
// Functions whose return address must not be replaced are probed at the
// instructions that return: those of Go, and those through which exceptions
// pass, since an exception finds its way by return addresses (the program ends
// by std::terminate). A call that an exception ends has no return.
//
// A function can be left by a jump to another one, which then returns for it (a
// tail call; wrappers of methods in Go, sibling calls of C++ and Rust). Where
// that is known its returns are ends of the call too: they find the start of
// this one by the place on the stack where the call began. Where a jump leads
// through memory or to another library's function, the end is seen at the jump.

// Leaves are where a call of a function ends.
type Leaves struct {
	At []uint64 // in bytes of the file
	// Tails of these are jumps to other functions, whose result is not known yet.
	Tails int
	// Others are the functions to which it is left, by Function.Start.
	Others []uint64
}

// leave adds where a function is left, or says why its returns cannot be
// probed.
func leave(e *elffile.File, fn elffile.Function, out Function) Function {
	x := exits{e: e, within: map[uint64]bool{}}
	own, err := x.of(fn)
	if err == nil && len(own.ret)+len(own.places()) == 0 {
		err = fmt.Errorf("%s of %s never returns, or only by a jump through a register", fn.Name, e.Path)
	}
	if err != nil {
		if out.NoReturn == "" {
			out.NoReturn = err.Error()
		}
		return out
	}
	out.Tails = len(own.places())
	out.Returns = slices.Concat(own.ret, own.places())
	out.Ends = Leaves{At: out.Returns, Tails: out.Tails}
	if followed, ok := x.follow(fn, own); ok {
		slices.Sort(followed.At) // two ways can lead to one function
		followed.At = slices.Compact(followed.At)
		out.Ends = followed
	}
	return out
}

// exits looks for the ways out of functions of a file.
type exits struct {
	e      *elffile.File
	within map[uint64]bool // functions that are being followed
}

// ways are the ways out of one function.
type ways struct {
	ret  []uint64
	tail []tail
}

// A tail is a jump to another function; to is its address, 0 if that is not
// known.
type tail struct {
	at, to uint64
	// conditional: whether it jumps is not seen at its place.
	conditional bool
}

// places are those at which the function is left for certain.
func (w *ways) places() (out []uint64) {
	for _, t := range w.tail {
		if !t.conditional {
			out = append(out, t.at)
		}
	}
	return out
}

// of gives the ways out of a function and its parts.
func (x *exits) of(fn elffile.Function) (out ways, err error) {
	if fn.Size == 0 {
		return out, fmt.Errorf("the length of %s of %s is not known, so its returns cannot be found", fn.Name, x.e.Path)
	}
	parts := append([]elffile.Function{fn}, x.e.Parts(fn)...)
	for _, p := range parts {
		code, err := x.e.Code(p.Addr, p.Size)
		if err != nil {
			return out, err
		}
		returns, err := gofunc.FindReturns(runtime.GOARCH, code)
		if err != nil {
			return out, fmt.Errorf("%s of %s: %w", p.Name, x.e.Path, err)
		}
		for _, at := range returns.At {
			out.ret = append(out.ret, p.Offset+uint64(at))
		}
		for i, at := range returns.Tail {
			to := uint64(0)
			if target := returns.Targets[i]; target != gofunc.Elsewhere {
				to = p.Addr + uint64(target)
			}
			if !inside(parts, to) {
				out.tail = append(out.tail, tail{at: p.Offset + uint64(at), to: to})
			}
		}
		for _, target := range returns.Branches {
			if to := p.Addr + uint64(target); !inside(parts, to) {
				out.tail = append(out.tail, tail{to: to, conditional: true})
			}
		}
	}
	return out, nil
}

func inside(parts []elffile.Function, addr uint64) bool {
	for _, p := range parts {
		if addr >= p.Addr && addr < p.Addr+p.Size {
			return true
		}
	}
	return false
}

// maxEnds bounds the places at which one call can end: each costs whoever comes
// by there.
const maxEnds = 64

// follow gives where a call ends, in other functions too. ok is false where
// functions are left to each other in turns, which one stack cannot tell apart,
// and where there are too many places.
func (x *exits) follow(fn elffile.Function, own ways) (out Leaves, ok bool) {
	x.within[fn.Addr] = true
	defer delete(x.within, fn.Addr)
	out.At = slices.Clone(own.ret)
	for _, t := range own.tail {
		other, known := x.begins(t.to)
		switch {
		case known:
		case x.back(t.to): // from a part that was moved away: the returns there are known
			continue
		case t.conditional:
			continue
		default:
			out.At, out.Tails = append(out.At, t.at), out.Tails+1
			continue
		}
		theirs, err := x.of(other)
		if err != nil || x.within[other.Addr] {
			return out, false
		}
		its, ok := x.follow(other, theirs)
		if !ok {
			return out, false
		}
		out.add(other.Offset, its)
		if len(out.At) > maxEnds {
			return out, false
		}
	}
	return out, true
}

// begins gives the function that begins at an address: by its symbol, or without one by the table of exceptions; of an
// entry of the PLT the function of this file to which it leads.
func (x *exits) begins(addr uint64) (elffile.Function, bool) {
	if fn, ok := x.e.At(addr); ok && fn.Addr == addr && fn.Size > 0 {
		return fn, true
	}
	if fn, ok := x.e.Stub(addr); ok {
		return fn, true
	}
	return x.e.Bounded(addr)
}

// back says whether an address lies in a function that is being followed.
func (x *exits) back(addr uint64) bool {
	for begin := range x.within {
		if fn, ok := x.begins(begin); ok && addr > begin && addr < begin+fn.Size {
			return true
		}
	}
	return false
}

// add takes the ends of a function to which this one is left; several jumps can
// lead to one.
func (l *Leaves) add(other uint64, its Leaves) {
	if slices.Contains(l.Others, other) {
		return
	}
	l.Others = append(append(l.Others, other), its.Others...)
	l.At, l.Tails = append(l.At, its.At...), l.Tails+its.Tails
}
