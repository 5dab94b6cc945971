// Package ir is the compiler's intermediate form: SSA with block parameters.
//
// A Func is one eBPF program, or a subprogram of one. Every value is 64 bits wide: an integer or an
// address. Which of the two matters only to the kernel's verifier; the
// compiler must keep addresses whole (no arithmetic on them but OpAdd with a
// bounded offset) so that the verifier can follow.
//
// There are two levels in one form. Macro ops (flag Macro in the op table)
// say what is meant: floor division, "add to this aggregation", "release the
// scratch memory". Package lower rewrites them to machine ops, which
// correspond to one or a few eBPF instructions. Passes of package opt run on
// both levels. Check verifies every invariant between passes.
//
// The text form (String, Parse) holds everything, so that a test of a pass
// is text in, text out:
//
//	func "count" {
//	  slot s0 16
//	b0:
//	  v1 = ctx
//	  v2 = load32 v1 +8
//	  br ult v2, 5 -> b1(v2), b2
//	b1(v4):
//	  ret v4
//	b2:
//	  v5 = const 0
//	  ret v5
//	}
package ir

import "go.starlark.net/syntax"

// Func, Block, Value, Term and Edge: the types of the compiler's SSA, and its conditions of branches.

// Pos is the place in the script that an instruction comes from.
type Pos = syntax.Position

// A Func is one program.
type Func struct {
	// Name becomes the symbol of the first instruction. Subprograms are called by it.
	Name string
	// Slots are the pieces of its stack, each at the index that is its ID.
	Slots  []*Slot
	Blocks []*Block // Blocks[0] is the entry: no parameters, no edge leads there
	// Global: it is a subprogram that the verifier looks at once, by itself, and not at each call (5.6). So it is given
	// numbers only, of which nothing is known, and gives a number.
	Global bool
	// ScratchSize is the bytes of per-CPU scratch memory that the function
	// uses below OpScratch; 0: none is claimed.
	ScratchSize int
	// nextValue is the ID that was given to the last value; IDs begin at 1.
	nextValue int
	// nextBlock is the ID for the next block.
	nextBlock int
	// flow is what was last found out about the edges; nil: nothing yet.
	flow *flow
}

// A Slot is a piece of the stack, 8-byte aligned.
type Slot struct {
	// ID is its index in Func.Slots, and its number in the text form.
	ID int
	// Size is in bytes, a multiple of 8.
	Size int
}

// A Block is a basic block. Params get their values from the edges that lead
// here. The Term ends it.
type Block struct {
	// ID is its number in the text form. It is below Func.NumBlocks and never given twice, so tables by block are
	// slices.
	ID     int
	Params []*Value
	Values []*Value // in order; only these have effects
	Term   Term
	// Func is the function that the block belongs to.
	Func *Func
}

// A Value is an instruction and its result.
type Value struct {
	// ID is its number in the text form. It is below Func.NumValues and never given twice, so tables by value are
	// slices.
	ID int
	// Op says what is computed. It decides what the other fields mean.
	Op Op
	// Args are the operands. An operation of two of which the second is a constant has it in Imm and one operand.
	Args []*Value
	// Imm is a constant, an offset, a helper's number, a site: see Op.
	Imm int64
	// Sym names a map or, for macro ops, a member or string constant.
	Sym string
	// Slot is the piece of stack of which an OpSlot is the address; nil for all other ops.
	Slot *Slot
	// Block is where the value is computed. Passes that move a value set it.
	Block *Block
	// Pos is the place in the script that the value comes from; not valid where there is none.
	Pos Pos
}

// TermKind is the kind of a terminator.
type TermKind uint8

// The terminators.
const (
	TermNone TermKind = iota
	Jump              // To[0]
	Branch            // Cond on X and Y (or Imm where Y is nil): To[0] if true, else To[1]
	Ret               // X, or 0 where X is nil
)

// A Term ends a block.
type Term struct {
	// Kind says how the block ends. A block under construction has TermNone.
	Kind TermKind
	// Cond compares X with Y, or with Imm where Y is nil. Only a Branch has it.
	Cond Cond
	// X and Y are what a Branch compares; X is also what a Ret gives.
	X, Y *Value
	Imm  int64 // fits in 32 bits signed
	// To has one edge for a Jump, two for a Branch, none for a Ret.
	To []Edge
	// Likely says which way is expected: 0 unknown, 1 To[0], 2 To[1]. The
	// emitter lays the likely way out as fall-through.
	Likely uint8
	// Pos is the place in the script that the terminator comes from.
	Pos Pos
}

// An Edge leads to a block with the values of its parameters.
type Edge struct {
	// Block is where the edge leads.
	Block *Block
	// Args are the values of the parameters of that block, in their order.
	Args []*Value
}

// Cond is the condition of a branch, on 64 bits.
type Cond uint8

// The conditions.
const (
	EQ Cond = iota
	NE
	ULT
	ULE
	UGT
	UGE
	SLT
	SLE
	SGT
	SGE
	SET // X & Y != 0
)

var condNames = [...]string{"eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "set"}

// String gives the name in the text form.
func (c Cond) String() string { return condNames[c] }

// NewFunc makes a function with an entry block.
func NewFunc(name string) *Func {
	f := &Func{Name: name}
	f.NewBlock()
	return f
}

// NewBlock adds an empty block.
func (f *Func) NewBlock() *Block {
	b := &Block{ID: f.nextBlock, Func: f}
	f.nextBlock++
	f.Blocks = append(f.Blocks, b)
	return b
}

// NewSlot adds a piece of stack of at least size bytes.
func (f *Func) NewSlot(size int) *Slot {
	s := &Slot{ID: len(f.Slots), Size: (size + 7) &^ 7}
	f.Slots = append(f.Slots, s)
	return s
}

// NewValue makes a value that is in no block yet.
func (f *Func) NewValue(op Op, pos Pos, args ...*Value) *Value {
	f.nextValue++
	return &Value{ID: f.nextValue, Op: op, Args: args, Pos: pos}
}

// Param adds a parameter to b.
func (b *Block) Param(pos Pos) *Value {
	v := b.Func.NewValue(OpParam, pos)
	v.Block = b
	b.Params = append(b.Params, v)
	return v
}

// Add appends an instruction to b.
func (b *Block) Add(op Op, pos Pos, args ...*Value) *Value {
	v := b.Func.NewValue(op, pos, args...)
	v.Block = b
	b.Values = append(b.Values, v)
	return v
}

// AddImm appends an instruction with an immediate to b.
func (b *Block) AddImm(op Op, pos Pos, imm int64, args ...*Value) *Value {
	v := b.Add(op, pos, args...)
	v.Imm = imm
	return v
}

// Const appends a constant to b.
func (b *Block) Const(pos Pos, c int64) *Value { return b.AddImm(OpConst, pos, c) }

// Jump ends b with a jump.
func (b *Block) Jump(pos Pos, to *Block, args ...*Value) {
	b.Term = Term{Kind: Jump, To: []Edge{{to, args}}, Pos: pos}
}

// Branch ends b with a comparison of x and y.
func (b *Block) Branch(pos Pos, c Cond, x, y *Value, then, els Edge) {
	b.Term = Term{Kind: Branch, Cond: c, X: x, Y: y, To: []Edge{then, els}, Pos: pos}
}

// BranchImm ends b with a comparison of x and an immediate of 32 bits.
func (b *Block) BranchImm(pos Pos, c Cond, x *Value, imm int64, then, els Edge) {
	b.Term = Term{Kind: Branch, Cond: c, X: x, Imm: imm, To: []Edge{then, els}, Pos: pos}
}

// Ret ends b and the program.
func (b *Block) Ret(pos Pos, x *Value) { b.Term = Term{Kind: Ret, X: x, Pos: pos} }
