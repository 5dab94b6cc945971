package ssagen

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
)

// Which builtins, registers and variables a program uses, and how often.

// uses counts what a program reads of the event, by the names of builtins, "reg:OFFSET" and epochUse. What is read
// twice, or in a loop, is read once where the handler begins, so that it is one value.
type uses map[string]int

// countUses counts in all bodies of p. What is in a loop counts twice.
func countUses(p *tree.Program) uses {
	u := uses{}
	for _, blk := range p.Bodies() {
		tree.WalkBlock(blk, func(s *tree.Stmt) {
			u.countAdd(s)
			switch s.Op {
			case tree.SFor:
				tree.WalkBlock(s.Then, u.countAdd, u.count)
			case tree.SSpanStart, tree.SSpanEnd:
				u["tid"]++
			}
		}, u.count)
	}
	return u
}

// count counts what an expression reads.
func (u uses) count(e *tree.Expr) {
	if e.Op == tree.OpBuiltin {
		u[e.Str]++
	}
}

// countAdd counts what a statement reads of epochs.
func (u uses) countAdd(s *tree.Stmt) {
	if s.Op == tree.SAggAdd {
		u[epochUse(s.Int)]++
	}
}

// epochUse is the epoch of a container among what a program reads.
func epochUse(container int64) string { return "epoch " + strconv.FormatInt(container, 10) }

// registers gives the range of pt_regs that covers all uses, from the offset lo to the offset hi. Without uses lo is
// above hi.
func (u uses) registers() (lo, hi int64) {
	lo = 1 << 15
	for name := range u {
		if off, ok := strings.CutPrefix(name, "reg:"); ok {
			n, _ := strconv.ParseInt(off, 10, 16)
			lo, hi = min(lo, n), max(hi, n+8)
		}
	}
	return lo, hi
}

// locals counts the assignments and the uses of variables, by their numbers.
type locals struct{ assigned, used map[int64]int }

// countLocals counts in all of p.
func countLocals(p *tree.Program) locals {
	l := localsOf(p.Body)
	for _, v := range p.Variants {
		l.block(v.Body)
	}
	return l
}

// localsOf counts in one block.
func localsOf(blk *tree.Block) locals {
	l := locals{map[int64]int{}, map[int64]int{}}
	l.block(blk)
	return l
}

func (l locals) block(blk *tree.Block) {
	tree.WalkBlock(blk, func(s *tree.Stmt) {
		if s.Op == tree.SAssign || s.Op == tree.SFor {
			l.assigned[s.Int]++
		}
	}, func(e *tree.Expr) {
		if e.Op == tree.OpLocal {
			l.used[e.Int]++
		}
	})
}

// usesOf counts what the program reads, with what the check of its span does.
func usesOf(s *Shared, p *tree.Program) uses {
	u := countUses(p)
	if p.Attach.Kind().Syscall() && p.Attach.Span < len(s.Tree.Spans) {
		for _, off := range s.Tree.Spans[p.Attach.Span].Check {
			u["reg:"+strconv.Itoa(off)]++
		}
	}
	return u
}
