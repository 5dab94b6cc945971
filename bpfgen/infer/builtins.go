package infer

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
)

// What a row of the table of builtins has, and what others ask of the table.

// A builtin is what a function that scripts can call is in either half: a row of rows (builtinrows.go). Its document is
// in package builtins, with what it does in user space.
type builtin struct {
	// name is the one by which scripts call it.
	name plan.Builtin
	// kernel gives the value of a call in a kernel half. It is nil where it runs in user space only.
	kernel func(b *body, args []arg, pos plan.Pos) val
	// instead says what a kernel half has in its place, where it runs in user space only.
	instead string
	// unwalked stands in the place of kernel where the arguments of a call must not be walked as values.
	unwalked func(b walker, f *builtin, x *syntax.CallExpr) val
	// folds is what it gives of constants, in either half. It is nil where nothing is known before it runs.
	folds fold.Function
	// atTop says where to call what declares something: in a handler it comes too late. It is "" where a call there is
	// no mistake.
	atTop string
	// user walks a call in user code. Where it is nil, its arguments are values of user space, and so is what it gives.
	user func(u *userWalk, f *builtin, x *syntax.CallExpr) uval
	// wants are the types of its arguments by their places, by the interpreter's names, where they are known.
	wants [][]string
	// gives is the type of its result, in the same way.
	gives string
	// deed is what it does that no value shows.
	deed Deed
	// traits are what else the walks must know of it.
	traits
}

// traits are properties of builtins.
type traits uint8

const (
	goesThrough    traits = 1 << iota // it goes through its first argument
	goesThroughOne                    // it goes through its argument, if there is only one
	asksType                          // a handler tells types apart by it
	makesText                         // it makes text of its arguments
	formats                           // its first argument is a format of the others
	readsKernel                       // it reads kernel memory: with parts of the event it always runs there
)

func (t traits) is(one traits) bool { return t&one != 0 }

// inKernel reports whether kernel halves have it.
func (f *builtin) inKernel() bool { return f.kernel != nil || f.unwalked != nil }

// A Deed is what a builtin does that no value shows.
type Deed string

// The deeds.
const (
	None     Deed = ""
	Declares Deed = "declares"  // it says what there is, before events come
	Later    Deed = "later"     // code runs at another time
	Outside  Deed = "outside"   // it has an effect outside
	Machine  Deed = "machine"   // it gives what this machine has
	Ends     Deed = "ends"      // it ends with an error
	Elapses  Deed = "time goes" // it gives another value each time
)

// A Builtin is a function that scripts can call, as others than the compiler see it.
type Builtin struct {
	// Name is the one by which scripts call it.
	Name   string
	Kernel bool // kernel halves have it
	// Deed is what it does that no value shows.
	Deed Deed
}

// Builtins are all functions that scripts can call, by their names.
func Builtins() (out []Builtin) {
	for name, f := range builtins {
		if name != plan.UpdateBuiltin { // which scripts do not write
			out = append(out, Builtin{string(name), f.inKernel(), f.deed})
		}
	}
	slices.SortFunc(out, func(x, y Builtin) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// builtins has the rows by their names.
var builtins = map[plan.Builtin]*builtin{}

// builtinOf is the row of a builtin. What is in no row, as a module, runs in user space only.
func builtinOf(name plan.Builtin) *builtin {
	if f := builtins[name]; f != nil {
		return f
	}
	return &builtin{name: name}
}
