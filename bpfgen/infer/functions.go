package infer

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// functions are those that a pattern matched, of the kernel or of one program, or places in them.
type functions struct {
	onePoint
	// funcs are the functions, or the places in them.
	funcs []*funcPoint
	mech  tree.AttachKind // how their programs are attached
	// binary is the file that has them, "": the kernel; process the only process to be probed, 0: all.
	binary  string
	process int
	// returns: the places are those where the functions return.
	returns bool
	// bare: see tree.Functions.
	bare bool
}

func (fs *functions) points(t *target) (out []tree.Point) {
	for _, f := range fs.funcs {
		out = append(out, tree.Point{Name: f.text, Func: f.name})
	}
	if len(out) == 0 {
		return fs.onePoint.points(t)
	}
	return out
}

func (fs *functions) names(t *target) (out []string) {
	for _, p := range fs.points(t) {
		out = append(out, p.Name)
	}
	return out
}

func (fs *functions) pattern() bool { return len(fs.funcs) > 1 }

func (fs *functions) without(t *target, known map[string]bool) bool {
	if len(fs.funcs) == 0 {
		return fs.onePoint.without(t, known)
	}
	fs.funcs = slices.DeleteFunc(fs.funcs, func(f *funcPoint) bool { return known[f.text] })
	return len(fs.funcs) > 0
}

func (fs *functions) single(t *target) []*target {
	if len(fs.funcs) < 2 {
		return []*target{t}
	}
	var out []*target
	for _, f := range fs.funcs {
		one, of := *t, *fs
		of.funcs = []*funcPoint{f}
		one.source, one.text, one.name = &of, f.text, f.name
		out = append(out, &one)
	}
	return out
}

func (fs *functions) wholeFunction() string {
	if len(fs.funcs) != 1 {
		return ""
	}
	f := fs.funcs[0]
	if f.user || f.program || f.place.Module != "" || f.place.Address != 0 {
		return ""
	}
	return f.place.Func
}

func (fs *functions) argNames(*unit) (out []string) {
	for _, f := range fs.funcs {
		for _, p := range f.params() {
			out = append(out, p.Name)
		}
	}
	return out
}

func (fs *functions) argCount(*unit) (n int) {
	for _, f := range fs.funcs {
		n = max(n, f.argCount())
	}
	return n
}

// ownDoing: a process runs its functions itself.
func (fs *functions) ownDoing() bool { return fs.binary != "" }

func (fs *functions) entries() []instruction {
	if fs.returns {
		return nil
	}
	return []instruction{{fs.binary, fs.funcs[0].place.Offset}}
}

func (fs *functions) returnsAt() (out []instruction) {
	if fs.returns {
		for _, at := range fs.funcs[0].ends() {
			out = append(out, instruction{fs.binary, at.Offset})
		}
	}
	return out
}

func (fs *functions) attach(*target) tree.Attach {
	return tree.Attach{Way: fs.at(fs.placesOf(fs.funcs[0]))}
}

func (fs *functions) event(_ *target, b *body) *event {
	f := fs.view(fs.funcs[0], new([]access))
	f.shared = false
	return fs.funcEvent(b, f)
}

// functionCalls are the calls of functions: spans.
type functionCalls struct{ *functions }

// A funcPoint is one function that a pattern matched.
type funcPoint struct {
	name  string // e.func
	text  string // e.probe
	place tree.Place
	// proto has the types of the arguments; nil for user functions and where
	// BTF has none.
	proto *kernel.Function
	// user: it is a user function; abi says where Go passes its arguments, nil:
	// as C does. goroutine: its calls belong to a goroutine, not to a thread.
	user      bool
	abi       *gofunc.ABI
	goroutine bool
	// inside: the place is behind the function's entry, where the arguments are no longer where the caller left them.
	inside bool
	// program: it is a BPF program.
	program bool
	// returns are the offsets in the file at which it returns, where no probe may
	// be placed on the return address (Go).
	returns []uint64
	// others are how many other functions return for it: it jumps to them.
	others int
	// call is where the arguments and the result are; nil where nobody knows, or
	// before it was asked for.
	call *abi.Call
	// sig gives what debug information says of a user function; nil: it is not asked.
	sig func() *signature.Signature
	// site is that of a static probe, with its arguments.
	site *usdt.Site
}

// A funcView is a function as one program sees it: it notes the questions.
type funcView struct {
	*funcPoint
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

// maxArgs bounds e.args[i] where nobody knows how many there are.
const maxArgs = 12
