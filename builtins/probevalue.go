package builtins

import (
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// The types behind probe(), event() and span(): Probe, PointValue, Point.

// A Probe is what probe() gives. Until it is loaded it is only a declaration; from then on its methods act on the
// kernel.
type Probe struct {
	// points are the points that were given, still with the functions of the script.
	points []Point
	// name is the text of name=. It is "" without it.
	name string
	// variable is the name that the probe was assigned to. It is "" where it was not assigned.
	variable string
	// pos is the place of the call.
	pos plan.Pos
	// handler, where, kernel and start are the functions that were given for these arguments; nil where none was.
	handler, where, kernel, start *starlark.Function

	// control acts on the probe in the kernel. It is nil until the probe is loaded.
	control ProbeControl
	// keep is how many events the kernel keeps for dump(). At 0 it sends them as they happen.
	keep int
	// Disabled is set where the script has disabled the probe before it was loaded. It is then loaded and not attached.
	// It does not change any more once the probe is loaded.
	Disabled bool

	// off is what Off says.
	off string
}

// A pointMaker makes each PointValue into one plan.Point, for one plan: c gives functions, and seen has what was made
// so far.
type pointMaker struct {
	// c gives the compiler's view of the functions in points.
	c Capturer
	// seen are the points of the plan that were made so far: a span in several probes is one span.
	seen map[*PointValue]plan.Point
}

// A PointValue is an event, span or first() as scripts hold it. It does not change after the call that made it.
type PointValue struct {
	// kind is "event", "span" or "first". It says which of the other fields there are.
	kind string
	// arms are the points of an event with their functions.
	arms []arm
	// doc is the text of doc= of an event.
	doc string
	// start are the points at which a span begins.
	start []Point
	// end are the points at which a span ends.
	end []Point
	// startKey and endKey give the key of a span at its start and at its end. They are nil where starts and ends are
	// paired by thread.
	startKey, endKey *starlark.Function
	// again says which of several starts of a span counts, "first" or "last".
	again string
	// size is how many starts of a span can be open at a time, 0: the default.
	size int
	// timeout is the age in ns from which a start of a span has no end any more. It is 0 for none.
	timeout int64
	// alts are the alternatives of first(), in their order.
	alts []Point
	// pos is the place of the call.
	pos plan.Pos
	// env is what the builtins of the script share.
	env *Env
}

// A Point is a point as scripts hold it: a pattern, or a PointValue.
type Point struct {
	// pattern is what was written as text. It is nil where value is set.
	pattern *plan.Pattern
	// value is an event, a span or a first(). It is nil where pattern is set.
	value *PointValue
}

// An arm is one pair of the arguments of event(): points, and the function that makes the event of theirs.
type arm struct {
	// points are where the event happens.
	points []Point
	// fn makes the event of theirs. It is nil where theirs is the event.
	fn *starlark.Function
}

// A Capturer gives the compiler's view of functions. It remembers them: the
// same function gives the same Func.
type Capturer interface {
	// Func gives a function as the compiler sees it: its syntax tree, with the values of what it captured.
	Func(fn *starlark.Function) *plan.Func
	// Value gives any other value as the compiler sees it.
	Value(v starlark.Value) plan.Value
}

// A ProbeControl acts on a loaded probe. The session implements it.
type ProbeControl interface {
	// Enable attaches the programs of a probe that was disabled. The error says what the kernel refused.
	Enable() error
	// Disable detaches the programs, and keeps them loaded.
	Disable() error
	// Detach takes the probe away for good.
	Detach() error
	// Dump gives the events that the kernel has kept to the handler, and gives their number.
	Dump() (int, error)
	// Open gives what spans of the probe are open, as (key, record).
	Open() ([]starlark.Value, error)
	// Stats gives what the probe has counted since it was loaded, whether it was attached all the time or not. It is an
	// error where the kernel does not count runs, which needs 5.8 and CAP_SYS_ADMIN.
	Stats() (Stats, error)
}

// Stats are the counts of a probe since it was loaded.
type Stats struct {
	// Hits is how often its programs have run.
	Hits int64
	// Sent is how many events were delivered.
	Sent int64
	// Lost is how many events and updates did not arrive.
	Lost int64
	// Missed is how many events at most were not seen, because the kernel skipped a run. It is -1 where the kernel does
	// not count that (before 5.12).
	Missed int64
	// Time is how long the runs took together, in ns.
	Time int64
}
