package cfi

import (
	"cmp"
	"maps"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// Rules of Go's functions, and of those that change stacks.
//
// Go's linker tells in .debug_frame how large each frame is, and not where frame pointers are saved. Go's code keeps
// them all the same: on amd64 below the return address, on arm64 below the link register, which lies at the frame's
// lower end. They are needed where Go changes stacks: a function that goes on with another stack has the frame pointer
// of the old one, by which it is found again.

// goData is the unit of offsets in Go's tables; compilers of C have -8 on both machines.
const goData = -4

// goRule adds to a rule of Go's tables where the frame pointer is.
func (a *arch) goRule(rule uint32) uint32 {
	kind, saved, words := a.parts(rule)
	switch {
	case kind == wire.UnwindSP && saved == 0 && words > 1 && a.pushes:
		return a.make(kind, 2, words)
	case kind == wire.UnwindLinkOnly && !a.pushes:
		pair := a.make(wire.UnwindSP, saved+1, words)
		if pair != wire.UnwindNone && saved+1 != wire.UnwindAtStack {
			return pair
		}
	}
	return rule
}

// goFrames are the rows of Go's functions in a file without .debug_frame, as it is linked by -ldflags=-w: by the table
// that Go's runtime has. What is damaged leaves what is before it.
func goFrames(f *elffile.File, a *arch) *table {
	out := &table{}
	if _, ok, _ := f.Section(goNote); !ok {
		return out
	}
	frames, err := elffile.ReadGoFrames(f)
	if err != nil {
		return out
	}
	n := 0
	_ = frames.Each(func(elffile.GoFrame) { n++ })
	out.rows = make([]Row, 0, n+roomAbove)
	_ = frames.Each(func(frame elffile.GoFrame) {
		out.add(frame.Begin, a.goFrame(frame))
		out.add(frame.End, uncovered)
	})
	return out
}

// goFrame is the rule of a frame, as Go's linker tells it. Only on arm64 it tells that nobody has called a function.
func (a *arch) goFrame(f elffile.GoFrame) uint32 {
	n, whole := words(f.Depth)
	switch {
	case f.Top && !a.pushes:
		return wire.UnwindStop
	case !whole:
		return wire.UnwindNone
	case a.pushes:
		return a.goRule(a.make(wire.UnwindSP, 0, n+1))
	case n <= 0:
		return a.make(wire.UnwindSP, 0, n)
	}
	return a.goRule(a.make(wire.UnwindLinkOnly, n, n))
}

// parts takes a rule apart.
func (a *arch) parts(rule uint32) (kind uint32, saved, operand int64) {
	kind, saved = rule&(1<<wire.UnwindKindBits-1), int64(rule>>wire.UnwindKindBits&(1<<a.savedBits-1))
	return kind, saved, int64(int32(rule) >> (wire.UnwindKindBits + a.savedBits))
}

// framePointer makes of a rule with a saved frame pointer that by which CFA is found when the stack pointer leads
// elsewhere: the frame pointer has the address at which it is saved itself.
func (a *arch) framePointer(rule uint32) uint32 {
	kind, saved, _ := a.parts(rule)
	if kind != wire.UnwindSP || saved == 0 || !a.pushes && saved == wire.UnwindAtStack {
		return rule
	}
	return a.make(wire.UnwindFP, saved, saved)
}

// injected makes of a rule that of a function which the runtime lets a goroutine call where that was interrupted
// (sigctxt.pushCall): what it returns to is no place behind a call.
func (a *arch) injected(rule uint32) uint32 {
	kind, saved, words := a.parts(rule)
	beside := saved == 2 && a.pushes || saved > 0 && !a.pushes && saved != wire.UnwindAtStack
	if kind != wire.UnwindSP || words < 0 || saved != 0 && !beside {
		return rule
	}
	operand := (words+1)<<wire.UnwindOfBits | wire.UnwindOfInjected
	return cmp.Or(a.make(wire.UnwindSignal, saved, operand), rule)
}

// How the frames of functions of Go's runtime are found that change stacks.
type stackChange int

const (
	byFramePointer stackChange = iota + 1 // the stack pointer is that of another stack
	noCaller                              // nobody has called, or it is not told who
	topmost                               // the same, also at the first byte: what a goroutine returns to
	injected                              // the runtime has made the call: it returns to what was interrupted
)

// changes are those functions. Of the ones that go on with another goroutine it is not told where the old one stays;
// the frame pointer is 0 there.
var changes = map[string]stackChange{
	"runtime.systemstack": byFramePointer, "runtime.asmcgocall": byFramePointer,
	"runtime.nanotime1": byFramePointer, "runtime.walltime": byFramePointer, "time.now": byFramePointer,
	"runtime.vgetrandom1": byFramePointer,
	"runtime.mcall":       noCaller, "runtime.morestack": noCaller,
	"runtime.goexit": topmost, "runtime.mstart": topmost, "runtime.rt0_go": topmost,
}

// changed are the rows of those functions, made of the ones that a table has.
func changed(f *elffile.File, a *arch, t *table) *table {
	out := &table{}
	if _, ok, _ := f.Section(goNote); !ok {
		return out
	}
	for _, fn := range elffile.GoNamed(f, slices.AppendSeq(elffile.GoInjected(), maps.Keys(changes))) {
		a.change(out, t, fn)
	}
	return out
}

// change adds the rows of one. At its first byte it has not begun. Padding behind it is left as it is, where the table
// tells which that is.
func (a *arch) change(out, t *table, fn elffile.Function) {
	at, end := fn.Addr, fn.Addr+fn.Size
	if n := len(out.rows); n > 0 && at < out.rows[n-1].Addr || end <= at {
		return
	}
	how, other := changes[fn.Name]
	if !other {
		how = injected
	}
	first := t.at(at)
	switch how {
	case topmost:
		out.add(at, wire.UnwindStop)
	case injected:
		out.add(at, a.injected(first))
	default:
		out.add(at, first)
	}
	for at++; at < end; at = t.next(at) {
		rule := t.at(at)
		if rule == uncovered && first != uncovered {
			end = at
			break
		}
		switch how {
		case byFramePointer:
			rule = a.framePointer(rule)
		case injected:
			rule = a.injected(rule)
		default:
			rule = wire.UnwindStop
		}
		out.add(at, rule)
	}
	out.add(end, uncovered)
}
