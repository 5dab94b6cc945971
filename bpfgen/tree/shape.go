package tree

import (
	"fmt"
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// What variants of one shape have in common (`Shape`).

// Shape describes all of b that the instructions for it depend on, but for the numbers of its variables and of the
// records that it sends: the variants of many system calls differ in these, in the names of arguments and in what these
// point to. They may differ in the places in the script, too, where nothing counts at these. sends are the statements
// that send, in order.
func (b *Block) Shape(records []*wire.Record) (text string, sends []*Stmt) {
	p := &printer{shape: true, names: &names{literal: true}}
	p.block(b)
	for _, s := range p.sends {
		r := records[s.Int]
		p.line("record %d %d", r.FixedSize, r.MaxSize)
		for _, f := range r.Fields {
			p.line("%s", layoutShape(f.Type))
		}
	}
	return p.b.String(), p.sends
}

// typ is the text of a type; in shapes without names, and without the structs
// behind pointers.
func (p *printer) typ(t types.Type) string {
	if p.shape {
		t = bare(t)
	}
	return t.String()
}

func bare(t types.Type) types.Type {
	t.Names, t.BTF, t.Elem = nil, 0, 0
	if t.Kind == types.Record {
		t.Kind = types.Tuple
	}
	t.Elems = slices.Clone(t.Elems)
	for i, e := range t.Elems {
		t.Elems[i] = bare(e)
	}
	return t
}

// layoutShape is a layout without names and labels.
func layoutShape(w wire.Type) string {
	kind := w.Kind
	if kind == wire.Record_ {
		kind = wire.Tuple
	}
	s := fmt.Sprint(kind, w.Signed, w.Off, w.Size, w.TagOff)
	for _, e := range w.Elems {
		s += "(" + layoutShape(e) + ")"
	}
	return s
}

// countsNothing reports whether s only gives a variable a value, by operations of which none counts at its place, so
// that it does not matter where in the script they stand.
func (s *Stmt) countsNothing() bool {
	return s.Op == SAssign && !slices.ContainsFunc(s.Exprs, (*Expr).countsBelow)
}

// countsBelow reports whether e or an operand of it may count at its place.
func (e *Expr) countsBelow() bool {
	return e.Op.counts() || e.Op == OpInline || slices.ContainsFunc(e.Args, (*Expr).countsBelow)
}

// counts reports whether an operation may end the handler or lose something, which is counted at its place in the
// script.
func (op Op) counts() bool {
	switch op {
	case OpPresent, OpSigned, OpFloorDiv, OpFloorMod, OpShl, OpShr, OpByteAt, OpTableGet, OpTableIndex, OpTablePop,
		OpStack, OpSignal, OpNameText:
		return true
	}
	return false
}
