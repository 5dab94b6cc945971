// Package cost gives upper bounds of what one run of a program costs: how many
// instructions it executes and how often it calls functions of the kernel, on
// the longest way through it.
//
// The longest way through a program without loops is found in one pass over
// its blocks, each of which costs what it has, and what it calls. Loops are
// taken from the inside out. A loop that runs at most n rounds is replaced by
// one block that costs n+1 times the longest way through its body: n rounds,
// and the one in which it is left.
//
//	b0:            1                   b0:            1
//	b1: head       2   <-+     =>      b1 (10 rounds of b1, b2):  11 * (2+5) = 77
//	b2: body       5   --+             b3:            3
//	b3:            3                   longest way:  81
//
// How many rounds a loop runs is read from the program itself: the compiler
// gives each loop a number that grows by a constant, and a test of it against a
// constant that each round passes. The kernel's verifier demands that, too.
//
// Both numbers are upper bounds, each for itself: the way with the most
// instructions need not be that with the most calls, and a real event takes
// shorter ways nearly always.
package cost

import (
	"fmt"
	"math"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/ir"
)

// The most instructions and helper calls that one run of a program can take, as `startrace audit` shows them.

// A Cost is what one run costs at most. A number that would be too large for
// an int64 is math.MaxInt64.
type Cost struct {
	// Insns are instructions of the program, its subprograms included; those that
	// the kernel executes in functions that are called are not.
	Insns int64
	// Calls are calls of functions of the kernel ("helpers").
	Calls int64
}

// A Func is a function whose machine code is known.
type Func struct {
	// IR is the function as it was when its registers were given.
	IR *ir.Func
	// Size has the number of instructions of each block, at its ID, with those
	// that prepare the edges that leave it.
	Size []int
}

// An UnboundedError says that the rounds of a loop are not known. It is a
// mistake of the compiler or of this package.
type UnboundedError struct {
	// Func is the name of the function that has the loop.
	Func string
	Pos  ir.Pos // of the loop
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("%s: %v: the rounds of this loop have no known bound", e.Func, e.Pos)
}

// Of gives the cost of funcs[0], which may call the others. rounds says how
// often at most the kernel calls a function that is the body of a loop
// (bpf_loop).
func Of(funcs []Func, rounds func(name string) (int64, bool)) (Cost, error) {
	c := &costs{byName: map[string]Func{}, done: map[string]Cost{}, rounds: rounds}
	for _, f := range funcs {
		c.byName[f.IR.Name] = f
	}
	return c.function(funcs[0])
}

// costs are those of the functions of one program.
type costs struct {
	byName map[string]Func
	done   map[string]Cost // functions that were asked for before
	rounds func(name string) (int64, bool)
}

func (c *costs) named(name string, pos ir.Pos) (Cost, error) {
	if known, ok := c.done[name]; ok {
		return known, nil
	}
	f, ok := c.byName[name]
	if !ok {
		return Cost{}, &UnboundedError{name, pos}
	}
	cost, err := c.function(f)
	c.done[name] = cost
	return cost, err
}

// function is the cost of one call of f.
func (c *costs) function(f Func) (Cost, error) {
	order := f.IR.Order()
	w := newWays(f.IR, order)
	for _, b := range order {
		own, err := c.block(b)
		if err != nil {
			return Cost{}, err
		}
		w.cost[b.ID] = own.plus(Cost{Insns: int64(f.Size[b.ID])})
	}
	loops, doms := f.IR.Loops(order), f.IR.Dominators(order)
	for i := len(loops) - 1; i >= 0; i-- { // a loop inside has its head behind that of the loop around it
		n, ok := newLoop(loops[i], order, doms).rounds()
		if !ok {
			return Cost{}, &UnboundedError{f.IR.Name, loops[i].Head.Term.Pos}
		}
		w.collapse(loops[i], n)
	}
	return w.longest(order[0], order), nil
}

// block is the cost of what b calls.
func (c *costs) block(b *ir.Block) (sum Cost, err error) {
	for _, v := range b.Values {
		if v.Op != ir.OpCall {
			continue
		}
		var called Cost
		if v.Sym != "" {
			called, err = c.named(v.Sym, v.Pos)
		} else if called, err = c.bodyOf(v); err == nil {
			called.Calls = add(called.Calls, 1)
		}
		if err != nil {
			return Cost{}, err
		}
		sum = sum.plus(called)
	}
	return sum, nil
}

// bodyOf is the cost of all rounds of a loop that is left to the kernel; nothing
// for other calls.
func (c *costs) bodyOf(call *ir.Value) (Cost, error) {
	for _, arg := range call.Args {
		if arg.Op != ir.OpFunc {
			continue
		}
		n, ok := c.rounds(arg.Sym)
		if asm.BuiltinFunc(call.Imm) == asm.FnFindVma { // which calls it once
			n, ok = 1, true
		}
		if !ok {
			return Cost{}, &UnboundedError{arg.Sym, call.Pos}
		}
		body, err := c.named(arg.Sym, call.Pos)
		return body.times(n), err
	}
	return Cost{}, nil
}

func (c Cost) plus(d Cost) Cost { return Cost{add(c.Insns, d.Insns), add(c.Calls, d.Calls)} }

func (c Cost) times(n int64) Cost { return Cost{multiply(c.Insns, n), multiply(c.Calls, n)} }

func (c Cost) max(d Cost) Cost { return Cost{max(c.Insns, d.Insns), max(c.Calls, d.Calls)} }

// add adds numbers that are not negative.
func add(x, y int64) int64 {
	if x > math.MaxInt64-y {
		return math.MaxInt64
	}
	return x + y
}

// multiply multiplies numbers that are not negative.
func multiply(x, y int64) int64 {
	if x != 0 && y > math.MaxInt64/x {
		return math.MaxInt64
	}
	return x * y
}
