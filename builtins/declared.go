package builtins

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// A Probe is what probe() gives.
type Probe struct {
	// points are those that were given, still with the functions of the script.
	points []Point
	// name is that of name=; "" without it.
	name string
	// variable is what it was assigned to.
	variable string
	// pos is the place of the call.
	pos plan.Pos
	// Functions of the script; nil where not given.
	handler, where, kernel, start *starlark.Function

	// control acts on the probe in the kernel; nil until it is loaded.
	control ProbeControl
	keep    int // how many events the kernel keeps; 0: it sends them
	// Disabled says that the script disabled the probe before it was loaded.
	Disabled bool
}

// A pointMaker makes each PointValue into one plan.Point.
type pointMaker struct {
	c    Capturer
	seen map[*PointValue]plan.Point
}

// A PointValue is an event, span or first() as scripts hold it.
type PointValue struct {
	kind string // event, span, first
	arms []arm  // event
	// doc is the text of doc=, of an event.
	doc string
	// start and end are the points of a span.
	start []Point
	end   []Point
	// The key functions of a span; nil: by thread.
	startKey, endKey *starlark.Function
	// again is "first" or "last": which of several starts counts, of a span.
	again string
	// size is how many can be open at a time, of a span; 0: the default.
	size int
	// timeout is in ns, of a span; 0 for none.
	timeout int64
	alts    []Point // first
	// pos is the place of the call.
	pos plan.Pos
	// env is what the builtins of the script share.
	env *Env
}

// A Point is a point as scripts hold it: a pattern, or a PointValue.
type Point struct {
	pattern *plan.Pattern
	value   *PointValue
}

type arm struct {
	points []Point
	fn     *starlark.Function
}

// A Capturer gives the compiler's view of functions. It remembers them: the
// same function gives the same Func.
type Capturer interface {
	// Func gives a function as the compiler sees it: its syntax tree, with the values of what it captured.
	Func(fn *starlark.Function) *plan.Func
}

// A ProbeControl acts on a loaded probe. The session implements it.
type ProbeControl interface {
	// Enable attaches the programs of a probe that was disabled.
	Enable() error
	// Disable detaches the programs, and keeps them loaded.
	Disable() error
	// Detach takes the probe away for good.
	Detach() error
	// Dump gives the events that the kernel has kept to the handler.
	Dump() (int, error)
	// Open gives what spans of the probe are open, as (key, record).
	Open() ([]starlark.Value, error)
	// Stats gives what the probe has counted since it was attached.
	Stats() (Stats, error)
}

// Stats are the counts of a probe.
type Stats struct {
	Hits int64 // runs of its programs
	Sent int64 // events
	// Lost is how many events and updates did not arrive.
	Lost int64
	// Missed is how many events at most were not seen, because the kernel skipped a run; -1 where it does not count
	// that (before 5.12).
	Missed int64
	Time   int64 // of the runs, in ns
}
