package ssagen

import (
	"cmp"
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Which functions of the script become subprograms, and from how many instructions on (`minCalled`).
//
// Functions of the script that a handler calls stand where they are called: infer
// walks each call with the types and constants that it brings. Calls that come to
// the same but for their variables can share a subprogram. It costs some
// instructions to call, and what the handler has read already is read again, so
// only code that becomes shorter by more than that is worth it.

// Outlining says which functions become subprograms.
type Outlining int

// The ways to choose them.
const (
	BySize     Outlining = iota // what makes the program shorter
	NeverCall                   // none
	AlwaysCall                  // all that can be: for tests
)

// A subprogram has at least minCalled instructions, about, and makes its program
// shorter by at least worthCalling. A call takes some 7 ns, as long as 30
// instructions; a run of a function of 180 takes the same either way, because
// what is shorter is fetched faster (BenchmarkCalls in test/code, Linux 6.18).
const (
	minCalled    = 100
	worthCalling = 120
)

// maxCallDepth leaves room in the kernel's eight frames (MAX_CALL_FRAMES of
// include/linux/bpf_verifier.h) for the program and the callback of a loop.
const maxCallDepth = 5

// maxLiveIns bounds what a subprogram is given: the words are on the stack.
const maxLiveIns = 16

// findCallees finds the calls of p and decides which are made.
func findCallees(p *tree.Program, o Outlining, all locals) *callees {
	c := &callees{prog: p, locals: all, sites: map[*tree.Block]*callSite{}, byKey: map[string]*callee{}}
	if o == NeverCall {
		return c
	}
	f := &callFinder{c: c}
	f.block(p.Body)
	for _, v := range p.Variants {
		f.block(v.Body)
	}
	// Larger bodies first: what is in those that are dropped is called no more.
	slices.SortStableFunc(c.list, func(a, b *callee) int { return cmp.Compare(b.sites[0].size, a.sites[0].size) })
	for _, f := range c.list {
		built := slices.DeleteFunc(slices.Clone(f.sites), func(s *callSite) bool { return s.gone })
		if f.why = unworthy(built, o); f.why == "" {
			f.body = built[0]
			f.why = c.refusal(f)
		}
		if f.why == "" {
			f.take(built)
		}
	}
	return c
}

// unworthy says why calls are not worth a subprogram.
func unworthy(built []*callSite, o Outlining) string {
	times := len(built)
	switch {
	case times == 0:
		return "it is only called by functions that are subprograms"
	case o == BySize && times == 1:
		return "it is called once"
	case o == BySize && built[0].size < minCalled, o == BySize && built[0].size*(times-1) < worthCalling:
		return "it is short"
	}
	return ""
}

// take drops all bodies but the one of the subprogram, with the calls in them.
func (f *callee) take(built []*callSite) {
	for _, s := range built[1:] {
		s.drop()
	}
}

// drop notes that the body of s is not built, nor what is called in it.
func (s *callSite) drop() {
	for _, in := range s.within {
		in.gone = true
		in.drop()
	}
}

// A callFinder walks a tree.
type callFinder struct {
	c      *callees
	around *callSite
	loops  int
	depth  int
}

func (f *callFinder) block(blk *tree.Block) {
	if blk == nil {
		return
	}
	for _, s := range blk.Stmts {
		f.stmt(s)
	}
}

func (f *callFinder) stmt(s *tree.Stmt) {
	f.count(stmtSizes[s.Op])
	for _, e := range s.Exprs {
		f.expr(e)
	}
	switch s.Op {
	case tree.SCall:
		f.call(&callSite{body: s.Then, inline: -1, pos: s.Pos}, s.Str)
	case tree.SFor:
		f.loops++
		f.block(s.Then)
		f.loops--
	default:
		f.block(s.Then)
		f.block(s.Else)
	}
}

func (f *callFinder) expr(e *tree.Expr) {
	f.count(exprSizes[e.Op])
	for _, a := range e.Args {
		f.expr(a)
	}
	if e.Op == tree.OpInline && e.Str != "" {
		f.call(&callSite{body: e.Body, inline: e.Int, value: valueType(e.Type), pos: e.Pos}, e.Str)
		return
	}
	f.block(e.Body)
}

func (f *callFinder) count(more int) {
	if f.around != nil {
		f.around.size += 1 + more
	}
}

// What is more than an instruction, by how much, about.
var (
	stmtSizes = map[tree.StmtOp]int{
		tree.SFor: 10, tree.STableSet: 30, tree.STableUpdate: 30, tree.STableRemove: 5, tree.SAggAdd: 30,
	}
	exprSizes = map[tree.Op]int{
		tree.OpLoad: 5, tree.OpStr: 15, tree.OpMem: 15, tree.OpStrList: 150, tree.OpJoin: 150, tree.OpListLen: 50,
		tree.OpPath: 300, tree.OpChars: 30, tree.OpNameText: 60,
		tree.OpTableGet: 20, tree.OpTableIndex: 20, tree.OpTablePop: 25, tree.OpTableHas: 8,
		tree.OpContains: 30, tree.OpMatches: 40,
	}
)

// call notes a call and walks its body.
func (f *callFinder) call(s *callSite, name string) {
	f.depth++
	s.inLoop, s.depth = f.loops > 0, f.depth
	around := f.around
	f.around = s
	f.block(s.body)
	f.around = around
	f.depth--
	if around != nil {
		around.size += s.size
		around.within = append(around.within, s)
	}
	text, vars, consts := s.body.Key()
	text += s.value.String()
	for _, l := range vars {
		text += " " + f.c.prog.Locals[l].Type.String()
	}
	key := name + " " + firstPos(s.body).String() + "\n" + text
	s.locals, s.consts = vars, consts
	of := f.c.byKey[key]
	if of == nil {
		of = &callee{name: name, pos: s.pos}
		f.c.byKey[key] = of
		f.c.list = append(f.c.list, of)
	}
	s.of = of
	of.sites = append(of.sites, s)
	f.c.sites[s.body] = s
}

// firstPos is a place in the function whose body blk is.
func firstPos(blk *tree.Block) (pos plan.Pos) {
	tree.WalkBlock(blk, func(s *tree.Stmt) {
		if !pos.IsValid() {
			pos = s.Pos
		}
	}, func(*tree.Expr) {})
	return pos
}

// of gives the callee whose body blk is, if it is a subprogram.
func (c *callees) of(blk *tree.Block) (*callSite, bool) {
	s := c.sites[blk]
	return s, s != nil && s.of.why == ""
}

// report has what is worth telling: what is a subprogram, and what would be one
// by its size.
func (c *callees) report() (out []Call) {
	for _, f := range c.list {
		call := Call{Name: f.name, Pos: f.pos, Times: len(f.sites), Why: f.why}
		switch {
		case f.sub != nil:
			call.Sub = f.sub.f.Name
		case f.why == "" || f.sites[0].size < minCalled || f.sites[0].size*(len(f.sites)-1) < worthCalling:
			continue
		}
		out = append(out, call)
	}
	return out
}

// CanCall reports whether a program has anything that a subprogram could do.
func (s *Shared) CanCall(p *tree.Program) bool {
	loops := map[*tree.Stmt]bool{}
	if s.HasLoop {
		loopsByKernel(p, loops, true)
	}
	return len(loops) > 0 || len(findCallees(p, AlwaysCall, countLocals(p)).list) > 0
}
