package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The two banks of values of an aggregation, of which take() reads the other.
//
// Values of two banks: programs fill the one that the container's epoch
// names. User space changes the epoch, waits until no run of a program is left
// that read it before, and empties the other bank: each update is in exactly
// one taking. A run reads an epoch once, so that all that it adds to a group
// is taken together.

// bank is the address of the bank to be filled of the value at p.
func (b aggs) bank(c *tree.Container, p *ir.Value) *ir.Value {
	if c.Agg.Banks < 2 {
		return p
	}
	// The mask stands here, where the verifier sees it: of an epoch that a body of
	// a loop is given by memory it knows nothing.
	return b.Op(ir.OpAdd, p, b.Imm(ir.OpMul, b.Imm(ir.OpAnd, b.epoch(c), 1), int64(c.Agg.Size)))
}

// epoch is that of a container whose values have two banks.
func (b aggs) epoch(c *tree.Container) *ir.Value {
	return b.once(epochUse(int64(c.ID)), func() *ir.Value {
		b.Uses[tree.MapEpochs] = true
		return b.Load(8, b.MapValue(tree.MapEpochs, int64(8*c.ID)), 0)
	})
}

// hoistEpochs reads the epochs that are used more than once.
func (b aggs) hoistEpochs() {
	for _, c := range b.Tree.Containers {
		if c != nil && c.Agg != nil && c.Agg.Banks > 1 && b.uses[epochUse(int64(c.ID))] > 1 {
			b.epoch(c)
		}
	}
}

// aggs writes what handlers add to aggregations.
type aggs struct{ *code }

// An aggSample is what is added.
type aggSample struct {
	c         *tree.Container
	t         types.Type
	v, weight *ir.Value
	bucket    *ir.Value // its number, for histograms
}
