package infer

import (
	"runtime"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// e.args and e.ret of functions, read where the ABI has them (registers, stack, memory), and the message that a result
// is void or lies where nobody knows. Programs of trampolines get them as words that the kernel copied.

func (a *funcArgs) names() []string {
	a.f.ask(question{})
	var out []string
	for _, p := range a.f.Params() {
		if p.Name != "" {
			out = append(out, p.Name)
		}
	}
	for _, v := range a.values() {
		if v.Name != "" {
			out = append(out, v.Name)
		}
	}
	return out
}

func (a *funcArgs) get(b *body, name string, pos plan.Pos) (val, bool) {
	a.f.ask(argument(name))
	for i, p := range a.f.Params() {
		if p.Name == name {
			return a.at(b, i, pos)
		}
	}
	return a.named(b, name, pos)
}

func (a *funcArgs) at(b *body, i int, pos plan.Pos) (val, bool) {
	a.f.ask(argumentAt(i))
	params := a.f.Params()
	switch {
	case i < 0 || i >= a.f.ArgCount():
		return val{}, false
	case a.mech.Trampoline():
		word := load(ctxPlace(b, 8*i, pos), types.U64, pos)
		return b.argWords().typedWord(word, params[i].Type, pos), true
	}
	from := b
	if a.start != nil {
		from = a.start
	}
	if params == nil && a.f.User {
		return a.userArg(b, from, i, pos), true
	}
	if params == nil {
		word := b.argWords().carry(from, from.argWords().argWord(a.f, i, pos))
		return exprVal(as(word, untypedWord(a.f.User), pos)), true
	}
	return b.argWords().atPlace(from, a.f.ArgPlace(i), params[i].Type, pos), true
}

// carry brings a word of the program at the start to this one.
func (b argWords) carry(from *body, word *tree.Expr) *tree.Expr {
	if from == b.body || word.Op == tree.OpUnreadable { // that is the same in all programs
		return word
	}
	return b.here(val{expr: word, start: from}).expr
}

// untypedWord is how a word is shown of which no type is known: one of a user
// function may be negative, one of a kernel function is rather an address.
func untypedWord(user bool) types.Type {
	if user {
		return types.I64
	}
	return types.U64
}

// atPlace is a value of a type at its place. The program from is at the moment at
// which it is there.
func (b argWords) atPlace(from *body, l abi.Location, id kernel.TypeID, pos plan.Pos) val {
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	whole := t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion
	switch {
	case err != nil:
		wrong(pos, "%v", err)
	case whole && (l.Indirect || l.InMemory()):
		return objVal(&structObj{from.argWords().placed(l, tree.Kernel, pos), btf.Skip(id)})
	case whole:
		s := &regStruct{id: btf.Skip(id), in: b.body}
		for i, p := range l.Places {
			s.words = append(s.words, wordIn{from: from, space: tree.Kernel, at: 8 * i, Place: p})
		}
		return objVal(s)
	case t.Kind == kernel.KindInt && t.Size == 16 && len(l.Places) == 2:
		low := b.carry(from, from.argWords().wordAt(l.Places[0], tree.Kernel, pos))
		high := b.carry(from, from.argWords().wordAt(l.Places[1], tree.Kernel, pos))
		return inHalves(low, high, t.Signed, pos)
	case len(l.Places) != 1:
		refuse(pos, "a %s has %d bytes; a kernel half computes with 64 bits", btf.TypeName(id), t.Size)
	case l.Places[0].Where == abi.Other:
		return exprVal(unreadable(pos))
	}
	return b.typedWord(b.carry(from, from.argWords().wordAt(l.Places[0], tree.Kernel, pos)), id, pos)
}

// placed is where a value in memory begins: on the stack, or where a word says.
func (b argWords) placed(l abi.Location, space tree.Space, pos plan.Pos) memPlace {
	if l.Indirect {
		return memPlace{b.wordAt(l.Places[0], space, pos), 0, space, b.body}
	}
	return memPlace{register(kernel.RegisterOffsets("").SP, pos), int64(l.Places[0].Off), space, b.body}
}

// wordAt reads a word that a function was called with, or returns.
func (b argWords) wordAt(p abi.Place, space tree.Space, pos plan.Pos) *tree.Expr {
	switch p.Where {
	case abi.Register:
		return register(kernel.RegisterOffsets("").Names[p.Name], pos)
	case abi.Stack:
		return b.stackWord(p.Off, space, pos)
	case abi.Other:
		return unreadable(pos)
	}
	refuse(pos, "where this result lies only its caller knows, on %s", runtime.GOARCH)
	return nil
}

// argWord reads argument i at the entry of a function of which no types are known:
// word i of its ABI.
func (b argWords) argWord(f *funcView, i int, pos plan.Pos) *tree.Expr {
	if word, ok := b.userWord(f, i, pos); ok {
		return word
	}
	space := tree.Kernel
	if f.User {
		space = tree.User
	}
	return b.wordAt(abi.Of(runtime.GOARCH).Word(i), space, pos)
}

// stackWord reads a word above the stack pointer.
func (b argWords) stackWord(off int, space tree.Space, pos plan.Pos) *tree.Expr {
	at := memPlace{register(kernel.RegisterOffsets("").SP, pos), int64(off), space, b.body}
	return b.present(exprVal(load(at, types.U64, pos)), "an argument", pos)
}

// unreadable is what lies where a program cannot read: a FAULT that says so.
func unreadable(pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpUnreadable, Type: types.I64.OrFault(), Pos: pos}
}

// funcResult is e.ret.
func (b argWords) funcResult(f *funcView, mech tree.AttachKind, pos plan.Pos) val {
	f.ask(question{about: aboutResult})
	switch {
	case f.Program:
		wrong(pos, "what a BPF program returns cannot be read: where it lies depends on how the verifier took the "+
			"program's types")
	case !f.Typed():
		if v, ok := b.userResult(f, pos); ok {
			return v
		}
		return exprVal(as(register(kernel.RegisterOffsets("").Ret, pos), types.I64, pos))
	case f.Proto.Ret == 0:
		wrong(pos, "%s returns nothing (void), so there is no e.ret", f.Name)
	case mech == tree.AttachFexit:
		f.ask(question{}) // the result lies behind the arguments
		word := load(ctxPlace(b.body, 8*len(f.Params()), pos), types.U64, pos)
		return b.typedWord(word, f.Proto.Ret, pos)
	}
	return b.atPlace(b.body, f.ResultPlace(), f.Proto.Ret, pos)
}
