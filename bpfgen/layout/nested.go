package layout

import (
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The layout of the entry of a span that nests, as of calls that call themselves.

// The words before the slots of a nested span's entry. The key is the
// address of the thread's task or of its goroutine, then the process (u32) and
// the depth (u32).
const (
	// NestedOpen, of the entry of depth 0, is how many are open.
	NestedOpen = 0
	// NestedFrame and NestedPlace tell whose entry it is.
	NestedFrame = 8
	NestedPlace = 16
	// NestedReturn is the return address of a call of user code.
	NestedReturn = 24
	// NestedSlots is where the slots begin.
	NestedSlots = 32
	// NestedKey is the size of the key.
	NestedKey = 16
)

// Nested is the layout of the entry of a nested span, as Span is that of others.
func Nested(slots []types.Type) *wire.Fixed {
	t := types.TupleOf(slots...)
	p := &placer{off: NestedSlots}
	w := p.leaves(t)
	p.tags(t, &w)
	return &wire.Fixed{Type: w, Size: align(p.off, 8) + 8}
}
