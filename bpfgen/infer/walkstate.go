package infer

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// What the walks of a probe know: the event and its points, the probe and its functions that are placed, and the walk
// of user code with its values. What can be done with them stands elsewhere, so that who needs one of these types need
// not know who else has something to do with it.

// probe is the inference of one probe() over all points that it matched.
type probe struct {
	// u is the round over the plan.
	u *unit
	// p is the probe as the script has declared it.
	p *plan.Probe
	// targets are what its points come to on this kernel.
	targets []*points.Target
	// handler and starter are the functions that may run on either side.
	handler, starter *placedFunc
	// argNames are the names of the arguments of all its points, for suggestions; nil until somebody asks.
	argNames map[string]bool
	// points are the numbers of the points; names says that readers know them by these, cookies that the kernel tells
	// a program that stands at several of them at which it runs.
	points         map[tree.Point]int
	names, cookies bool
	// asks are names of containers where user code only asks them.
	asks map[*syntax.Ident]bool
	// closers complete the programs of spans when all values are known.
	closers []func()
}

// A placedFunc is a function of a probe that is placed: the handler, or the handler
// of the start. Where it runs is decided at the first point and holds for all.
type placedFunc struct {
	// pr is the probe.
	pr *probe
	// name is the word of explain for it: "handler", "start".
	name string
	// fn is the function of the script.
	fn *plan.Func
	// start: it is the handler of the start.
	start bool
	// decided: inUser says where it runs. Before the first point was walked it means nothing.
	decided bool
	// inUser: it runs in user space.
	inUser bool
	why    string // why not in the kernel
	// proj is what it needs of the event then; nil in the kernel.
	proj *projection
}

// A projection is what a function of user space needs of the event, over all
// points of its probe.
type projection struct {
	// placed is the function that is in user space.
	placed *placedFunc
	// half is that function with the places that are read from the record.
	half   *plan.UserHalf
	copies int // of functions, for their calls
	// slots is how many slots were given so far.
	slots int
	sites map[copySite]int // capture site → slot before merging
	// siteName is the expression of each slot as a field's name.
	siteName []string
	// drops are the expressions that may be left out in the end.
	drops []drop
	// sends are the statements that send the event, one for each program.
	sends []*send
	// clashes are what is certain to fail in user space, unless the handler asksType.
	// They have the numbers of the walks, one for each point, that came to them.
	clashes  map[refusal.Diag]map[int]bool
	walks    int
	asksType bool
	// widths are the places where ints are shown without their signs, in the order of the walks, shown the same for
	// look-up (see ownwidth.go).
	widths []widthSite
	shown  map[copySite]bool
}

// A drop is an expression whose value may turn out not to be needed.
type drop struct {
	half *plan.UserHalf
	x    syntax.Expr
	v    uval
}

// A send is the statement by which one program sends the event; its values
// are known when all points have been walked.
type send struct {
	b      *body
	stmt   *tree.Stmt
	values map[int]val
	// widths are how many bits ints have where they are shown without their signs; shown are those of its record.
	widths map[copySite]int
	shown  []int
	target *points.Target
	used   map[*captures]bool
}

// A copySite is an expression of one copy of a function: each call of a function that gets parts of the event, and each
// round of a loop over such parts, has a copy of its own, in which the same expression is another part.
type copySite struct {
	half *plan.UserHalf
	site syntax.Expr
}

// An event is e: what happened at a point, seen from one program.
type event struct {
	b *body // the program in which its fields are read
	// point is the point's name, as of e.probe.
	point string
	// args gives e.args; nil where the point has none.
	args argSource
	// ret, duration, startEv and fn exist only for some points.
	ret      func(pos plan.Pos) val
	goid     func(pos plan.Pos) val
	duration func(pos plan.Pos) val
	startEv  *event
	fn       func(pos plan.Pos) val
	name     func(pos plan.Pos) val // e.probe
	// depth gives e.depth; nil where calls are not counted.
	depth   func(pos plan.Pos) val
	clock   bool // an interval: e.pid is whom it happened to interrupt
	profile bool // it has e.ip and e.usermode
	// addr gives e.addr; nil where the event is about no address.
	addr func(pos plan.Pos) val
	// listed are the fields of the task that an iterator is at; nil elsewhere.
	listed  map[string]func(pos plan.Pos) val
	unwound func() // a stack of the program is taken
	regs    bool   // the registers are at hand
	inside  bool   // it is a place behind the entry of a function
	// vars is the place in a program at which variables are in sight; nil elsewhere.
	vars     *funcView
	noReturn bool // a call that never returns: e is its start
	// othersReturn: the probe has other calls, which return.
	othersReturn bool
	atStart      bool // the start of a span
	untested     bool // a start of a span whose process has not been tested
	byStart      bool // an end: whether its process is in a cgroup or of a user was tested at the start
	// tested: the process has been tested at the start of the span. judged is the event whose process is tested in its
	// place: that of the start, where the end is nobody's.
	tested bool
	judged *event
	// setOwnPid, of an end, is told that the event has a pid of its own.
	setOwnPid func()
	// over shadows fields: what kernel= or an event's function returned.
	over map[string]val
	// value is e.value, where kernel= returned no record.
	value *val
}

// An argSource gives e.args for one point.
type argSource interface {
	names() []string
	get(b *body, name string, pos plan.Pos) (val, bool)
	at(b *body, i int, pos plan.Pos) (val, bool)
}

// A funcView is a function as one program sees it: it notes the questions.
type funcView struct {
	*points.Function
	log    *[]access
	shared bool // the program may stand at other functions, too
}

// funcArgs is e.args of a function.
type funcArgs struct {
	f    *funcView
	mech tree.AttachKind
	// start, if set, is the program at the entry, of which the values are; the
	// memory behind them is read where the walk is.
	start *body
}

// operandArgs is e.args of a static probe.
type operandArgs struct{ f *funcView }

// An access is a question about a system call's arguments and its answer.
// Two calls that answer all questions alike share a variant.
type access struct{ question, answer string }

// A userWalk walks a handler that runs in user space, for one point. It follows
// what is derived from the event and captures what user code uses of it.
type userWalk struct {
	// proj is where captures go.
	proj *projection
	// pr is the probe.
	pr *probe
	b  *body // where captured expressions are evaluated
	// half is the copy of the function that is walked: the handler's, or that of a function that it calls.
	half *plan.UserHalf
	// frame has the variables of that function.
	frame *uframe
	// chain are the functions whose copies are being walked, against recursion;
	// inside those of them that are inside others. copies is how many there are
	// of the handler so far.
	chain  []*plan.Func
	inside []*resolve.Function
	copies *int
	// nested is the function inside the handler that is walked, nil outside.
	nested syntax.Node
}

// A uval is a value in user code. The zero uval is one that only user space
// knows.
type uval struct {
	// v is what the compiler knows of it; known says that it does.
	v     val
	known bool
	// part marks what is derived from the event: using it as a value of user
	// space captures caps.
	part bool
	caps *captures
	// fails says that computing it can be an error, or has another effect: it
	// must not be left out though its value is not needed.
	fails bool
	// first is what must be computed before a part of x is taken, since it fails
	// or has another effect, though its own value is not needed.
	first syntax.Expr
	// typ is the interpreter's name of its type, where v is not known but that is.
	typ string
	// bits is the width of the field that it is, where user space decides which of some of the same width, else 0.
	bits int
	// elems are those of a tuple that is made in user space, and of a list as
	// long as it has no name.
	elems []uval
	// fn is a function inside the handler.
	fn *inner
}

// A capture is an expression in a user half and the value that the kernel
// half sends for it.
type capture struct {
	half *plan.UserHalf
	site syntax.Expr
	v    val
	in   syntax.Node // the nested function that holds the site
}

// uframe has the variables of a function that is walked in user code.
type uframe struct {
	scope.Frame[uval]
	outer *uframe // as Outer
	// returns collects the values of a function that is walked for a call.
	returns []uval
	// top: it is the handler itself.
	top bool
	// open says that a condition has been met which only the run decides: what
	// stands behind it in a function may be for other arguments than those of
	// this call.
	open bool
	// shifting are the variables that functions inside share and that can have
	// several values; loops are those around the statement that is walked.
	shifting map[*resolve.Binding]bool
	loops    []*loopVars
	// generic: a function inside that is walked where it is defined, for calls of which nothing is known.
	generic bool
	// chosen is an e.args[i] in it, if there is one, of which only the call says
	// which argument it is.
	chosen *chosenArg
	// always are the statements of a handler that run at each event; nil: nobody
	// has asked.
	always map[syntax.Stmt]bool
}

// uvals are the values of variables; the ways of a branch begin with copies.
type uvals = persistent.Map[*resolve.Binding, uval]

// An inner is a function inside a handler, as user code has it by a name, or calls it where it stands. Each call goes
// to a copy, which the host makes next to it: it may get other parts of the event, or give one back.
type inner struct {
	node syntax.Node // the def or lambda
	// name is the def's; "" for a lambda that has none.
	name string
	// def has the locals and free variables of the function, by the resolver.
	def *resolve.Function
	// outer is the function around it, as it was where this one was defined.
	outer *uframe
	half  *plan.UserHalf // where it is defined
	// nested is the outermost function inside the handler that it is in, or itself.
	nested syntax.Node
	// chosen is an e.args[i] in it of which its calls say which argument it is.
	chosen *chosenArg
}

// A chosenArg is an e.args[i] where user space computes i: which of them to read the kernel must know.
type chosenArg struct {
	at *syntax.IndexExpr
	// shared is a variable of i that functions inside read when they are called, where it has changed, and param one
	// that is a parameter of a function inside; nil: none.
	shared, param *syntax.Ident
}

// loopVars are the variables that a loop assigns, with the captures of all that they can be.
type loopVars struct {
	carried map[*resolve.Binding]uval
}

// captures are the captures of all that a value can be, in their order: one, or
// those of two others. A variable that many branches set has many, and each branch
// adds to those before it; so they are shared, and what goes over them passes each
// part once.
type captures struct {
	one  capture
	x, y *captures // nil: it is one
	// leads: one of them has fields that only the kernel half can read.
	leads bool
}

// certainty finds what is certain to fail.
type certainty struct{ *userWalk }

func (u *userWalk) certain() certainty { return certainty{u} }

// laterWrites are what user code changes that kernel halves ask.
type laterWrites struct{ *userWalk }

func (u *userWalk) writes() laterWrites { return laterWrites{u} }

// selection finds loops that choose a part of the event.
type selection struct{ *userWalk }

func (u *userWalk) selection() selection { return selection{u} }

// rounds walks loops and comprehensions of user code.
type rounds struct{ *userWalk }

func (u *userWalk) rounds() rounds { return rounds{u} }

// arguments walks calls in user code, with what is known of their arguments.
type arguments struct{ *userWalk }

func (u *userWalk) calling() arguments { return arguments{u} }

// maxCopies bounds the copies of functions in one handler: functions that each
// call the next twice would have a number of them that doubles with each. The
// calls beyond it get whole values.
const maxCopies = 2000
