package ssagen

import (
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
)

// The types that write parts of a program: exprs, stmts, loops, rounds, subs.

// generator is a function as those rooms see it that walk the tree: exprs, stmts, loops, rounds, subs.
type generator struct {
	*code
	*family
	// inlines are the bodies of called functions that stand where they are called, by their numbers, while they are
	// written.
	inlines map[int64]*inline
	// loops are those that the current place is in, the outermost first.
	loops []*loop
	// split is the word of the stack over which forget takes values. It is nil until the first of them.
	split *ir.Slot
	// called are the subprograms that this function calls so far.
	called []*subprogram
	// sub is this function, where it is a subprogram. It is nil elsewhere.
	sub *subprogram
	// round is this function, where it is the body of a loop that the kernel runs. It is nil elsewhere.
	round *round
	// given has, in a subprogram and in the body of a loop, the constants in which its callers differ. They are then
	// values that the caller gives.
	given map[*tree.Expr]*ir.Value
	// words is the part of the stack by which values go to subprograms and come back. It is nil until the first call
	// that needs it, and grows with others.
	words *ir.Slot
	// lent is the scratch memory that subprograms use of this function's.
	lent map[*subprogram]*region
	// extra is what the loops of this function so far cost the verifier beyond their first rounds.
	extra bodyCost
	// beside is the cost of the loops so far that stand one behind the other at the top of the function, whose lengths
	// are computed, and that the verifier follows. A further one becomes a call of bpf_loop when the sum is too much
	// (loops.bound).
	beside bodyCost
}

// A family is what the functions of a program have in common.
type family struct {
	// walk makes the evaluator of a function.
	walk func(*generator) evaluator
	// callees are the functions of the script that may become subprograms.
	callees *callees
	// outlining says which functions become subprograms.
	outlining Outlining
	// names are the names that functions of the program have so far.
	names map[string]bool
	// calledLoops are the loops whose bodies are functions. It grows from one attempt to write the program to the next.
	calledLoops map[*tree.Stmt]bool
	// again is set once this attempt has added to calledLoops. The program is then written anew, from the beginning
	// (Shared.Program).
	again bool
	// steps are the functions that take the steps of paths. It is nil until the first of them.
	steps map[stepKey]*subprogram
	// ordering are the functions that compare one byte of two strings, by how many bytes these have at most. It is nil
	// until the first of them.
	ordering map[int]*subprogram
	// reports say which loops became calls, and why others did not.
	reports []Call
	// loopNumbers are how many loops the program has. It is nil until they are counted.
	loopNumbers *loopNumbers
}

// newGenerator begins a function of p.
func newGenerator(s *Shared, p *tree.Program, of *family) *generator {
	body := ir.NewBuilder(ir.NewFunc(p.Name))
	b := &generator{
		code: &code{
			Shared: s, Builder: body, memory: memory{shared: s, body: body}, prog: p,
			uses: usesOf(s, p), locals: countLocals(p), lazy: map[int64]*tree.Expr{},
			steady: map[*tree.Expr]bool{},
			same:   sameReads{map[*tree.Expr]readNumber{}, map[string]readNumber{}},
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
	// next is where the next round begins, and exit what is behind the loop.
	next, exit *join
	// bound is how many rounds it has at most, as far as that is known while its body is built.
	bound int64
	// inner is what the loops in it cost the verifier beyond their first rounds.
	inner bodyCost
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
	calls []*subprogram
	// out are the types of its results.
	out []types.Type
	// results is how many words its results have together.
	results int
	// stops is set where it can end the handler.
	stops bool
	// never is set where it ends the handler in any case, and does not come back to its caller.
	never bool
	// ctx is set where it is given the context.
	ctx bool
	// scratch is how many bytes of the caller's scratch memory it is given. At 0 it is given no address of it.
	scratch int
	// words is the address on the caller's stack that it is given. It is nil where it needs none.
	words *ir.Value
	// given says of each word that it can be given whether it uses it. The others are not passed.
	given []bool
	// inRegs is how many of the words that it uses are in registers.
	inRegs int
	// cost is what it costs the verifier at each call.
	cost bodyCost
	// state is the memory of the state, where it is the body of a loop. It belongs to the function that has the loop.
	state *region
}

// A round is a function that is the body of a loop.
type round struct {
	// outer is the function that has the loop.
	outer *generator
	// state is the address of the loop's state.
	state *ir.Value
	// size is how many words the state has so far.
	size int
	// vars are the variables that go from round to round in the state.
	vars []carried
	// returns are the inlines of outer that a return in the body leaves, by their numbers.
	returns []int64
	// given are the types of what these inlines give.
	given []types.Type
	// values is the word of the state at which that begins. Only one of them is left at a time.
	values int
	// stops is set where a round can end the handler.
	stops bool
	// broken is set where a round can leave the loop by break.
	broken bool
}

// A carried is a variable that the loop changes, and its place in the state: its
// words, or the bytes of a string and behind them its length and flags.
type carried struct {
	// local is the variable, by its number.
	local int64
	// t is its type before the loop.
	t types.Type
	// word is the first of its words in the state.
	word int
}

// A bodyCost is what one iteration costs the verifier.
type bodyCost struct {
	// ways is how many branches it has, of each of which the verifier keeps the other way for later.
	ways int64
	// insns is how many instructions it has, about.
	insns int64
	// asks: the body decides by a value that no iteration changes. On one way the verifier then knows more of it than
	// on the other, in all iterations that follow: it follows the rest of the loop anew from each.
	asks bool
}
