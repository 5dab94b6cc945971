package irtest

import (
	"math/rand/v2"

	"github.com/startrace/startrace/bpfgen/ir"
)

// Random functions of SSA that the verifier accepts, for tests.

// The shape of random functions: they read Inputs bytes of the context and
// write Outputs bytes behind them.
const (
	Inputs  = 64
	Outputs = 64
	// MapName is the array map that they use; its value has MapSize bytes.
	MapName = "m"
	MapSize = 32
)

// NewMachine gives a machine in which a random function can run.
func NewMachine(input []byte) *Machine {
	ctx := make([]byte, Inputs+Outputs)
	copy(ctx, input)
	return &Machine{Ctx: ctx, Maps: map[string][]byte{MapName: make([]byte, MapSize)}}
}

// Options choose what a random function has.
type Options struct {
	Values  int  // roughly how many
	Depth   int  // of nested ifs and loops
	Live    int  // operands are taken from so many recent values
	Atomics bool // xchg and cmpxchg, which Linux knows since 5.12
	Macros  bool // ops that lower rewrites
}

// Random makes a function of machine ops that the kernel's verifier accepts:
// no address is compared or computed with, loops are bounded, all stack is
// written before it is read. The same seed gives the same function.
func Random(seed uint64, o Options) *ir.Func {
	g := &generator{Options: o, rng: rand.New(rand.NewPCG(seed, 1)), f: ir.NewFunc("random")}
	g.b = g.f.Blocks[0]
	g.ctx = g.b.Add(ir.OpCtx, ir.Pos{})
	for i := range 3 {
		s := g.f.NewSlot(16 + 8*i)
		g.slots = append(g.slots, s)
		for off := 0; off < s.Size; off += 8 {
			g.b.AddImm(ir.OpStore64, ir.Pos{}, int64(off), g.slot(s, 0), g.b.Const(ir.Pos{}, 0))
		}
	}
	for i := range 4 {
		g.keep(g.b.AddImm(ir.OpLoad64, ir.Pos{}, int64(8*i), g.ctx))
	}
	g.statements(o.Values, o.Depth)
	for i := range Outputs / 8 {
		g.b.AddImm(ir.OpStore64, ir.Pos{}, int64(Inputs+8*i), g.ctx, g.any())
	}
	g.b.Ret(ir.Pos{}, g.any())
	return g.f
}

// generator makes one function.
type generator struct {
	Options
	// rng decides everything. It is seeded, so that the same seed gives the same function.
	rng *rand.Rand
	// f is the function under construction.
	f *ir.Func
	// b is the block to which is appended.
	b *ir.Block
	// ctx is the address of the context.
	ctx *ir.Value
	// slots are three pieces of stack, which are written before anything reads them.
	slots []*ir.Slot
	// vals are the integers that may be used at the end of b, the last made last.
	vals []*ir.Value
	// loops is how many loops have been made, at most three.
	loops int
}

func (g *generator) keep(v *ir.Value) { g.vals = append(g.vals, v) }

// any gives one of the values made last, sometimes a constant.
func (g *generator) any() *ir.Value {
	if g.rng.IntN(8) == 0 {
		return g.b.Const(ir.Pos{}, g.constant())
	}
	n := min(len(g.vals), g.Live)
	return g.vals[len(g.vals)-1-g.rng.IntN(n)]
}

func (g *generator) constant() int64 {
	c := [...]int64{0, 1, -1, 2, 7, 64, 255, 1 << 20, 1<<31 - 1, -1 << 31, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1,
		-1 << 63, 0x0123456789abcdef}
	return c[g.rng.IntN(len(c))]
}

func (g *generator) slot(s *ir.Slot, off int64) *ir.Value {
	v := g.b.AddImm(ir.OpSlot, ir.Pos{}, off)
	v.Slot = s
	return v
}

// statements makes about n values.
func (g *generator) statements(n, depth int) {
	for n > 0 {
		k := 1
		switch r := g.rng.IntN(20); {
		case r == 0 && depth > 0:
			k = 1 + g.rng.IntN(n)
			g.loop(k, depth-1)
		case r <= 2 && depth > 0:
			k = 1 + g.rng.IntN(n)
			g.branch(k, depth-1)
		case r <= 4:
			g.call()
		case r <= 7:
			g.memory()
		case r == 8 && g.Macros:
			g.macro()
		default:
			g.arithmetic()
		}
		n -= k
	}
}

var (
	twoOps = [...]ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpUDiv, ir.OpUMod, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl,
		ir.OpLShr, ir.OpAShr}
	oneOps  = [...]ir.Op{ir.OpNeg, ir.OpBswap16, ir.OpBswap32, ir.OpBswap64}
	loads   = [...]ir.Op{ir.OpLoad8, ir.OpLoad16, ir.OpLoad32, ir.OpLoad64}
	stores  = [...]ir.Op{ir.OpStore8, ir.OpStore16, ir.OpStore32, ir.OpStore64}
	helpers = [...]int64{HelperKtime, HelperProcessorID}
)

func (g *generator) arithmetic() {
	switch r := g.rng.IntN(10); {
	case r == 0:
		g.keep(g.b.Add(oneOps[g.rng.IntN(len(oneOps))], ir.Pos{}, g.any()))
	case r < 4:
		op, imm := twoOps[g.rng.IntN(len(twoOps))], int64(int32(g.constant()))
		if imm == 0 {
			imm = 3
		}
		g.keep(g.b.AddImm(op, ir.Pos{}, imm, g.any()))
	default:
		g.keep(g.b.Add(twoOps[g.rng.IntN(len(twoOps))], ir.Pos{}, g.any(), g.any()))
	}
}

// memory makes an access to the stack, the map or the context.
func (g *generator) memory() {
	i := g.rng.IntN(4)
	n := int64(1) << i
	var addr *ir.Value
	var off int64
	switch r := g.rng.IntN(5); {
	case r < 2:
		s := g.slots[g.rng.IntN(len(g.slots))]
		off = g.rng.Int64N(int64(s.Size)/n) * n
		addr = g.slot(s, 0)
	case r < 4:
		off = g.rng.Int64N(MapSize/n) * n
		addr = g.b.AddImm(ir.OpMapValue, ir.Pos{}, 0)
		addr.Sym = MapName
	default:
		// The context: plain loads only, of its first part.
		g.keep(g.b.AddImm(loads[i], ir.Pos{}, g.rng.Int64N(Inputs/n)*n, g.ctx))
		return
	}
	switch r := g.rng.IntN(7); {
	case r < 3:
		g.b.AddImm(stores[i], ir.Pos{}, off, addr, g.any())
	case r < 5:
		g.keep(g.b.AddImm(loads[i], ir.Pos{}, off, addr))
	default:
		g.atomic(addr, off&^7)
	}
}

func (g *generator) atomic(addr *ir.Value, off int64) {
	switch r := g.rng.IntN(3); {
	case r == 0 && g.Atomics:
		g.keep(g.b.AddImm(ir.OpXchg64, ir.Pos{}, off, addr, g.any()))
	case r == 1 && g.Atomics:
		g.keep(g.b.AddImm(ir.OpCmpXchg64, ir.Pos{}, off, addr, g.any(), g.any()))
	default:
		g.b.AddImm(ir.OpAtomicAdd64, ir.Pos{}, off, addr, g.any())
	}
}

// call makes a call whose result is the same wherever it runs, or not used.
func (g *generator) call() {
	m := func() *ir.Value {
		v := g.b.Add(ir.OpMapPtr, ir.Pos{})
		v.Sym = MapName
		return v
	}
	switch g.rng.IntN(5) {
	case 0, 1:
		g.b.AddImm(ir.OpCall, ir.Pos{}, helpers[g.rng.IntN(len(helpers))])
	case 2:
		dst, src := g.slots[g.rng.IntN(2)], g.slots[2]
		size := g.b.Const(ir.Pos{}, int64(1+g.rng.IntN(16)))
		g.keep(g.b.AddImm(ir.OpCall, ir.Pos{}, HelperProbeReadKernel, g.slot(dst, 0), size, g.slot(src, 8)))
	case 3:
		flags := g.b.Const(ir.Pos{}, int64(g.rng.IntN(2)))
		status := g.b.AddImm(ir.OpCall, ir.Pos{}, HelperMapUpdate, m(), g.slot(g.slots[0], 0), g.slot(g.slots[2], 0),
			flags)
		// An int in older kernels (6.1): the upper bits of the register are not its sign.
		by := g.b.Const(ir.Pos{}, 32)
		g.keep(g.b.Add(ir.OpAShr, ir.Pos{}, g.b.Add(ir.OpShl, ir.Pos{}, status, by), by))
	case 4:
		g.lookup(m())
	}
}

// lookup makes a look-up, and a load where it found something.
func (g *generator) lookup(m *ir.Value) {
	p := g.b.AddImm(ir.OpCall, ir.Pos{}, HelperMapLookup, m, g.slot(g.slots[0], 0))
	found, join := g.f.NewBlock(), g.f.NewBlock()
	x := join.Param(ir.Pos{})
	g.b.BranchImm(ir.Pos{}, ir.NE, p, 0, ir.Edge{Block: found}, ir.Edge{Block: join, Args: []*ir.Value{g.any()}})
	g.b = found
	v := g.b.AddImm(ir.OpLoad64, ir.Pos{}, 8, p)
	g.b.AddImm(ir.OpAtomicAdd64, ir.Pos{}, 16, p, v)
	g.b.Jump(ir.Pos{}, join, v)
	g.b = join
	g.keep(x)
}

// condition ends g.b with a random branch.
func (g *generator) condition(then, els ir.Edge) {
	c := ir.Cond(g.rng.IntN(int(ir.SET) + 1))
	if g.rng.IntN(2) == 0 {
		g.b.BranchImm(ir.Pos{}, c, g.any(), int64(int32(g.constant())), then, els)
	} else {
		g.b.Branch(ir.Pos{}, c, g.any(), g.any(), then, els)
	}
	g.b.Term.Likely = uint8(g.rng.IntN(3))
}

// branch makes an if whose ways bring up to 3 values to where they meet.
func (g *generator) branch(n, depth int) {
	then, els, join := g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock()
	params := 1 + g.rng.IntN(3)
	var joined []*ir.Value
	for range params {
		joined = append(joined, join.Param(ir.Pos{}))
	}
	outer := len(g.vals)
	elseTo := ir.Edge{Block: els}
	if g.rng.IntN(3) == 0 {
		elseTo = ir.Edge{Block: join, Args: g.several(params)}
	}
	g.condition(ir.Edge{Block: then}, elseTo)
	for _, b := range []*ir.Block{then, els} {
		if b == els && elseTo.Block == join {
			continue
		}
		g.b, g.vals = b, g.vals[:outer:outer]
		g.statements(n/2, depth)
		args := g.several(params)
		g.b.Jump(ir.Pos{}, join, args...)
	}
	if elseTo.Block == join {
		g.dropBlock(els)
	}
	g.b, g.vals = join, append(g.vals[:outer:outer], joined...)
}

func (g *generator) several(n int) []*ir.Value {
	var vs []*ir.Value
	for range n {
		vs = append(vs, g.any())
	}
	return vs
}

func (g *generator) dropBlock(b *ir.Block) {
	for i, x := range g.f.Blocks {
		if x == b {
			g.f.Blocks = append(g.f.Blocks[:i], g.f.Blocks[i+1:]...)
			return
		}
	}
}

// loop makes a loop of up to 3 turns that carries values round, sometimes
// exchanged.
func (g *generator) loop(n, depth int) {
	if g.loops >= 3 {
		g.arithmetic()
		return
	}
	g.loops++
	head, exit := g.f.NewBlock(), g.f.NewBlock()
	params := 1 + g.rng.IntN(4)
	count := head.Param(ir.Pos{})
	var carried []*ir.Value
	for range params {
		carried = append(carried, head.Param(ir.Pos{}))
	}
	outer := len(g.vals)
	first := append([]*ir.Value{g.b.Const(ir.Pos{}, 0)}, g.several(params)...)
	g.b.Jump(ir.Pos{}, head, first...)
	g.b, g.vals = head, append(g.vals[:outer:outer], carried...)
	g.statements(n, depth)
	next := g.b.AddImm(ir.OpAdd, ir.Pos{}, 1, count)
	again := append([]*ir.Value{next}, g.several(params)...)
	if g.rng.IntN(2) == 0 {
		again[1], again[len(again)-1] = carried[len(carried)-1], carried[0]
	}
	g.b.BranchImm(ir.Pos{}, ir.ULT, next, int64(2+g.rng.IntN(2)), ir.Edge{Block: head, Args: again},
		ir.Edge{Block: exit})
	g.b, g.vals = exit, append(g.vals[:outer:outer], carried...)
}

func (g *generator) macro() {
	switch g.rng.IntN(5) {
	case 0:
		g.keep(g.b.AddImm(ir.OpSExt, ir.Pos{}, int64(1+g.rng.IntN(63)), g.any()))
	case 1:
		g.keep(g.b.AddImm(ir.OpZExt, ir.Pos{}, int64(1+g.rng.IntN(63)), g.any()))
	case 2:
		g.keep(g.b.AddImm(ir.OpCmp, ir.Pos{}, int64(g.rng.IntN(int(ir.SET)+1)), g.any(), g.any()))
	case 3:
		g.keep(g.b.Add(ir.OpLog2, ir.Pos{}, g.any()))
	case 4:
		op := [...]ir.Op{ir.OpFloorDiv, ir.OpFloorMod}[g.rng.IntN(2)]
		divisor := g.b.AddImm(ir.OpOr, ir.Pos{}, 1, g.any())
		g.keep(g.b.Add(op, ir.Pos{}, g.any(), divisor))
	}
}
