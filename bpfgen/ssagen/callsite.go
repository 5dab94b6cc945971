package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
)

// A Call is what became of the calls of a function of the script.
type Call struct {
	// Name is the function's in the script; "loop" for the body of one.
	Name  string
	Pos   plan.Pos // of the first call
	Times int      // it is called with the same constants
	Sub   string   // the name of the subprogram, "" if its code stands at each call
	Why   string   // it does
	// Rounds is how often the kernel calls the body of a loop at most.
	Rounds int64
}

// A callee is what calls of one function have in common that differ in their
// variables only.
type callee struct {
	// name is the function's in the script.
	name string
	pos  plan.Pos // of the first call
	// sites are its calls, all with equal bodies but for their variables.
	sites []*callSite
	*boundary
	body *callSite // of which the subprogram is made
	why  string    // why it is no subprogram
	// sub is the subprogram; nil as long as none was made.
	sub *subprogram
}

// A callSite is one call.
type callSite struct {
	// of is what the calls of this body have in common.
	of *callee
	// body is what stands at the call.
	body *tree.Block
	// pos is the place of the call.
	pos    plan.Pos
	inline int64 // of an OpInline, else -1
	// value is the type of what the call gives; the zero type where it gives nothing.
	value  types.Type
	size   int     // instructions, about
	inLoop bool    // a loop around the call
	depth  int     // of calls: 1 for one of the handler
	locals []int64 // by their numbers in the key
	// consts are the constants in it, in the order in which the key leaves them out.
	consts []*tree.Expr
	within []*callSite // calls in its body
	gone   bool        // an equal body around it was dropped
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
	in, out []int    // locals, by their numbers in the key
	consts  []int    // constants that are others in other bodies
	reads   []readIn // of the event, which the caller makes
	epochs  []int64  // containers whose epoch is read
	refused string   // why it cannot be a subprogram
	loops   bool     // it has loops
}

// A readIn is a read of the event that is the same everywhere in the handler.
type readIn struct {
	key any // in state.cache
	e   *tree.Expr
}
