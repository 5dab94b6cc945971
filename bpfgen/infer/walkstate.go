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

// The types of what walks of a probe know: probe, event, projection, user walk, captures.
//
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
	// handler and starter are the functions that may run on either side: that of the events, and that of start=.
	handler, starter *placedFunc
	// isTraced gives e.traced of an event.
	isTraced func(b *body, ev *event) val
	// argNames are the names of the arguments of all its points, for suggestions. It is nil until somebody asks.
	argNames map[string]bool
	// points has the number of each point of the probe, of earlier units too.
	points map[tree.Point]int
	// names is set where a pattern gives the points, so that the names of points are numbers in records (nameTable).
	// Elsewhere they are constants.
	names bool
	// cookies is set where the kernel tells a program that stands at several such points at which of them it runs.
	cookies bool
	// asks are the names of tables and cells at places of user code that only read them, and fields that are such.
	asks map[syntax.Expr]bool
	// led are names and fields of which only a field is taken, if they are a record.
	led map[syntax.Expr]bool
	// timed are what user code gives to timers: lambdas, and names of functions.
	timed map[syntax.Node]bool
	// closers complete the start programs of spans. They run when all points have been walked, and so all values are
	// known that the ends want.
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
	// start is set for the handler of the start.
	start bool
	// decided is set once the first point has been walked. Before that inUser means nothing.
	decided bool
	// inUser is set where it runs in user space.
	inUser bool
	// why says why it does not run in the kernel.
	why string
	// halves are what it needs of the event in user space, one for each version of its user half (versions.go). There
	// is none while it runs in the kernel.
	halves []*projection
	// walks is how many times it has been walked as a user half so far.
	walks int
}

// A projection is what a function of user space needs of the event, over all
// points of its probe.
type projection struct {
	// placed is the function that is in user space.
	placed *placedFunc
	// version is the number of the version.
	version int
	// half is that function with the places that are read from the record.
	half *plan.UserHalf
	// later finds the changes that the kernel could make, parts are those that it makes, and moved is what user space
	// has no part in for that.
	later *laterPart
	parts []*kernelPart
	moved map[syntax.Node]bool
	// copies is how many copies of functions there are so far, for their calls. maxCopies bounds it.
	copies int
	// slots is how many slots were given so far.
	slots int
	// sites has the slot of each place that is captured, before those of the same value are merged.
	sites map[copySite]int
	// elements are expressions for the elements of arrays in the event, by where the array stands in the function.
	elements map[copySite][]syntax.Expr
	// each has what is walked instead of a field or an element of one of two values (see ofeach.go), and plainly where
	// such a one stays as it is.
	each    map[syntax.Expr]syntax.Expr
	plainly map[copySite]bool
	// valued are the expressions that have a value of user space at some point, so that they stay at others, where they
	// are parts of the event whose value is not needed.
	valued map[copySite]bool
	// siteName is the expression of each slot as a field's name.
	siteName []string
	// trial is set while a statement is walked only to see whether the kernel could do what it does: that walk is taken
	// back, so it captures nothing.
	trial bool
	// drops are the expressions that user space need not compute, if nothing of what they are made of is sent in the
	// end.
	drops []drop
	// asked counts the fields that were asked of values of user space, which may not have them.
	asked int
	// sends are the statements that send the event, one for each program.
	sends []*send
	// clashes has, for each thing that is certain to fail in user space, the numbers of the walks that came to it. What
	// all walks came to is a mistake, unless asksType.
	clashes map[refusal.Diag]map[int]bool
	// walks are the walks of the function that this version serves, by number (placedFunc.walks).
	walks []int
	// ways are what these walks came to at places where points can differ.
	ways map[place][]way
	// madeIn has the walk that made a copy of a function. full are the loops that are not written out because the
	// function has too many copies.
	madeIn map[*plan.UserHalf]int
	full   map[place]bool
	// asksType is set once the function tells types apart, as by type(): then nothing is certain to fail.
	asksType bool
	// widths are the places where ints are shown without their signs, in the order of the walks (see ownwidth.go).
	widths []widthSite
	// shown are the same places, for look-up.
	shown map[copySite]bool
}

// A kernelPart is a part of a handler.
type kernelPart struct {
	*laterPart
	// sites are the changes that it makes, as they stand in the handler: assignments, and calls of which nobody takes
	// the value.
	sites []syntax.Node
	// gone is what user space has no part in any more: sites, and what has nothing but sites in it.
	gone map[syntax.Node]bool
}

// A laterPart finds the kernel's part of a handler.
type laterPart struct {
	pr *probe
	fn *plan.Func
	// names says of variables of the handler which container they are another name of, by where they are first named.
	names map[*syntax.Ident]*plan.Container
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
	// proj is the version of the user half that gets the event.
	proj *projection
	// b is the walker of the program, and span its end of a span, of which it can walk several.
	b    *body
	span *spanState
	// stmt is the statement. It has no values until finishSend gives them.
	stmt *tree.Stmt
	// values are what this program has for the slots.
	values map[int]val
	// widths are how many bits ints have at the places where they are shown without their signs, 0 where no width is
	// the field's own.
	widths map[copySite]int
	// shown are these widths by the numbers that the places get in the end. The record has them.
	shown []int
	// target is the point of the program.
	target *points.Target
	// used are the captures that this send has already, so that none is gone over twice.
	used map[*captures]bool
}

// A copySite is an expression of one copy of a function: each call of a function that gets parts of the event, and each
// round of a loop over such parts, has a copy of its own, in which the same expression is another part.
type copySite struct {
	half *plan.UserHalf
	site syntax.Expr
}

// An event is e: what happened at a point, seen from one program.
type event struct {
	// b is the program in which its fields are read.
	b *body
	// point is the point's name, as of e.probe.
	point string
	// args gives e.args. It is nil where the point has none.
	args argSource
	// ret gives e.ret. It is nil where there is no result, as at the start of a call.
	ret func(pos plan.Pos) val
	// goid gives e.goid. It is nil where the program is not of Go.
	goid func(pos plan.Pos) val
	// duration gives e.duration. It is nil where the event is neither the end of a span nor a call that never returns.
	duration func(pos plan.Pos) val
	// startEv is e.start, the event at the start of the span. It is nil where the event is neither the end of one nor a
	// call that never returns.
	startEv *event
	// fn gives e.func. It is nil where the point is no function.
	fn func(pos plan.Pos) val
	// name gives e.probe. Where it is nil, that is the text of point.
	name func(pos plan.Pos) val
	// depth gives e.depth. It is nil where calls are not counted.
	depth func(pos plan.Pos) val
	// clock is set at an interval. It is nobody's event: e.pid is the process that it happened to interrupt, which is
	// therefore not tested.
	clock bool
	// profile is set where it has e.ip and e.usermode.
	profile bool
	// addr gives e.addr. It is nil where the event is about no address.
	addr func(pos plan.Pos) val
	// listed gives the fields that tell of the current process elsewhere, at an iterator: here they are those of the
	// task that it is at. A field that the entry of the list does not have is missing. It is nil at other points.
	listed map[string]func(pos plan.Pos) val
	// unwound is called when e.ustack() is asked for. It notes that this program depends on where the function's caller
	// is found, so that only functions share it that have theirs at the same place. It is nil where there is no
	// function.
	unwound func()
	// regs is set where the registers are at hand, for e.regs.
	regs bool
	// inside is set at a place behind the entry of a function, where e.args need not be where they were.
	inside bool
	// vars is the place in a program whose variables are e.vars. It is nil where none are in sight.
	vars *funcView
	// source is e.source: the line of the source where a user function, or a place in one, is; false: nobody knows. It
	// is nil elsewhere.
	source func() (string, bool)
	// noReturn is set at a call that never returns, as exit(). The event is its start, and so its own e.start.
	noReturn bool
	// othersReturn is set where a call never returns and others of the probe do.
	othersReturn bool
	// atStart is set at the start of a span, from when its where= and start= are walked.
	atStart bool
	// untested is set at a start of a span that is recorded whoever makes it. Its start= then tests the process before
	// it runs.
	untested bool
	// byStart is set at an end of the same thread as its start. The start has tested whether the process is in a cgroup
	// and of a user, and that holds: the end tests only the process's number.
	byStart bool
	// tested is set at an end whose process has been tested at the start of the span, so that nothing is left to test.
	tested bool
	// judged is the event at the start of a span, where an end has no process of its own, as the beat of a clock. Its
	// process is then tested instead. It is nil elsewhere.
	judged *event
	// setOwnPid is called, at an end, when the event has a pid of its own (unit.ownPid). It is nil elsewhere.
	setOwnPid func()
	// over has the fields that kernel= or an event's function returned. They are in front of those of the same name.
	over map[string]val
	// order are the names of these fields, as the functions wrote them one after the other.
	order []string
	// unasked is the event as it was before fields of it were found to be there (narrow.go). It is nil where none was.
	unasked *event
	// value is e.value: what kernel= returned, where that is no record. It is nil elsewhere.
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
	// log are the questions so far, with the answers.
	log *[]access
	// shared is set where the program may stand at other functions, too.
	shared bool
}

// funcArgs is e.args of a function.
type funcArgs struct {
	f    *funcView
	mech tree.AttachKind
	// start is the program at the entry, where the arguments are read: the walk is at the return of the call. The
	// memory behind them is read at the return. It is nil where the walk is at the entry.
	start *body
}

// operandArgs is e.args of a static probe.
type operandArgs struct{ f *funcView }

// An access is a question about a function or a system call, and its answer. Two calls that answer all questions alike
// share a variant.
type access struct {
	question question
	answer   string
}

// A userWalk walks a handler that runs in user space, for one point. It follows
// what is derived from the event and captures what user code uses of it.
type userWalk struct {
	// proj is where captures go.
	proj *projection
	// pr is the probe.
	pr *probe
	// b is the walker of the program of the point. Captured expressions are evaluated there.
	b *body
	// half is the copy of the function that is walked: the handler's, or that of a function that it calls.
	half *plan.UserHalf
	// frame has the variables of that function.
	frame *uframe
	// chain are the functions of the script that are walked around this place, the handler first. None of them may be
	// called again: Starlark has no recursion.
	chain []*plan.Func
	// inside are the functions inside the handler that are walked around this place, for the same.
	inside []*resolve.Function
	// copies counts the copies of functions in the handler (projection.copies).
	copies *int
	// nested is the outermost function inside the handler that this place is in. It is nil outside of such functions.
	nested syntax.Node
	// called is the call whose function is walked next, so that what is before the dot of a method is walked once.
	called *syntax.CallExpr
}

// A uval is a value in user code. The zero uval is one that only user space
// knows.
type uval struct {
	// v is what the compiler knows of it, where known is set.
	v     val
	known bool
	// part is set where it is derived from the event. Using it as a value of user space captures caps.
	part bool
	// caps are the captures of all that it is made of.
	caps *captures
	// fails is set where computing it can be an error, or has another effect. Then it must be computed even if its
	// value is not needed.
	fails bool
	// first is what must be computed before a part of it is taken, since that fails or has another effect, though its
	// own value is not needed. It is nil where there is nothing.
	first syntax.Expr
	// typ is the interpreter's name of its type, where v is not known but that is.
	typ string
	// among are the texts of which it is one, where that is known.
	among []string
	// bits is the width of the field that it is, where user space decides which of some of the same width, or of the
	// fields that it is a list of, else 0; of what is a text of Go where it is shown, it is the width of that.
	bits int
	// elems are the elements of a tuple that is made in user space, and of a list as long as it has no name.
	elems []uval
	// row is what each element of a list of tuples has, of which only the widths are known: each part has its own. It
	// is nil where the elements are no tuples, or not known to be.
	row []uval
	// entries are those of a dict that is made in user space, as long as it has no name, if its keys are known texts.
	entries []entry
	// fn is the function inside the handler that it is. It is nil where it is none. away is set where the names of its
	// copies are not seen: behind a call, or of a lambda without a name.
	fn   *inner
	away bool
	// may are functions that it may be, or that what is in it may be.
	may []callee
	// held is which parts of the event it may be, or have in it, apart from those in elems and entries.
	held keeping
	// was is what it was when the script had run: a list or dict that user code may have changed since, or what was in
	// one. It is nil where that is not known.
	was plan.Value
}

// keeping says which parts of the event a value of user space may be, or have in it.
type keeping uint8

const (
	heldValues        keeping = 1 << iota // numbers and texts, at which something may lie
	heldStructs                           // what has fields that only the kernel half can read
	heldRecordValues                      // such in a record
	heldRecordStructs                     // such in a record
)

// A callee is a function that a call may run: one of the script, or one inside the handler.
type callee struct {
	fn *plan.Func
	in *inner
}

func (c callee) resolved() *resolve.Function {
	if c.in != nil {
		return c.in.def
	}
	return resolved(c.fn)
}

// An entry is one of a dict that is written where it is used.
type entry struct {
	key string
	v   uval
}

// A capture is an expression in a user half and the value that the kernel
// half sends for it.
type capture struct {
	// half is the copy of the function in which the expression stands.
	half *plan.UserHalf
	// site is the expression.
	site syntax.Expr
	// v is the value that is sent.
	v val
	// in is the outermost function inside the handler that holds the site. It is nil outside of such functions.
	in syntax.Node
	// there is set where user space has the value already, so that nothing is sent for it.
	there bool
}

// uframe has the variables of a function that is walked in user code.
type uframe struct {
	scope.Frame[uval]
	// outer is the frame of the function around this one, the same as Outer. It is nil where none is around it.
	outer *uframe
	// by is the frame of the function that calls it. It is nil where that is not walked.
	by *uframe
	// returns collects the values that the function returns. What the handler returns is dropped.
	returns []uval
	// top is set for the handler itself.
	top bool
	// open is set once a condition has been met that only the run decides, or where the call stands behind one. What
	// stands behind it in a function may be for other arguments than those of this call, so nothing is certain to fail
	// there (perhaps).
	open bool
	// shifting are the variables of this function that functions inside share and that can have several values. Only
	// the captures of all these are known of them.
	shifting map[*resolve.Binding]bool
	// loops are those around the statement that is walked, the outermost first.
	loops []*loopVars
	// generic is set for a function inside that is walked where it is defined, for calls of which nothing is known.
	generic bool
	// timed is set for such a function that only a timer runs.
	timed bool
	// chosen is the first e.args[i] in a generic function whose i only a call of it gives. A use of the function by
	// which its calls are not known is then refused (mayLeave). It is nil where there is none.
	chosen *chosenArg
	// reads is the first call in a generic function that reads memory where user space says (userreads.go). It is nil
	// where there is none.
	reads *memoryRead
	// decides counts the conditions and loops around the place that is walked of which only user space knows how they
	// come out.
	decides int
	// kernelCan is set where the statement that is walked is a change that the kernel could make.
	kernelCan bool
}

// uvals are the values of variables; the ways of a branch begin with copies.
type uvals = persistent.Map[*resolve.Binding, uval]

// An inner is a function inside a handler, as user code has it by a name, or calls it where it stands. Each call goes
// to a copy, which the host makes next to it: it may get other parts of the event, or give one back.
type inner struct {
	// node is the def or lambda.
	node syntax.Node
	// name is the def's, or that of the variable which a lambda is assigned to. It is "" for a lambda without one.
	name string
	// def has the locals and free variables of the function, by the resolver.
	def *resolve.Function
	// outer is the function around it, as it was where this one was defined.
	outer *uframe
	// half is the copy of the function in which it is defined.
	half *plan.UserHalf
	// nested is the outermost function inside the handler that it is in, or itself.
	nested syntax.Node
	// defaults are those of its parameters, as they were where it was defined; of those without one the zero uval.
	defaults []uval
	// chosen is the first e.args[i] in it of which only its calls say which argument it is. It is nil where there is
	// none.
	chosen *chosenArg
	// reads is the first call in it that reads memory where only user space says. It is nil where there is none.
	reads *memoryRead
}

// A chosenArg is an e.args[i] where user space computes i: which of them to read the kernel must know. Or it is a field
// or an element of a part of the event that user space chooses.
type chosenArg struct {
	at *syntax.IndexExpr
	// field is the field, nil where it is an e.args[i].
	field *syntax.DotExpr
	// asked is a hasattr() or getattr() of a field of that name, nil where it is none.
	asked *syntax.CallExpr
	name  string
	// element is the element of a pointer, nil where it is none.
	element *syntax.IndexExpr
	// call is a call of which user space chooses the function, nil where it is none.
	call *syntax.CallExpr
	// shared is a variable of i that functions inside read when they are called, where it has changed, and param one
	// that is a parameter of a function inside; nil: none.
	shared, param *syntax.Ident
}

// A memoryRead is a call of a builtin that reads memory, or the builtin itself where it is given.
type memoryRead struct {
	name plan.Builtin
	pos  plan.Pos
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
	// one is the capture, where there is one alone.
	one capture
	// x and y are the captures of the two others. They are nil where there is one alone.
	x, y *captures
	// leads is set where one of them has fields that only the kernel half can read, and points where one is a pointer.
	leads, points bool
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
// calls beyond it get whole values, and are refused where that is not the same.
const maxCopies = 2000

// A widthSite is an argument of what shows ints otherwise than by their numbers.
type widthSite struct {
	at copySite
	in syntax.Node // the function inside the handler that it is in, nil if it is in none
}

// A place is one in a copy of a function where points can differ.
type place struct {
	half *plan.UserHalf
	node syntax.Node
	of   aspectOfPlace
}

// An aspectOfPlace is what points can differ in.
type aspectOfPlace int

const (
	aValue aspectOfPlace = iota // where a value comes from
	aCall                       // what a call goes to
	aLoop                       // whether a loop is written out
)

// A way is what a walk came to at a place.
type way struct {
	walk int
	to   any // of a call to a copy of a function the function, else one of the following
}

type plainWay int

const (
	own     plainWay = iota // user space has the value, makes the call and runs the loop by itself
	sent                    // the value is read from the record
	several                 // user space decides which of some functions is called
	written                 // the loop is written out
)
