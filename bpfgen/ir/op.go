package ir

// The operations of SSA, a row each: name, operands, effect, result.

// Op is an operation.
type Op uint8

// The operations. Machine ops first; a comment gives operands and Imm.
const (
	OpInvalid Op = iota
	OpParam      // of a block

	OpConst    // Imm, any 64 bits
	OpCtx      // the program's context (R1 at entry)
	OpArg      // of a subprogram: what its caller had in argument Imm, from 0; only in the entry block
	OpSlot     // the address of Slot + Imm
	OpMapPtr   // the map Sym, for helpers
	OpFunc     // the subprogram Sym, for helpers that call it
	OpMapValue // the address of byte Imm in the value of the array map Sym (one entry)

	// Arithmetic: x, y, or x and Imm (32 bits signed) where y is absent.
	OpAdd
	OpSub
	OpMul
	OpUDiv // y = 0 gives 0
	OpUMod // y = 0 gives x
	OpAnd
	OpOr
	OpXor
	OpShl // counts mod 64
	OpLShr
	OpAShr
	OpNeg
	OpBswap16 // x; swapped bytes, zero-extended
	OpBswap32
	OpBswap64

	// Memory: address, (value); Imm is the offset.
	OpLoad8 // zero-extended
	OpLoad16
	OpLoad32
	OpLoad64
	OpStore8
	OpStore16
	OpStore32
	OpStore64
	OpAtomicAdd64
	OpXchg64    // address, value: the old value (5.12+)
	OpCmpXchg64 // address, expected, new: the old value (5.12+)

	// OpCall calls helper Imm, or the subprogram Sym, with at most five arguments;
	// its value is R0.
	OpCall

	// Macro ops.

	// OpSExt sign-extends the low Imm bits of x.
	OpSExt
	// OpZExt zero-extends the low Imm bits of x.
	OpZExt
	// OpFloorDiv, OpFloorMod: x, y signed and y != 0.
	OpFloorDiv
	OpFloorMod
	// OpCmp gives 0 or 1; Imm is the Cond.
	OpCmp
	// OpLog2 is the bit length 0..64 of x as unsigned.
	OpLog2
	// OpScratch is the address of byte Imm of the claimed scratch memory.
	OpScratch
	// OpScratchSlot is the number of the claimed scratch memory, the key under which it lies in its map.
	OpScratchSlot
	// OpCountSite adds 1 to error site Imm (see package ssagen); no result.
	OpCountSite
	// OpZero clears Slot-or-address memory: address; Imm bytes, a multiple of 8.
	OpZero
	// OpCopy copies Imm bytes (a multiple of 8) from y to x, both stack or map memory.
	OpCopy

	numOps
)

// opInfo is what the code that treats all operations alike knows of one.
type opInfo struct {
	// name is the operation's in the text form.
	name  string
	nargs int  // operands; -1: any
	imm   bool // Imm is printed
	// result: it gives a value that others may have as an operand.
	result bool
	effect bool // must stay, in order, even if unused
	reads  bool // reads memory: stays in order with effects
	// macro: lower rewrites it to machine ops.
	macro bool
}

var opTable = [numOps]opInfo{
	OpParam:       {name: "param", result: true},
	OpConst:       {name: "const", imm: true, result: true},
	OpCtx:         {name: "ctx", result: true},
	OpArg:         {name: "arg", imm: true, result: true},
	OpSlot:        {name: "slot", imm: true, result: true},
	OpMapPtr:      {name: "map", result: true},
	OpFunc:        {name: "func", result: true},
	OpMapValue:    {name: "mapvalue", imm: true, result: true},
	OpAdd:         {name: "add", nargs: 2, result: true},
	OpSub:         {name: "sub", nargs: 2, result: true},
	OpMul:         {name: "mul", nargs: 2, result: true},
	OpUDiv:        {name: "udiv", nargs: 2, result: true},
	OpUMod:        {name: "umod", nargs: 2, result: true},
	OpAnd:         {name: "and", nargs: 2, result: true},
	OpOr:          {name: "or", nargs: 2, result: true},
	OpXor:         {name: "xor", nargs: 2, result: true},
	OpShl:         {name: "shl", nargs: 2, result: true},
	OpLShr:        {name: "lshr", nargs: 2, result: true},
	OpAShr:        {name: "ashr", nargs: 2, result: true},
	OpNeg:         {name: "neg", nargs: 1, result: true},
	OpBswap16:     {name: "bswap16", nargs: 1, result: true},
	OpBswap32:     {name: "bswap32", nargs: 1, result: true},
	OpBswap64:     {name: "bswap64", nargs: 1, result: true},
	OpLoad8:       {name: "load8", nargs: 1, imm: true, result: true, reads: true},
	OpLoad16:      {name: "load16", nargs: 1, imm: true, result: true, reads: true},
	OpLoad32:      {name: "load32", nargs: 1, imm: true, result: true, reads: true},
	OpLoad64:      {name: "load64", nargs: 1, imm: true, result: true, reads: true},
	OpStore8:      {name: "store8", nargs: 2, imm: true, effect: true},
	OpStore16:     {name: "store16", nargs: 2, imm: true, effect: true},
	OpStore32:     {name: "store32", nargs: 2, imm: true, effect: true},
	OpStore64:     {name: "store64", nargs: 2, imm: true, effect: true},
	OpAtomicAdd64: {name: "atomicadd64", nargs: 2, imm: true, effect: true},
	OpXchg64:      {name: "xchg64", nargs: 2, imm: true, result: true, effect: true},
	OpCmpXchg64:   {name: "cmpxchg64", nargs: 3, imm: true, result: true, effect: true},
	OpCall:        {name: "call", nargs: -1, imm: true, result: true, effect: true},
	OpSExt:        {name: "sext", nargs: 1, imm: true, result: true, macro: true},
	OpZExt:        {name: "zext", nargs: 1, imm: true, result: true, macro: true},
	OpFloorDiv:    {name: "floordiv", nargs: 2, result: true, macro: true},
	OpFloorMod:    {name: "floormod", nargs: 2, result: true, macro: true},
	OpCmp:         {name: "cmp", nargs: 2, imm: true, result: true, macro: true},
	OpLog2:        {name: "log2", nargs: 1, result: true, macro: true},
	OpScratch:     {name: "scratch", imm: true, result: true, macro: true},
	OpScratchSlot: {name: "scratchslot", result: true, macro: true},
	OpCountSite:   {name: "countsite", imm: true, effect: true, macro: true},
	OpZero:        {name: "zero", nargs: 1, imm: true, effect: true, macro: true},
	OpCopy:        {name: "copy", nargs: 2, imm: true, effect: true, macro: true},
}

// String gives the name in the text form.
func (o Op) String() string { return opTable[o].name }

// IsMacro reports whether lower must rewrite o.
func (o Op) IsMacro() bool { return opTable[o].macro }

// HasEffect reports whether a value of o must stay though unused.
func (o Op) HasEffect() bool { return opTable[o].effect }

// HasResult reports whether o gives a value.
func (o Op) HasResult() bool { return opTable[o].result }

// ReadsMemory reports whether o must keep its order with effects.
func (o Op) ReadsMemory() bool { return opTable[o].reads }
