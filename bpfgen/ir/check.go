package ir

import (
	"fmt"
	"math"
)

// The invariants of SSA, checked after each pass with --check.

// A CheckError says which invariant is broken and where.
type CheckError struct {
	// Func is the name of the function that breaks an invariant.
	Func string
	// Block is the number of the block; -1: the function as a whole.
	Block int
	// Where is the value, the edge or the terminator in the block, as text; "" where it is the block itself.
	Where string
	// What says how the invariant is broken.
	What string
}

func (e *CheckError) Error() string {
	s := "ir: func " + e.Func
	if e.Block >= 0 {
		s += fmt.Sprintf(": b%d", e.Block)
	}
	if e.Where != "" {
		s += ": " + e.Where
	}
	return s + ": " + e.What
}

// Check verifies the invariants that every pass may rely on:
//
//   - numbers of values and blocks are unique, links back are right;
//   - the entry has no parameters and no edge leads to it;
//   - every block ends in a terminator, every edge brings as many values as
//     its target has parameters;
//   - every op has its operands, its immediate is in range;
//   - every operand is defined by a value with a result, in blocks that can be
//     reached on every way to its use.
func (f *Func) Check() error {
	c := &checker{f: f, at: make([]definition, f.NumValues()), blocks: make([]bool, f.NumBlocks())}
	c.collect()
	for _, b := range f.Blocks {
		c.block(b)
	}
	if c.err == nil {
		c.dominance()
	}
	if c.err == nil {
		return nil
	}
	return c.err
}

// CheckMachine is Check, and verifies that no macro op is left.
func (f *Func) CheckMachine() error {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op.IsMacro() {
				return &CheckError{f.Name, b.ID, v.LongString(), "a macro op is left"}
			}
		}
	}
	return f.Check()
}

// A definition is where a value is computed: parameters have index -1.
type definition struct {
	v     *Value
	index int
}

// checker keeps the first error.
type checker struct {
	f      *Func
	at     []definition
	blocks []bool
	err    *CheckError
}

func (c *checker) fail(b *Block, where, format string, args ...any) {
	if c.err == nil {
		c.err = &CheckError{c.f.Name, -1, where, fmt.Sprintf(format, args...)}
		if b != nil {
			c.err.Block = b.ID
		}
	}
}

// collect notes where blocks and values are defined.
func (c *checker) collect() {
	if len(c.f.Blocks) == 0 {
		c.fail(nil, "", "no blocks")
		return
	}
	if len(c.f.Blocks[0].Params) > 0 {
		c.fail(c.f.Blocks[0], "", "the entry has parameters")
	}
	for _, b := range c.f.Blocks {
		if b.ID < 0 || b.ID >= len(c.blocks) || c.blocks[b.ID] || b.Func != c.f {
			c.fail(b, "", "bad number or function of the block")
			return
		}
		c.blocks[b.ID] = true
		for _, p := range b.Params {
			c.define(b, p, -1)
			if p.Op != OpParam {
				c.fail(b, p.String(), "a parameter of op %s", p.Op)
			}
		}
		for i, v := range b.Values {
			c.define(b, v, i)
		}
	}
}

func (c *checker) define(b *Block, v *Value, index int) {
	if v.ID <= 0 || v.ID >= len(c.at) {
		c.fail(b, v.String(), "number out of range")
		return
	}
	if c.at[v.ID].v != nil {
		c.fail(b, v.String(), "defined twice")
	}
	if v.Block != b {
		c.fail(b, v.String(), "is in another block by its own account")
	}
	c.at[v.ID] = definition{v, index}
}

func (c *checker) block(b *Block) {
	for _, v := range b.Values {
		if c.err == nil {
			c.value(b, v)
		}
	}
	t := &b.Term
	edges, ok := map[TermKind]int{Jump: 1, Branch: 2, Ret: 0}[t.Kind]
	if !ok {
		c.fail(b, "", "no terminator")
		return
	}
	if len(t.To) != edges {
		c.fail(b, "terminator", "%d edges, want %d", len(t.To), edges)
		return
	}
	if t.X != nil || t.Kind == Branch {
		c.operand(b, "terminator", t.X)
	}
	if t.Y != nil {
		c.operand(b, "terminator", t.Y)
	}
	if t.Kind == Branch && (t.Cond > SET || t.Likely > 2) {
		c.fail(b, "terminator", "bad condition or likely way")
	}
	if !Fits32(t.Imm) || t.Imm != 0 && t.Y != nil {
		c.fail(b, "terminator", "immediate %d does not fit 32 bits or stands beside an operand", t.Imm)
	}
	for _, e := range t.To {
		c.edge(b, e)
	}
}

func (c *checker) edge(b *Block, e Edge) {
	to := e.Block
	if to == nil || to.Func != c.f || to.ID < 0 || to.ID >= len(c.blocks) || !c.blocks[to.ID] {
		c.fail(b, "edge", "leads to a block that is not in the function")
		return
	}
	if to == c.f.Blocks[0] {
		c.fail(b, "edge", "leads to the entry")
	}
	if len(e.Args) != len(to.Params) {
		c.fail(b, "edge to "+to.String(), "%d values for %d parameters", len(e.Args), len(to.Params))
	}
	for _, a := range e.Args {
		c.operand(b, "edge to "+to.String(), a)
	}
}

// operand verifies that a is a value of the function that has a result.
func (c *checker) operand(b *Block, where string, a *Value) {
	switch {
	case a == nil:
		c.fail(b, where, "an operand is missing")
	case a.ID <= 0 || a.ID >= len(c.at) || c.at[a.ID].v != a:
		c.fail(b, where, "operand %s is not in the function", a)
	case !a.Op.HasResult():
		c.fail(b, where, "operand %s has no result", a)
	}
}

func (c *checker) value(b *Block, v *Value) {
	if v.Op <= OpParam || v.Op >= numOps {
		c.fail(b, v.String(), "bad op %d", v.Op)
		return
	}
	for _, a := range v.Args {
		c.operand(b, v.Op.String(), a)
	}
	if c.err != nil {
		return
	}
	if what := v.shape(); what != "" {
		c.fail(b, v.LongString(), "%s", what)
	}
	if v.Op == OpArg && b != c.f.Blocks[0] {
		c.fail(b, v.LongString(), "an argument outside of the entry")
	}
	if v.Slot != nil && (v.Slot.ID >= len(c.f.Slots) || c.f.Slots[v.Slot.ID] != v.Slot) {
		c.fail(b, v.LongString(), "slot of another function")
	}
}

// maxArgs is how many arguments a call has: R1–R5.
const maxArgs = 5

// shape says what is wrong with the number of operands or the immediate.
func (v *Value) shape() string {
	want := opTable[v.Op].nargs
	switch {
	case v.Op == OpCall:
		if len(v.Args) > maxArgs {
			return "more than 5 arguments"
		}
	case v.Op.IsALU2() && len(v.Args) == 1:
		if !Fits32(v.Imm) {
			return "immediate does not fit 32 bits"
		}
		if v.Imm == 0 && (v.Op == OpUDiv || v.Op == OpUMod) {
			return "division by the immediate 0" // the kernel refuses to load it
		}
	case len(v.Args) != want:
		return fmt.Sprintf("%d operands, want %d", len(v.Args), want)
	}
	if v.immForm() == immNone && v.Imm != 0 {
		return "an immediate beside an operand"
	}
	return v.immShape()
}

// immShape says what is wrong with an immediate that has a meaning of its own.
func (v *Value) immShape() string {
	bad := false
	switch v.Op {
	case OpSlot:
		if v.Slot == nil {
			return "no slot"
		}
		bad = v.Imm < 0 || v.Imm > int64(v.Slot.Size)
	case OpMapPtr, OpFunc:
		bad = v.Sym == ""
	case OpMapValue:
		bad = v.Sym == "" || v.Imm < 0 || v.Imm > math.MaxInt32
	case OpArg:
		bad = v.Imm < 0 || v.Imm >= maxArgs
	case OpSExt, OpZExt:
		bad = v.Imm < 1 || v.Imm > 63
	case OpCmp:
		bad = v.Imm < 0 || v.Imm > int64(SET)
	case OpZero, OpCopy:
		bad = v.Imm <= 0 || v.Imm%8 != 0
	case OpScratch, OpCountSite, OpCall:
		bad = v.Imm < 0 || v.Imm > math.MaxInt32
	default:
		bad = v.Op.IsMemory() && v.Imm != int64(int16(v.Imm))
	}
	if bad {
		return "name or immediate is missing or out of range"
	}
	return ""
}

// dominance verifies that operands are defined before their use.
func (c *checker) dominance() {
	order := c.f.Order()
	dom := c.f.Dominators(order)
	for _, b := range order {
		for i, v := range b.Values {
			for _, a := range v.Args {
				c.before(dom, b, i, a)
			}
		}
		for at := range b.Term.Operands() {
			c.before(dom, b, len(b.Values), *at)
		}
	}
}

// before verifies that a is defined before instruction i of b.
func (c *checker) before(dom *DomTree, b *Block, i int, a *Value) {
	if a.Block == b && c.at[a.ID].index < i {
		return
	}
	if a.Block == b || !dom.Reached(a.Block) || !dom.Dominates(a.Block, b) {
		c.fail(b, a.String(), "used where it is not defined on every way")
	}
}
