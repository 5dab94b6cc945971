package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// The types of calls of subprograms: their sites, and what passes.

// A Call is what became of the calls of a function of the script.
type Call struct {
	// Name is the function's in the script; "loop" for the body of one.
	Name string
	// Pos is the place of the first call.
	Pos plan.Pos
	// Times is how many calls there are that differ in their variables only.
	Times int
	// Sub is the name of the subprogram. It is "" where the code stands at each call.
	Sub string
	// Why says why the code stands at each call.
	Why string
	// Rounds is how often the kernel calls the body of a loop at most. It is 0 for a function.
	Rounds int64
}

// A callee is what calls of one function have in common that differ in their
// variables only.
type callee struct {
	// name is the function's in the script.
	name string
	// pos is the place of the first call.
	pos plan.Pos
	// sites are its calls, all with equal bodies but for their variables.
	sites []*callSite
	// boundary is what passes between the bodies and what is around them. It is nil where why was found before.
	*boundary
	// body is the call of whose body the subprogram is made.
	body *callSite
	// why says why it is no subprogram. It is "" where it is one.
	why string
	// sub is the subprogram. It is nil until it is first called.
	sub *subprogram
}

// A callSite is one call.
type callSite struct {
	// of is what the calls of this body have in common.
	of *callee
	// body is what stands at the call.
	body *tree.Block
	// pos is the place of the call.
	pos plan.Pos
	// inline is the number of the OpInline that the call is. It is -1 where it is a statement.
	inline int64
	// value is the type of what the call gives; the zero type where it gives nothing.
	value types.Type
	// size is how many instructions the body has, about, with those of the calls in it.
	size int
	// inLoop is set where a loop is around the call.
	inLoop bool
	// depth is how deep the call is among calls: 1 for one of the handler.
	depth int
	// locals are the variables of the body, in the order in which its key (tree.Block.Key) names them. Bodies with the
	// same key differ in these.
	locals []int64
	// consts are the constants in it, in the order in which the key leaves them out.
	consts []*tree.Expr
	// within are the calls in its body.
	within []*callSite
	// gone is set where the body around it was dropped, because that function is a subprogram with another body.
	gone bool
}

// callees finds the calls of a program, by their bodies.
type callees struct {
	prog   *tree.Program
	locals locals
	sites  map[*tree.Block]*callSite
	list   []*callee
	byKey  map[string]*callee
}

// A boundary is what passes between a body and what is around it.
type boundary struct {
	// in are the variables that the body only reads, and out those that it sets and its callers read. Both are indexes
	// into callSite.locals.
	in, out []int
	// consts are the constants that are others in other bodies, as indexes into callSite.consts.
	consts []int
	// reads are what the body reads of the event. The caller reads it and gives it.
	reads []readIn
	// epochs are the containers whose epoch is read.
	epochs []int64
	// refused says why the body cannot be a subprogram. It is "" where it can.
	refused string
	// loops is set where it has loops.
	loops bool
}

// A readIn is a read of the event that is the same everywhere in the handler.
type readIn struct {
	key any // in state.cache
	e   *tree.Expr
}
