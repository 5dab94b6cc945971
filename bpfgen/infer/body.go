package infer

import (
	"slices"

	"go.starlark.net/resolve"

	"github.com/startrace/startrace/bpfgen/persistent"
	"github.com/startrace/startrace/bpfgen/scope"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The walker of one kernel half: its variables, blocks and limits, as how deep calls (`maxInline`) and loops
// (`maxUnroll`, `maxLoop`) may be.

// body is the walker of a kernel half: it makes the tree of one program.
// Expressions are made lazily: nothing is emitted until a statement needs it,
// so a read stands behind the filter that precedes it in the script. What
// depends on state that the handler changes (a table's entry) is emitted at
// its place (bind).
type body struct {
	// u is the round over the plan.
	u *unit
	// pr is the probe that is walked.
	pr *probe
	// prog is the program that is made.
	prog *tree.Program
	// block is where statements go now: the body of prog, or a way of a branch in it.
	block *tree.Block
	// frame has the variables of the function that is walked. It is nil outside of functions.
	frame *frame
	// span is what a program of a span knows of it. It is nil in other programs.
	span *spanState
	// written is how many iterations of loops were written out so far, those of walks that came to nothing counted.
	written int
	// writing is set while a loop is written out, so that those in it are counted with it.
	writing bool
	// rollable is the outermost loop around the place of the walk that is written out and need not be, as it goes over
	// a range.
	rollable plan.Pos
	// calls are the functions of the script that are walked in place around this one. None of them may be called again:
	// Starlark has no recursion.
	calls []*plan.Func
	// lazy keeps what could end the handler from being evaluated at its place
	// (now): user space may not need the value, or it belongs to a program of
	// which the walk has left the place.
	lazy bool
	// pinLocals are the locals of pinned variables: what is bound to one must
	// be copied, since a loop changes it.
	pinLocals persistent.Map[int64, bool]
	// starter is the range [from, to) of block.Stmts that the walk of start= has made. opens puts what opens the entry
	// of the span in front of it.
	starter [2]int
	// view is the place in a program of the user at which it runs, and file that program; nil elsewhere.
	view *funcView
	file string
	// origin is the program that runs at the place of view itself, whose ip tells where the file is loaded: this one,
	// or at the return of a call the one at its start. It is nil where there is none.
	origin *body
}

// maxInline bounds the nesting of calls walked in place.
const maxInline = 48

// maxInlines bounds the calls that are walked in place in one program:
// functions that each call the next twice double it with each.
const maxInlines = 8192

func newBody(pr *probe, prog *tree.Program) *body {
	b := &body{u: pr.u, pr: pr, prog: prog, block: &tree.Block{}}
	prog.Body = b.block
	return b
}

// opens emits the statement that opens the entry of a span, before what the handler of the start does: where that ends
// by an error the span has begun all the same, as it has where the handler runs in user space.
func (b *body) opens(s *tree.Stmt) {
	b.emit(s)
	from, to := b.starter[0], b.starter[1]
	list := b.block.Stmts
	b.block.Stmts = slices.Concat(list[:from], list[to:], list[from:to])
}

func (b *body) emit(s *tree.Stmt) { b.block.Stmts = append(b.block.Stmts, s) }

// inBlock runs f with a new current block and gives that block.
func (b *body) inBlock(f func()) *tree.Block {
	saved := b.block
	inner := &tree.Block{}
	b.block = inner
	defer func() { b.block = saved }()
	f()
	return inner
}

func (b *body) newLocal(name string, t types.Type) int64 {
	b.prog.Locals = append(b.prog.Locals, tree.Local{Name: name, Type: t})
	return int64(len(b.prog.Locals) - 1)
}

func (b *body) local(id int64, pos plan.Pos) *tree.Expr {
	return &tree.Expr{Op: tree.OpLocal, Type: b.prog.Locals[id].Type, Int: id, Pos: pos}
}

// assign emits an assignment to a new local and gives the local.
func (b *body) assign(name string, e *tree.Expr) *tree.Expr {
	id := b.newLocal(name, e.Type)
	b.emit(&tree.Stmt{Op: tree.SAssign, Int: id, Exprs: []*tree.Expr{e}, Pos: e.Pos})
	return b.local(id, e.Pos)
}

// now gives e, evaluated here if it can end the handler: it must do so even
// if its value is not used, and before what the script computes after it.
func (b *body) now(e *tree.Expr) *tree.Expr {
	if b.lazy || !mayEnd(e) {
		return e
	}
	return b.assign("", e)
}

// lazily runs f with nothing evaluated at its place.
func (b *body) lazily(f func()) {
	saved := b.lazy
	b.lazy = true
	defer func() { b.lazy = saved }()
	f()
}

// stop emits the quiet end of the handler.
func (b *body) stop(pos plan.Pos) { b.emit(&tree.Stmt{Op: tree.SStop, Pos: pos}) }

// vars are the values of variables. Each way of a branch begins with a copy.
type vars = persistent.Map[*resolve.Binding, val]

// A frame has the variables of one function that is walked.
type frame struct {
	scope.Frame[val]
	// returns collects what the function gives back.
	returns []returned
	// inline is the number of the call among those of the program. A return names it.
	inline int64
	// pins are the variables that a loop around the place assigns, each with its place.
	pins map[*resolve.Binding]*pin
	// loop is the innermost loop around the place. It is nil where there is none.
	loop *loop
	// truth: the caller asks only whether what the function returns is true, so its returns may give values of several
	// kinds, as `return a < 0 and b & 1`.
	truth bool
	// base is the block in which the function's statements stand.
	base *tree.Block
}

// returned is one return of an inlined function.
type returned struct {
	stmt *tree.Stmt
	v    val
	in   *tree.Block
}

// A pin is the place of a variable that a loop assigns.
type pin struct {
	local   int64
	t       types.Type
	widened bool
}

// A loop is what break and continue leave: a SFor, or the inlines around a
// loop that is written out and around one iteration of it.
type loop struct {
	unrolled  bool
	out, next int64
	outer     *loop
}

// operators are what the operators and the truth of values of a kernel half come to.
type operators struct{ *body }

func (b *body) ops() operators { return operators{b} }

// memory reads what lies in memory: structs and their fields, strings, arrays, stacks.
type memory struct{ *body }

func (b *body) memory() memory { return memory{b} }

// argWords reads arguments and results of functions, which are words of registers and stacks.
type argWords struct{ *body }

func (b *body) argWords() argWords { return argWords{b} }

// attributes are what values have behind a dot or in brackets.
type attributes struct{ *body }

func (b *body) attributes() attributes { return attributes{b} }

// tables uses the containers: tables, cells and aggregations.
type tables struct{ *body }

func (b *body) tables() tables { return tables{b} }

// walker walks the statements and expressions of a function of the script.
type walker struct{ *body }

func (b *body) walker() walker { return walker{b} }

// inliner walks functions of the script in place, where they are called.
type inliner struct{ *body }

func (b *body) inliner() inliner { return inliner{b} }

// spanState is what one variant of a span keeps from its start to its end.
type spanState struct {
	// span is the one in the tree, whose Slots grow as the end asks for values.
	span *tree.Span
	// start is the program that begins it.
	start *body
	// end is the program that ends it.
	end *body
	// vals has, by slot, the expression that this start puts into it.
	vals map[int]*tree.Expr
	// asked has what items() shows of the calls of this start.
	asked *askedOfStart
	// order has the slots in the order in which the walk for the first start point asked for them. Walks for other
	// start points get the same. It is nil where each start has an end of its own, as at system calls and functions,
	// and where the start points are kept apart.
	order *[]int
	// first is set in the walk for the first start point.
	first bool
	// turn is how many slots the walk for another start point has asked for.
	turn int
	// differ is called where a later walk asks for something else than the first. It goes with order.
	differ func()
	// retry is set where the end reads a string of user memory again that the start could not read, as of a page that
	// was not in memory then.
	retry bool
	// image is set at calls of execve: what they were given is read of the new program where that can be. It is nil at
	// other spans.
	image *newImage
}

// newImage reads what execve was given from the new program's memory, where the call succeeded. There it is as the
// kernel took it, and in memory; at the start of the call its pages may not have been.
//
// At the bottom of the stack lie, from mm->start_stack on, the number of arguments, a pointer to each, NULL, and the
// same of the environment (create_elf_tables, fs/binfmt_elf.c); the name of the file lies behind the text of both, at
// mm->env_end (bprm->exec, fs/exec.c). A script's interpreter has other arguments, and more (load_script,
// fs/binfmt_script.c): those of the call are taken only if their number is the same.
type newImage struct{ args *syscallArgs }

// syscallArgs is e.args of a system call.
type syscallArgs struct {
	// sc is the call.
	sc *kernel.Syscall
	// end is set where they are read at the end of the call, from the slots that start fills.
	end bool
	// start is the program at the start of the call, where end is set.
	start *body
	// log has what was asked of the call, with the answers. Calls that answer all alike share a variant.
	log []access
	// shared are the arguments of the variant, whose log has the questions of both of its programs.
	shared *syscallArgs
}

const (
	// maxUnroll bounds the iterations of a loop that is written out.
	maxUnroll = 64
	// maxLoop bounds those of a loop with bounds that are known, maxRange
	// those of one whose bounds the kernel computes.
	maxLoop  = 16384
	maxRange = 4096
	// maxWritten bounds the iterations that are written out in one program,
	// those of loops in loops and of rehearsals counted.
	maxWritten = 16384
)
