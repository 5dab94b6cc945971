package ssagen

import (
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// Lists of strings (`char **`), as the argv of execve, and their limit (`maxStrings`).

// maxStrings bounds the strings of a list; more are cut. maxCounted bounds those that are counted where the kernel runs
// the loop.
const (
	maxStrings = 128
	maxCounted = 1 << 14
)

// A listReader reads a char **, such as the arguments of execve(). The strings are read one behind the other into buf,
// which has room for a whole string behind the last place where one can begin. So each read may ask for the same
// constant number of bytes. The list of "ls" and "-l" is
//
//	OpStrList   01 "ls" 00 01 "-l" 00      before each string wire.ListString, or ListFault if it cannot be read
//	OpJoin      "ls" 20 "-l"               with the separator of the script, here a space
//
// The verifier follows each string of a loop of rounds, and all of them again for each way that leads to the loop.
// Where it can, the kernel runs the loop (bpf_loop), and the verifier follows a few strings.
type listReader struct {
	// b is the function under construction, which has the loop, or is that of one string.
	b *code
	// e is the OpStrList or OpJoin.
	e *tree.Expr
	// room is how many bytes of the list are kept, the last NUL among them.
	room int64
	// hole: at listHole of state is whether the first string is taken for one that cannot be read.
	hole bool
	// sep is the byte between the strings of an OpJoin. It is 0 for an OpStrList.
	sep int64
	// buf has room bytes for the list, and room+1 for the string that is read last. at is its address.
	buf *region
	at  func() *ir.Value
	// state is what goes round the loop: at listOff where the next string begins in buf, at listFlag 0, wire.RefCut or
	// RefFault, at listBase the address of the list for a function of one string. stateAt is its address.
	state   *region
	stateAt func() *ir.Value
	// done is where the list has come to its end, or to that of its room.
	done *join
	// fault is where a pointer of the list could not be read. The whole list is FAULT then.
	fault *join
}

// The offsets of the words of listReader.state.
const (
	listOff  = 0
	listFlag = 8
	listHole = 16
	listBase = 24
)

// lists reads lists of strings.
type lists struct{ *generator }

// strList is OpStrList and OpJoin. Joined strings are packed as the others,
// with the separator in the place of each NUL but the last.
func (b lists) strList(e *tree.Expr) val {
	r := &listReader{b: b.code, e: e, room: int64(e.Type.Cap)}
	rest := e.Args[1:]
	if e.Op == tree.OpJoin {
		r.sep, rest = int64(rest[0].Str[0]), rest[1:]
	}
	list := b.Add(reads{b.code}.base(e.Args[0]), e.Int)
	r.buf, r.state = b.allocScratch(2*int(r.room)+8), b.allocState(listBase)
	r.at, r.stateAt = func() *ir.Value { return b.addr(r.buf, 0) }, func() *ir.Value { return b.addr(r.state, 0) }
	if r.hole = len(rest) > 0; r.hole {
		r.put(listHole, b.expr(rest[0]).x)
	}
	r.put(listOff, b.Const(0))
	r.put(listFlag, b.Const(0))
	if b.kernelRuns() {
		r.put(listBase, list)
		b.callPerString(b.oneString(r), maxStrings+1, r.at(), r.stateAt())
		return r.value()
	}
	r.done, r.fault = b.newJoin(types.Type{}), b.newJoin(types.Type{})
	b.rounds(maxStrings+1, func(k *ir.Value) { r.round(list, k) })
	b.jump(r.done) // not reached: the last round cuts the list
	r.end()
	return r.value()
}

// end is where the list has come to its end, or cannot be read.
func (r *listReader) end() {
	b := r.b
	b.enter(r.fault)
	r.put(listOff, b.Const(0))
	r.put(listFlag, b.Const(wire.RefFault))
	b.jump(r.done)
	b.enter(r.done)
}

// put stores a word of the state.
func (r *listReader) put(word int64, x *ir.Value) { r.b.Store(8, r.stateAt(), word, x) }

// get loads one.
func (r *listReader) get(word int64) *ir.Value { return r.b.Load(8, r.stateAt(), word) }

// oneString is the function that the kernel calls for each string of r's list. It gives 0 to go on and 1 at the end.
func (b lists) oneString(of *listReader) *subprogram {
	f, k, words := b.perString("list")
	buf, state := f.Load(8, words, 0), f.Load(8, words, 8)
	r := *of
	r.b, r.at, r.stateAt = f.code, func() *ir.Value { return buf }, func() *ir.Value { return state }
	r.done, r.fault = f.newJoin(types.Type{}), f.newJoin(types.Type{})
	r.round(r.get(listBase), k)
	f.Ret(nil)
	r.end()
	f.Ret(f.Const(1))
	return perStringMade(f)
}

// kernelRuns reports whether the kernel runs loops over lists: it must have bpf_loop, and know what functions do with
// the words of their callers (see Outlining of bpfgen.For).
func (b lists) kernelRuns() bool { return b.HasLoop && b.outlining != NeverCall }

// allocState is memory for the words below base, and for two from there on where the kernel runs the loop.
func (b lists) allocState(base int) *region {
	if b.kernelRuns() {
		base += 16
	}
	return b.allocScratch(base)
}

// perString begins a function that the kernel calls for each string of a list, with its number and the address of words
// on the stack of the caller.
func (b lists) perString(name string) (f *generator, k, words *ir.Value) {
	f = newGenerator(b.Shared, b.prog, b.family)
	f.Func.Name, f.Pos = subs(b).subName(name), b.Pos
	k, words = f.Op(ir.OpArg), f.Op(ir.OpArg)
	words.Imm = 1
	return f, k, words
}

// perStringMade is the function f.
func perStringMade(f *generator) *subprogram {
	f.Func.Prune()
	return &subprogram{f: f.Func, cost: loops{f}.costOf(f.Func.Blocks, f.extra).times(roundsFollowed)}
}

// callPerString makes the kernel call sub for each string up to a number of them, with words.
func (b lists) callPerString(sub *subprogram, most int, words ...*ir.Value) {
	b.callRounds(sub, most, words...)
	b.reports = append(b.reports, Call{Name: loopName, Pos: b.Pos, Times: 1, Sub: sub.f.Name, Rounds: int64(most)})
}

// callRounds makes the kernel call sub up to a number of times, with words.
func (b lists) callRounds(sub *subprogram, most int, words ...*ir.Value) {
	slot := subs(b).callWords(len(words))
	for i, x := range words {
		b.Store(8, b.SlotAddr(slot, 0), int64(8*i), x)
	}
	f := b.Op(ir.OpFunc)
	f.Sym = sub.f.Name
	b.Call(helperLoop, b.Const(int64(most)), f, b.SlotAddr(slot, 0), b.Const(0))
	if !slices.Contains(b.called, sub) {
		b.called = append(b.called, sub)
	}
	b.extra = b.extra.plus(sub.cost)
}

// round reads one string, or finds the end of the list.
func (r *listReader) round(list, k *ir.Value) {
	b := r.b
	rc := texts{b}.listPointer(r.e, list, k)
	b.unless(ir.NE, rc, 0, func() { b.jump(r.fault) })
	p := b.Load(pointerSize(r.e), b.temp(), 0)
	b.unless(ir.EQ, p, 0, func() { b.jump(r.done) })
	b.unless(ir.UGE, k, maxStrings, func() {
		r.cut()
		b.jump(r.done)
	})
	off := r.get(listOff)
	b.unless(ir.UGT, off, r.room, func() { b.jump(r.done) }) // for the verifier
	end := b.Op(ir.OpAdd, off, r.one(off, p, k))
	b.unless(ir.UGT, end, r.room, func() {
		r.cut()
		r.put(listOff, b.Const(r.room))
		b.jump(r.done)
	})
	r.put(listOff, end)
	if r.sep != 0 {
		b.Store(1, b.Op(ir.OpAdd, r.at(), end), -1, b.Const(r.sep))
	}
}

// one reads a string and gives its bytes with the NUL, in a list also with the byte before it that says whether it
// could be read.
func (r *listReader) one(off, p, k *ir.Value) *ir.Value {
	b := r.b
	dst := b.Op(ir.OpAdd, r.at(), off)
	head := int64(0)
	if r.sep == 0 {
		head = 1
		b.Store(1, dst, 0, b.Const(wire.ListString))
	}
	used := b.newJoin(types.I64)
	if r.hole {
		on := b.newJoin(types.Type{})
		b.unless(ir.EQ, k, 0, func() { // which old verifiers know
			b.unless(ir.NE, r.get(listHole), 0, func() {
				b.Store(1, dst, head, b.Const(0))
				b.jumpWith(used, intVal(types.I64, r.unreadable(dst)))
			})
			b.jump(on)
		})
		b.jump(on)
		b.enter(on)
	}
	rc := reads{b}.readWith(r.e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, b.Add(dst, head),
		b.Const(r.room+1), p)
	b.unless(ir.SLE, rc, 0, func() { // kernels before 6.18 give 0 for ""
		b.Store(1, dst, head, b.Const(0))
		b.unless(ir.SLT, rc, 0, func() { b.jumpWith(used, intVal(types.I64, r.unreadable(dst))) })
		b.jumpWith(used, intVal(types.I64, b.Const(1+head)))
	})
	b.jumpWith(used, intVal(types.I64, b.Add(rc, head)))
	return b.enter(used).x
}

// faultText is what FAULT prints as, in 8 bytes.
const faultText = "<fault>\x00"

// unreadable is what stands for a string that cannot be read: in a joined list its text.
func (r *listReader) unreadable(dst *ir.Value) *ir.Value {
	b := r.b
	if r.sep == 0 {
		b.Store(1, dst, 0, b.Const(wire.ListFault))
		return b.Const(2)
	}
	b.Store(8, dst, 0, b.Const(int64(binary.LittleEndian.Uint64([]byte(faultText)))))
	return b.Const(int64(len(faultText)))
}

// cut notes that strings are missing.
func (r *listReader) cut() {
	r.put(listFlag, r.b.Const(wire.RefCut))
}

// value is the list as it lies in memory.
func (r *listReader) value() val {
	s := &str{mem: r.buf, room: layout.StringRoom(r.e.Type.Cap)}
	s.flags, s.n = r.get(listFlag), r.get(listOff)
	if r.sep != 0 {
		s.n = r.withoutLast(s.n)
	}
	return val{t: r.e.Type, s: s}
}

// withoutLast leaves out the separator behind the last string, or the byte
// that the NUL would take.
func (r *listReader) withoutLast(n *ir.Value) *ir.Value {
	b := r.b
	j := b.newJoin(types.I64)
	b.unless(ir.EQ, n, 0, func() { b.jumpWith(j, intVal(types.I64, n)) })
	b.jumpWith(j, intVal(types.I64, b.Add(n, -1)))
	return b.enter(j).x
}

// pointerSize is how many bytes the pointers of the list have.
func pointerSize(e *tree.Expr) int {
	if e.BitSize == 32 {
		return 4
	}
	return 8
}

// listPointer reads pointer k of the list into b.temp(); it gives what the helper returns.
func (b texts) listPointer(e *tree.Expr, list, k *ir.Value) *ir.Value {
	size, shift := pointerSize(e), int64(3)
	if size == 4 {
		shift = 2
	}
	return reads(b).probeRead(e.Str, b.temp(), b.Const(int64(size)), b.Op(ir.OpAdd, list, b.Imm(ir.OpShl, k, shift)))
}

// listLen is OpListLen: how many strings a list has, with tree.ListHoles if one of them cannot be read. It is -1 for a
// list that cannot be read, and for one of more than maxStrings, or than maxCounted.
func (b lists) listLen(e *tree.Expr) val {
	list := b.Add(reads{b.code}.base(e.Args[0]), e.Int)
	room := int64(e.Args[1].Int)
	text, state := b.allocScratch(int(room)+8), b.allocState(lenBase)
	b.Store(8, b.addr(state, 0), lenHoles, b.Const(0))
	if b.kernelRuns() {
		b.Store(8, b.addr(state, 0), lenBase, list)
		b.Store(8, b.addr(state, 0), lenCount, b.Const(-1))
		b.callPerString(b.countString(e), maxCounted+1, b.addr(text, 0), b.addr(state, 0))
		return intVal(types.I64, b.Load(8, b.addr(state, 0), lenCount))
	}
	done := b.newJoin(types.I64)
	none := func() { b.jumpWith(done, intVal(types.I64, b.Const(-1))) }
	b.rounds(maxStrings+1, func(k *ir.Value) {
		texts{b.code}.countRound(e, list, k, b.addr(text, 0), b.addr(state, 0), none,
			func(n *ir.Value) { b.jumpWith(done, intVal(types.I64, n)) })
	})
	none()
	return b.enter(done)
}

// The words of listLen: ListHoles if there was a string that cannot be read, and for a function of one string the
// address of the list and the result.
const (
	lenHoles = 0
	lenBase  = 8
	lenCount = 16
)

// countString is the function that the kernel calls for each string of a list that listLen counts.
func (b lists) countString(e *tree.Expr) *subprogram {
	f, k, words := b.perString("listlen")
	text, state := f.Load(8, words, 0), f.Load(8, words, 8)
	none := func() { f.Ret(f.Const(1)) }
	texts{f.code}.countRound(e, f.Load(8, state, lenBase), k, text, state, none, func(n *ir.Value) {
		f.Store(8, state, lenCount, n)
		none()
	})
	f.Ret(nil)
	return perStringMade(f)
}

// countRound reads string k of a list. none is the way on where the list cannot be read, end where it ends there.
func (b texts) countRound(e *tree.Expr, list, k, text, state *ir.Value, none func(), end func(n *ir.Value)) {
	rc := b.listPointer(e, list, k)
	b.unless(ir.NE, rc, 0, none)
	p := b.Load(pointerSize(e), b.temp(), 0)
	b.unless(ir.EQ, p, 0, func() { end(b.Op(ir.OpOr, b.Load(8, state, lenHoles), k)) })
	rc = reads(b).readWith(e.Str, helperProbeReadKernelStr, helperProbeReadUserStr, text,
		b.Const(int64(e.Args[1].Int)+1), p)
	hole := b.Imm(ir.OpShl, b.Imm(ir.OpLShr, rc, 63), 32) // no branch, for old verifiers
	b.Store(8, state, lenHoles, b.Op(ir.OpOr, b.Load(8, state, lenHoles), hole))
}
