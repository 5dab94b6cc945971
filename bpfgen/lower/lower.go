// Package lower rewrites macro ops to machine ops: what the machine has no
// instruction for on some supported kernel (5.10 on), and what stands for
// more than one.
//
// Sequences are without branches where that is possible: a branch costs the
// verifier a second way through all that follows.
package lower

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Run rewrites macro ops to instructions of the machine; what an old kernel lacks; the counter of a site
// (`OpCountSite`).

// Options say what sequences need to know.
type Options struct {
	// ScratchSite is the site that counts programs that found no scratch
	// memory. Used if the function's ScratchSize is not 0.
	ScratchSite int
	// HasLogTable says that MapConst has the table that the function LogTable gives. It has if NeedsLogTable.
	HasLogTable bool
	// LogTable is the place of that table, in bytes from the start of MapConst.
	LogTable int64
	// Guard is the program's part where one of the unit stands at locks, and GuardSite counts the runs that end for it.
	Guard     Guard
	GuardSite int
}

// Run lowers f. It then satisfies CheckMachine.
func Run(f *ir.Func, o Options) error {
	fuse(f)
	guard(f, o)
	claim(f, o)
	for i := 0; i < len(f.Blocks); i++ { // splitting appends blocks
		l := &lowerer{f: f, b: f.Blocks[i], o: o}
		if err := l.block(); err != nil {
			return err
		}
	}
	drop(f)
	return f.CheckMachine()
}

// lowerer rewrites one block: out replaces its values.
type lowerer struct {
	f   *ir.Func
	b   *ir.Block
	o   Options
	out []*ir.Value
	pos ir.Pos
}

func (l *lowerer) block() error {
	values := l.b.Values
	for i, v := range values {
		if !v.Op.IsMacro() {
			l.out = append(l.out, v)
			continue
		}
		l.pos = v.Pos
		if v.Op == ir.OpCmp {
			l.compare(v, values[i+1:])
			return nil
		}
		if err := l.macro(v); err != nil {
			return err
		}
	}
	l.b.Values = l.out
	return nil
}

func (l *lowerer) macro(v *ir.Value) error {
	switch v.Op {
	case ir.OpSExt:
		l.shifts(v, ir.OpAShr)
	case ir.OpZExt:
		l.zeroExtend(v)
	case ir.OpFloorDiv, ir.OpFloorMod:
		l.divide(v)
	case ir.OpLog2:
		l.log2(v)
	case ir.OpCountSite:
		site := l.add(ir.OpMapValue)
		site.Sym, site.Imm = tree.MapSites, 8*v.Imm
		l.become(v, ir.OpAtomicAdd64, 0, site, l.konst(1))
	case ir.OpZero:
		l.zero(v)
	case ir.OpCopy:
		l.copy(v)
	default:
		return fmt.Errorf("lower: %s: op %s is not known here", l.f.Name, v.Op)
	}
	return nil
}

func (l *lowerer) append(v *ir.Value) *ir.Value {
	v.Block = l.b
	l.out = append(l.out, v)
	return v
}

func (l *lowerer) add(op ir.Op, args ...*ir.Value) *ir.Value {
	return l.append(l.f.NewValue(op, l.pos, args...))
}

func (l *lowerer) imm(op ir.Op, x *ir.Value, c int64) *ir.Value {
	if !ir.Fits32(c) {
		return l.add(op, x, l.konst(c))
	}
	v := l.add(op, x)
	v.Imm = c
	return v
}

func (l *lowerer) konst(c int64) *ir.Value {
	v := l.add(ir.OpConst)
	v.Imm = c
	return v
}

// become makes the macro v the last instruction of its sequence, so that its
// uses stay as they are.
func (l *lowerer) become(v *ir.Value, op ir.Op, imm int64, args ...*ir.Value) {
	v.Op, v.Imm, v.Args, v.Sym = op, imm, args, ""
	l.append(v)
}

// compare splits the block: the comparison becomes a parameter of the rest,
// 1 from the way where it holds.
func (l *lowerer) compare(v *ir.Value, rest []*ir.Value) {
	b := l.b
	next := l.f.NewBlock()
	next.Values, next.Term = rest, b.Term
	for _, r := range rest {
		r.Block = next
	}
	yes, no := l.konst(1), l.konst(0)
	b.Values = l.out
	b.Branch(v.Pos, ir.Cond(v.Imm), v.Args[0], v.Args[1],
		ir.Edge{Block: next, Args: []*ir.Value{yes}}, ir.Edge{Block: next, Args: []*ir.Value{no}})
	v.Op, v.Imm, v.Args = ir.OpParam, 0, nil
	v.Block = next
	next.Params = append(next.Params, v)
}
