package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// generator is a function as those rooms see it that walk the tree: exprs, stmts, loops, rounds, subs.
type generator struct {
	*code
	*family
	// inlines are the bodies of called functions that stand where they are called, while they are written.
	inlines map[int64]*inline
	// loops are those that the current place is in, the outermost first.
	loops []*loop
	// split is the word of the stack over which forget takes values.
	split *ir.Slot
	// called are the subprograms that this function calls.
	called []*subprogram
	// sub is set where this function is a subprogram, round where it is the body of a loop.
	sub   *subprogram
	round *round
	// given are the constants that a subprogram is given by its callers, which differ in them.
	given map[*tree.Expr]*ir.Value
	// words is the part of the stack by which values go to subprograms and come back.
	words *ir.Slot
	// lent is the scratch memory that subprograms use.
	lent map[*subprogram]*region
	// extra is what the loops so far cost the verifier beyond their first rounds.
	extra bodyCost
	// beside is what computed loops behind each other cost that the verifier follows.
	beside bodyCost
}

// A family is what the functions of a program have in common.
type family struct {
	// walk makes the evaluator of a function.
	walk func(*generator) evaluator
	// callees are the functions of the script that may become subprograms.
	callees *callees
	// names are those that functions have.
	names map[string]bool
	// calledLoops are those whose bodies are functions; again: there are more than those, so all is written anew.
	calledLoops map[*tree.Stmt]bool
	again       bool
	// reports say which loops became calls, and why others did not.
	reports []Call
	// loopNumbers are those of the program; nil: not counted yet.
	loopNumbers *loopNumbers
}

// newGenerator begins a function of p.
func newGenerator(s *Shared, p *tree.Program, of *family) *generator {
	body := ir.NewBuilder(ir.NewFunc(p.Name))
	b := &generator{
		code: &code{
			Shared: s, Builder: body, memory: memory{shared: s, body: body}, prog: p,
			uses: usesOf(s, p), locals: countLocals(p), lazy: map[int64]*tree.Expr{},
		},
		family:  of,
		inlines: map[int64]*inline{}, lent: map[*subprogram]*region{}, given: map[*tree.Expr]*ir.Value{},
	}
	b.tree = of.walk(b)
	return b
}

// exprs writes expressions and conditions.
type exprs struct{ *generator }

// variants chooses the body for a system call.
type variants struct{ *generator }

// stmts writes statements.
type stmts struct{ *generator }

// loops writes loops that the verifier follows to their end.
type loops struct{ *generator }

// rounds writes loops that the kernel runs (bpf_loop).
type rounds struct{ *generator }

// subs writes calls of subprograms, and these.
type subs struct{ *generator }

// An inline is an OpInline under construction.
type inline struct{ done *join }

// A loop is a SFor under construction.
type loop struct {
	next, exit *join
	bound      int64    // what is known of it while its body is built
	inner      bodyCost // of loops in it, beyond their first iterations
}

// loopNumbers are how many loops a program has.
type loopNumbers struct {
	all  int
	side int // over ranges that are computed, none of which is in another loop
}

// A subprogram is code that a program calls (BPF_PSEUDO_CALL). The verifier
// follows it at each call with what it knows there, so it may be given addresses
// of any kind. Its own memory is gone when it returns: it gives words only.
//
// R1–R5 are the context, the address of its part of the scratch memory, that of
// words on the caller's stack, and the first of the words that it is given, each
// if it is needed. R0 is its result. If it has several, or one and can end the
// handler, they are the first words on the caller's stack; the others are
// arguments. If it can end the handler, R0 tells whether it has.
type subprogram struct {
	// f is its code.
	f *ir.Func
	// calls are the subprograms that it calls.
	calls   []*subprogram
	out     []types.Type // of its results
	results int          // words of these
	stops   bool         // it can end the handler
	never   bool         // it always does
	ctx     bool         // it is given the context
	scratch int          // bytes
	words   *ir.Value    // the address on the caller's stack
	given   []bool       // of all words that it can be given: it uses them
	inRegs  int          // how many of those that it uses are in registers
	// cost is what it costs the verifier at each call.
	cost  bodyCost
	state *region // of a loop
}

// A round is a function that is the body of a loop.
type round struct {
	// outer is the function that has the loop.
	outer *generator
	state *ir.Value // its address
	size  int       // words of the state so far
	// vars are the variables that go from round to round in the state.
	vars    []carried
	returns []int64 // inlines that are left by a return in the body
	// given are the types of what these inlines return.
	given  []types.Type
	values int // where what they return is, in the state
	// stops: a round can end the handler.
	stops bool
	// broken: a round can leave the loop by break.
	broken bool
}

// A carried is a variable that the loop changes, and its place in the state: its
// words, or the bytes of a string and behind them its length and flags.
type carried struct {
	local int64
	t     types.Type
	word  int
}

// A bodyCost is what one iteration costs the verifier.
type bodyCost struct {
	ways, insns int64
	// asks: the body decides by a value that no iteration changes. On one way the verifier then knows more of it than
	// on the other, in all iterations that follow: it follows the rest of the loop anew from each.
	asks bool
}
