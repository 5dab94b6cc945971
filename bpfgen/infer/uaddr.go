package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// uaddr("FILE:SYMBOL"): where a symbol of a program is in the memory of the process.

// callUaddr is uaddr("./shop:counter"): where a symbol of a program is in the memory of the process of the event.
func callUaddr(b *body, args []arg, pos plan.Pos) val {
	const form = `uaddr("./shop:counter")`
	a := named(args, 1, 1, form, pos)
	text, _ := a[0].constStr()
	file, name, ok := ofFile(text)
	if !ok || name == "" {
		wrong(pos, "%s wants the file of a program and the name of a symbol in it, as a constant string", form)
	}
	if b.u.programs == nil {
		wrong(pos, "no programs are known here")
	}
	symbol, err := b.u.programs.Symbol(file, name)
	if err != nil {
		wrong(pos, "uaddr: %v", err)
	}
	if symbol.HasSlot {
		slot := b.argWords().loadedAt(symbol.Path, symbol.Slot, text, pos)
		return exprVal(load(memPlace{slot, 0, tree.User, b}, types.I64, pos))
	}
	return exprVal(as(b.argWords().loadedAt(symbol.Path, symbol.Addr, text, pos), types.I64, pos))
}

// loadedAt is loaded where somebody knows it. text is what is looked for.
func (b argWords) loadedAt(file string, addr uint64, text string, pos plan.Pos) *tree.Expr {
	at, ok := b.loaded(file, addr, pos)
	switch {
	case ok:
		return at
	case b.view != nil && b.file == file:
		wrong(pos, "uaddr: at the return alone nobody knows where %s is: use ufunc, which has the start of the call, "+
			"too", text)
	case b.view != nil:
		wrong(pos, "uaddr: this probe is in %s, where nobody knows where the process has %s: probe a function of that "+
			"file, and keep the address in a table", b.file, text)
	}
	wrong(pos, "uaddr: each process has its own %s: this is known at probes of functions of that file, so keep the "+
		"address of one in a table by e.pid", text)
	return nil
}

// loaded is where the process of the event has what lies at an address of the file of the probe; false where nobody
// knows.
func (b argWords) loaded(file string, addr uint64, pos plan.Pos) (*tree.Expr, bool) {
	if b.view == nil || b.file != file || b.origin == nil {
		return nil, false
	}
	b.view.ask(question{about: aboutLoading})
	ip := register(kernel.RegisterOffsets("").IP, pos)
	at := operation(tree.OpAdd, types.U64, ip, intExpr(int64(addr-b.view.Static()), pos), pos)
	return b.carry(b.origin, at), true
}
