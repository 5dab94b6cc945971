package plan

import "go.starlark.net/syntax"

// A UserHalf is a function that runs in user space with the parts of the
// event that it uses already read in the kernel. The compiler decides which
// expressions those are (projection); the host (starlark/script) makes a copy
// of the function's tree in which each such expression is replaced, and
// compiles that. The captures and globals of the copy are those of Fn.
type UserHalf struct {
	Fn *Func
	// Slots says which expressions are read from the event: expression →
	// number of the field in the event's record.
	Slots map[syntax.Expr]int
	// Drop holds expressions that stand for e or a part of it and whose value
	// is not needed: the right side of `sk = e.args.sk`, an argument that
	// passes e on. They become None.
	Drop map[syntax.Expr]bool
	// Calls says which calls go to a copy made for their arguments, where a
	// part of the event is passed on. The callee is then replaced.
	Calls map[*syntax.CallExpr]*UserHalf
	// Nested are functions inside Fn that use the event and may outlive the
	// callback: they must keep the event that was current when they were made.
	Nested map[syntax.Node]bool
}
