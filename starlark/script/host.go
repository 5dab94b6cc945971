package script

import (
	"io/fs"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// Host, what runs one script, its options, and the package's types.

// Options are what a Host needs of the world.
type Options struct {
	// Runtime is what builtins ask of the run: the time, the end.
	Runtime builtins.Runtime
	// Constant gives constants by name: O_CREAT, AF_INET6. It is asked only
	// for names that a script uses and does not define.
	Constant func(name string) (int64, bool)
	// Std has the modules of load("std/NAME.star"), as NAME.star.
	Std fs.FS
	// Warn takes warnings: a builtin is redefined.
	Warn func(plan.Pos, string)
	// Waits takes the message that the script is a pipe that nobody writes yet.
	Waits func(plan.Pos, string)
	// Labels are labels of ints that need the machine: ksym.
	Labels map[string]value.LabelFunc
	// Enum, Number, SizeOf, ConstantsOf and UserSymbol are those of builtins.Env.
	Enum        func(name string) []kernel.EnumValue
	Number      func(name string, declared ...plan.TypesText) (kernel.Type, bool)
	SizeOf      func(name string, declared ...plan.TypesText) (int, bool, error)
	ConstantsOf func(declared ...plan.TypesText) ([]kernel.EnumValue, error)
	UserSymbol  func(pid int, addr uint64) (string, error)
	// Escape is applied to the strings that print and printf write.
	Escape escape.How
	// Room is an error where something of so many bytes would take too much memory;
	// nil: there is room for all.
	Room func(bytes uint64) error
	// MayShow says whether messages may quote a file that was read; nil: all may be quoted.
	MayShow func(name string) bool
	// Command is how the script was called, for its --help.
	Command string
	// StrMax and Target are copied into the plan; limits() wins over StrMax.
	StrMax int
	Target plan.Target
}

// A Host runs one script. It is used from one goroutine.
type Host struct {
	// opts are what the caller gave.
	opts Options
	// env has what builtins have recorded: probes, containers, flags.
	env *builtins.Env
	// thread is the one on which everything of the script runs.
	thread *starlark.Thread
	// going is whether it may go on.
	going *going
	// predeclared are the names that each file has without setting them: builtins and modules.
	predeclared starlark.StringDict
	files       Sources            // by name
	read        map[string]string  // paths of those that are files of the machine, by name
	modules     map[string]*module // by path as load resolves it
	loading     []string           // the chain of loads under way
	name, text  string             // of the script
	// main is the script itself, set once it was parsed.
	main *file
	// globals are those of the script, or at the prompt of all chunks.
	globals starlark.StringDict
	// captures makes the compiler's view of the functions and values of the script.
	captures *captures
	// special makes the copies of handlers.
	special *specialiser
	// made is the plan, made at the first call of Plan.
	made   *plan.Plan
	survey *surveyor // nil but while looking for more mistakes
}

// Thread is the thread on which everything of the script runs.
func (h *Host) Thread() *starlark.Thread { return h.thread }

// Env has what the script declared as values: probes and containers.
func (h *Host) Env() *builtins.Env { return h.env }

// Flags gives the flags that stand in the script's text.
func (h *Host) Flags() []builtins.FlagWord { return h.env.Flags.Words }

// Cancel stops the script at its next step, and a command that it runs, from any goroutine.
func (h *Host) Cancel(reason string) { h.going.stop(reason) }

// Calling tells one call of a function by Call from all others, while it runs, and whether it waits for a command; 0:
// none runs. Any goroutine may call it.
func (h *Host) Calling() (call uint64, waits bool) {
	return h.going.running.Load(), h.going.waiting.Load()
}

var parseOptions = &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}

// captures makes the compiler's view of functions and values. A function
// value is converted once: several closures of one lambda are several.
type captures struct {
	host  *Host
	funcs map[*starlark.Function]*plan.Func
	// origin is the way back: the function that a plan.Func is.
	origin map[*plan.Func]*starlark.Function
	// lists remembers lists and dicts from the beginning of their conversion on, so that one that holds itself ends.
	lists   map[starlark.Value]converted
	globals map[*starlark.Module]starlark.StringDict
}

// A specialiser compiles each user half once.
type specialiser struct {
	captures *captures
	makers   map[*plan.UserHalf]*maker
}

// A surveyor is a survey under way.
type surveyor struct {
	// from is the host whose script was found to be wrong.
	from *Host
	// args are the script's arguments.
	args []string
	// lines are those of the script; what is wrong is taken out of them from run to run.
	lines []string
	lost  map[string]bool // names that were assigned in what was taken out
	whole bool            // what is left could be parsed once
	// found are the mistakes so far.
	found Errors
	noted map[string]bool // the texts of found
	// plan is that of the last run that came to its end; nil until one has.
	plan *plan.Plan
}

// A module is a loaded file. Its globals are nil while it runs.
type module struct {
	globals starlark.StringDict
	err     error
	done    bool
}

// A maker is a compiled $make with its arguments after $ev.
type maker struct {
	fn   *starlark.Function
	args starlark.Tuple
	// calls are the user halves of callees. Those among the arguments are
	// filled in for each event.
	calls []callee
}

type callee struct {
	half *plan.UserHalf
	// arg is the number in args. of says that the argument is not the callee
	// but a function that gives it for an event that was kept.
	arg int
	of  bool
}
