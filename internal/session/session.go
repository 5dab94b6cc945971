package session

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

// session is one run.
type session struct {
	Options
	*outside
	messages   *output.Messages
	out        *output.Output
	machine    *machine.Machine
	names      names
	frames     *stacks.Names
	results    results.Known
	lines      eventline.Kernel
	wallOffset int64

	argv     []string // of -c
	child    *procs.Child
	released bool // the child is the command now
	host     *script.Host
	env      *builtins.Env
	thread   *starlark.Thread
	*part            // the unit that is made now, or was last
	parts    []*part // those that are loaded
	live     *Live   // nil: a script runs
	untraced bool    // the script is only looked at: nothing will be loaded

	backends []state.Container
	oldest   loss.Oldest // tables that drop their oldest entries
	spans    openspans.Spans
	bound    map[int]bool // the containers that are in maps, by number
	decoder  *value.Decoder
	merger   stream.Merger
	flushing bool         // the merger gives out records
	held     []heldRecord // records that came meanwhile
	settled  uint64       // all records up to this time have been delivered
	strays   uint64       // records that nothing in the unit describes

	routes  []route      // by the number of the record
	dumping map[int]bool // probes whose kept events are being shown
	event   *value.Event
	inEvent bool

	timers      timers.List
	timerErrors *failures
	atExit      []starlark.Callable
	exitErrors  *failures
	failures    []*failures

	announced []string // what announce() was given before all was attached

	begun  bool // tracing has begun
	timeUp bool // --duration is over
	exited bool // exit() was called
	code   int
	// leaving: the functions of at_exit are being called, after which none is.
	leaving bool

	growth *growth // nil: no probe can get points later

	uncounted error // why the kernel does not count the runs of programs
}
