package layout

import (
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// The layout of the entry of a span, and its word that says whether it is open.

// SpanBusy is the offset of the word in a span's entry that says whether it
// is open: 0, or the number of the system call and 1, with what its registers
// were above SyscallBits; the time of the start in spans of the script.
const SpanBusy = 0

// SpanMuted is the bit of that word that marks the start of a process that is
// not traced, in spans of the script with a key.
const SpanMuted = 63

// SyscallBits is room for the number of a system call and 1.
const SyscallBits = 12

// Syscall is the number of the system call in a busy word.
func Syscall(busy uint64) int { return int(busy&(1<<SyscallBits-1)) - 1 }

// Span is the layout of a span's entry: the busy word, then the slots, the
// elements of the Type. 8 bytes more lie at its end, because a string that is
// read into the last slot may write one byte too many.
func Span(slots []types.Type) *wire.Fixed {
	t := types.TupleOf(slots...)
	p := &placer{off: 8}
	w := p.leaves(t)
	p.tags(t, &w)
	return &wire.Fixed{Type: w, Size: align(p.off, 8) + 8}
}
