package plan

import "go.starlark.net/syntax"

// UserHalf, what a user half reads of the event, with copies of functions.

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
	// First says what is to be computed before such an expression is read: the
	// call in f(e).comm, if it does more than to give a part of the event.
	First map[syntax.Expr]syntax.Expr
	// Drop holds expressions that stand for e or a part of it and whose value
	// is not needed: the right side of `sk = e.args.sk`, an argument that
	// passes e on. They become None.
	Drop map[syntax.Expr]bool
	// Instead says what stands in the place of others: a.x if c else b.x for (a if c else b).x.
	Instead map[syntax.Expr]syntax.Expr
	// Moved are statements that the kernel half runs, before it sends the event.
	Moved map[syntax.Stmt]bool
	// Calls says which calls go to a copy made for their arguments, where a
	// part of the event is passed on. The callee is then replaced.
	Calls map[*syntax.CallExpr]*UserHalf
	// Nested are functions inside Fn that use the event and may outlive the
	// callback: they must keep the event that was current when they were made.
	// The parts of a half share it.
	Nested map[syntax.Node]bool
	// Rounds are the loops that are written out, for their variables are other
	// parts of the event in each round: a for statement or a for clause → what
	// holds of all that is inside of it, in each of its rounds.
	Rounds map[syntax.Node][]*UserHalf
	// Copies are those of functions inside Fn, a def or a lambda that a name is
	// given: one for each call. To says which of them a call goes to; that of a
	// lambda which is called where it stands has no name.
	Copies map[syntax.Node][]*Copy
	To     map[*syntax.CallExpr]*Copy
	// Choices are the calls of which user space decides which function they run, and Bundles the functions inside Fn
	// that such calls may run: a def or a lambda.
	Choices map[*syntax.CallExpr]*Choices
	Bundles map[syntax.Node]*Bundle
	// Widths says which arguments of printf and sprintf are shown without their signs in as many bits as their fields
	// have: expression → number of the width in the event's record.
	Widths map[syntax.Expr]int
	// Spread are lists that are given to printf and sprintf by a star: the list → what stands for each of its elements
	// in Widths.
	Spread map[syntax.Expr][]syntax.Expr
}

// A Copy is a function inside another one, as one call of it needs it.
type Copy struct {
	Name string // unique among the copies in the outer function
	// Half says what of the copy is read from the record.
	Half *UserHalf
}

// Choices are the functions that a call may run.
type Choices struct {
	Of []*Choice
	// Parts is set where the call gives parts of the event: only functions of Of can have them.
	Parts bool
}

// A Choice is a function that a call may run: Fn, or a copy of a function inside another.
type Choice struct {
	Fn    *Func
	Inner *Bundle
	Copy  int // its number among those of Inner
	// Half says what holds of the call where it runs this function.
	Half *UserHalf
}

// A Bundle is a function inside another with its copies, one for each call that may run it.
type Bundle struct {
	// Copies are those of the function, one for each of the calls.
	Copies []*Copy
}

// NewUserHalf is a half of fn of which nothing is read yet.
func NewUserHalf(fn *Func) *UserHalf {
	h := (&UserHalf{Fn: fn}).Part()
	h.Nested = map[syntax.Node]bool{}
	return h
}

// Part is a new half of what is inside a part of the function.
func (h *UserHalf) Part() *UserHalf {
	return &UserHalf{
		Fn: h.Fn, Slots: map[syntax.Expr]int{}, First: map[syntax.Expr]syntax.Expr{}, Drop: map[syntax.Expr]bool{},
		Instead: map[syntax.Expr]syntax.Expr{},
		Moved:   map[syntax.Stmt]bool{},
		Calls:   map[*syntax.CallExpr]*UserHalf{}, Nested: h.Nested, Rounds: map[syntax.Node][]*UserHalf{},
		Copies: map[syntax.Node][]*Copy{}, To: map[*syntax.CallExpr]*Copy{},
		Choices: map[*syntax.CallExpr]*Choices{}, Bundles: map[syntax.Node]*Bundle{},
		Widths: map[syntax.Expr]int{}, Spread: map[syntax.Expr][]syntax.Expr{},
	}
}

// Parts gives the halves of callees, rounds and copies, in no order.
func (h *UserHalf) Parts() []*UserHalf {
	var out []*UserHalf
	for _, c := range h.Calls {
		out = append(out, c)
	}
	for _, rounds := range h.Rounds {
		out = append(out, rounds...)
	}
	for _, copies := range h.Copies {
		for _, c := range copies {
			out = append(out, c.Half)
		}
	}
	for _, all := range h.Choices {
		for _, c := range all.Of {
			out = append(out, c.Half)
		}
	}
	for _, b := range h.Bundles {
		for _, c := range b.Copies {
			out = append(out, c.Half)
		}
	}
	for _, c := range h.To {
		if c.Name == "" {
			out = append(out, c.Half)
		}
	}
	return out
}
