package ssagen

import (
	"encoding/binary"
	"slices"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/wire"
)

// Variants of system calls of one shape share their code.
//
// Variants of one shape share their code. They may send records of different
// numbers: these stand in a table by the number of the system call, one for
// all first sends of variants, one for all second ones, and so on. There are fewer
// shapes than system calls, of their arguments, too.

// mergeVariants gives for each variant the first of its shape.
func (b variants) mergeVariants(list []tree.Variant) []int {
	first, firstSends := map[string]int{}, map[string][]*tree.Stmt{}
	same := make([]int, len(list))
	b.numbers.index = map[*tree.Stmt]int{}
	for i, v := range list {
		shape, sends := "call "+v.Call, []*tree.Stmt(nil)
		if v.Call == "" {
			shape, sends = v.Body.Shape(b.Tree.Records)
		}
		if v.Syscalls == nil {
			shape += " for all" // no table has all numbers
		}
		if _, ok := first[shape]; !ok {
			first[shape], firstSends[shape] = i, sends
		}
		same[i] = first[shape]
		b.noteNumbers(list[:i], v, firstSends[shape], sends)
	}
	return same
}

// noteNumbers enters what v sends; calls that variants before it have are theirs.
func (b variants) noteNumbers(before []tree.Variant, v tree.Variant, first, sends []*tree.Stmt) {
	for k, s := range sends {
		if k == len(b.numbers.tables) {
			b.numbers.tables = append(b.numbers.tables, [maxSyscall]uint32{})
		}
		for _, n := range v.Syscalls {
			if variantOf(before, n) < 0 && n < maxSyscall {
				b.numbers.tables[k][n] = uint32(b.Tree.Records[s.Int].Number)
			}
		}
		if s.Int != first[k].Int {
			b.numbers.index[first[k]] = k
		}
	}
}

// recordNumber is the number of the record that s sends.
func (b calls) recordNumber(s *tree.Stmt, r *wire.Record) *ir.Value {
	k, ok := b.numbers.index[s]
	if !ok {
		return b.Const(int64(r.Number))
	}
	data := make([]byte, 0, 4*maxSyscall)
	for _, n := range b.numbers.tables[k] {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	at := b.Imm(ir.OpShl, b.Imm(ir.OpAnd, b.syscallNr(), maxSyscall-1), 2) // the mask is for the verifier
	return b.Load(4, b.Op(ir.OpAdd, b.constAddr(string(data)), at), 0)
}

// variantOf is the first variant that holds n, -1 for none.
func variantOf(list []tree.Variant, n int) int {
	for i, v := range list {
		if v.Syscalls == nil {
			return i
		}
		if _, ok := slices.BinarySearch(v.Syscalls, n); ok {
			return i
		}
	}
	return -1
}
