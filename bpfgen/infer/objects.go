package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/signature"
)

// What exists only while compiling: structs, arrays, memory, rows of containers, e.args, e.regs, methods.

// A method is x.name where x has methods; call says what it does.
type method struct {
	recv val
	name string
}

func (m *method) what() string { return "the method " + m.name }

// arrayLen is how many elements an array field has, 0 of anything else.
func (v val) arrayLen() int {
	switch o := v.obj.(type) {
	case *arrayObj:
		return o.len
	case *ctxArray:
		return o.len
	}
	return 0
}

// A memPlace is somewhere in memory: a base address, an offset, and how to read.
type memPlace struct {
	addr  *tree.Expr
	off   int64
	space tree.Space
	// from is the program that the address belongs to.
	from *body
}

// A structObj is a struct or union in memory.
type structObj struct {
	memPlace
	id kernel.TypeID
}

func (*structObj) what() string { return "a struct" }

// An arrayObj is an array in memory.
type arrayObj struct {
	memPlace
	elem kernel.TypeID
	len  int
	// open: nobody says how many elements it has.
	open bool
}

func (*arrayObj) what() string { return "an array" }

// A ctxArray is an array of ints in a tracepoint's record.
type ctxArray struct {
	b     *body
	at    memPlace
	elem  types.Type
	len   int
	fname string
}

func (*ctxArray) what() string { return "an array" }

// A memObj is mem(p, n): n bytes in memory. Where n is computed at the event length is what it is, and n bounds it.
type memObj struct {
	memPlace
	n      int
	length *tree.Expr
}

func (*memObj) what() string { return "bytes in memory" }

// A regStruct is a struct, a union or an array whose bytes are in words: a small
// one that a function is called with or returns. It has no address. off is where it
// begins in them, where it is a part of another.
type regStruct struct {
	words []wordIn
	off   int
	id    kernel.TypeID
	// in is the program in which it is asked for, which reads what its parts lead to: that at the start of
	// e.start.args.x, that at the end of e.args.x, though a call has its arguments at the start. nil: any.
	in *body
	// returned are its words, where a function of a program returns it: e.ret[0] is the first.
	returned []signature.Word
	// nowhere: nobody knows where it is, so all of its parts are FAULT. split: it lies in several places, and what is
	// in none of them, or in two, is FAULT.
	nowhere, split bool
}

func (*regStruct) what() string { return "a struct that has no address, as it is passed in registers" }

// A row is one entry of an aggregation or group, or all of an unkeyed one.
type row struct {
	c      *plan.Container
	key    []val // none: unkeyed
	keyed  bool
	member *plan.GroupMember
}

func (r *row) what() string { return "an entry of " + name(r.c) }

// An eventMethod is e.file before it is called.
type eventMethod struct {
	ev   *event
	name string
}

func (m *eventMethod) what() string { return "the method e." + m.name }

// argsObj is e.args.
type argsObj struct{ ev *event }

func (*argsObj) what() string { return "e.args" }

// regsObj is e.regs.
type regsObj struct{ ev *event }

func (*regsObj) what() string { return "e.regs" }

// addressed are objects that lie in memory; as a value they are their address.
type addressed interface {
	value(b *body, pos plan.Pos) *tree.Expr
}

// located are the objects that know the program of their address.
type located interface {
	addressed
	origin() *body
}

// A wordIn is 8 bytes of a value, and the program that can read them; expr, if it has
// been read.
type wordIn struct {
	from *body
	// space is where the stack of the function is.
	space tree.Space
	// at is where the word begins in the struct, in bytes; abi.Place.Bytes is how many bytes of the struct it has, 0
	// for 8.
	at int
	abi.Place
	expr *tree.Expr
}

// size is how many bytes of the struct the word has.
func (w *wordIn) size() int {
	if w.Bytes == 0 {
		return 8
	}
	return w.Bytes
}
