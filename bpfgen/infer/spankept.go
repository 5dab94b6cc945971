package infer

import (
	"maps"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// items() of a span shows what its starts keep, by the names by which handlers ask for it. Of
//
//	p = probe("syscall:{mmap,recvfrom}", lambda e: print(e.start.args.flags))
//
// mmap keeps 64 bits and recvfrom 32, in two slots of one name. So where items() is asked, each start writes into its
// entry which of the ways to start it was (Numbered), and the span says what each of them keeps (tree.Kept).

// askedOfStart is what the ends of a span have asked of one start.
type askedOfStart struct {
	// names are those by which it was asked for, by slot.
	names map[int]string
	// known are the texts that are no slot: they are the same whenever the span begins here.
	known map[string]string
}

func newAsked() *askedOfStart {
	return &askedOfStart{names: map[int]string{}, known: map[string]string{}}
}

// note says that slot i was asked for by a name, of which the first stays.
func (a *askedOfStart) note(i int, name string) {
	if a.names[i] == tree.Unnamed {
		a.names[i] = name
	}
}

// noteKnown notes a text that is the same whenever a span begins at a point, as e.start.func: x is e.start, and v is
// what its field is.
func (b attributes) noteKnown(x val, name string, v val) {
	text, ok := v.c.(plan.String)
	if began, is := x.obj.(*event); ok && is && b.span != nil && began.b != b.body && began.b == b.span.start {
		b.span.asked.known[name] = string(text)
	}
}

// kept is what items() shows of this start.
func (a *askedOfStart) kept(slots int) tree.Kept {
	k := tree.Kept{Names: make([]string, slots), Known: a.known}
	for i, name := range a.names {
		if i < slots {
			k.Names[i] = name
		}
	}
	return k
}

// numberStarts makes the slot for the number of the start in a span of calls whose items() the script asks.
func numberStarts(pr *probe, span *tree.Span) {
	if pr.p.Open {
		number(span)
	}
}

// number makes the first slot of a span the number of its start.
func number(span *tree.Span) {
	span.Slots, span.Names, span.Numbered = []types.Type{types.U32}, []string{tree.Unnamed}, true
}

// newStart is what begins and ends in these two programs.
func newStart(pr *probe, span *tree.Span, start, end *body) *spanState {
	st := &spanState{span: span, start: start, end: end, vals: map[int]*tree.Expr{}, asked: newAsked()}
	if pr.p.Open {
		st.vals[0] = convert(intExpr(0, span.Pos), types.U32) // close puts the number in
	}
	return st
}

// number puts the number of the start into its slot: that of what items() shows of it, where several starts keep the
// same.
func (st *spanState) number(pos plan.Pos) {
	if !st.span.Numbered {
		return
	}
	kept := st.asked.kept(len(st.span.Slots))
	k := slices.IndexFunc(st.span.Kept, func(other tree.Kept) bool {
		return slices.Equal(kept.Names, other.Names) && maps.Equal(kept.Known, other.Known)
	})
	if k < 0 {
		k = len(st.span.Kept)
		st.span.Kept = append(st.span.Kept, kept)
	}
	st.vals[0] = convert(intExpr(int64(k), pos), types.U32)
}
