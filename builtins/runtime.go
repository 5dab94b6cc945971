package builtins

import (
	"fmt"
	"io"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
)

// Runtime, what a run does for its script: every, after, exit, show.

// A Runtime is what a run does for its script. The session implements it.
// Times are CLOCK_MONOTONIC in ns, as e.time is.
type Runtime interface {
	// Every calls fn each d, and once more at the end for the last part. It is an error from a function of at_exit, as
	// with After and AtExit.
	Every(d time.Duration, fn starlark.Callable) error
	// After calls fn once, when d is over. What is set before tracing begins counts from when it begins.
	After(d time.Duration, fn starlark.Callable) error
	// AtExit calls fn when the run ends, in the order of declaration.
	AtExit(fn starlark.Callable) error
	// Exit ends the run after the current callback.
	Exit(code int)
	// Out takes what print and printf write: a whole line or a part of one.
	Out() io.Writer
	// Announce tells on standard error what is being done, and what will end it.
	Announce(text string)
	// Now is the time, in ns of CLOCK_MONOTONIC.
	Now() int64
	// EventTime is the time of the event that is being delivered, in ns. The second result is false outside of
	// handlers.
	EventTime() (int64, bool)
	// Wall gives the time of day of a moment, which is in ns of CLOCK_MONOTONIC.
	Wall(monotonic int64) time.Time
	// Show prints an aggregation, table or other value as a report.
	Show(v starlark.Value, o ShowOptions) error
	// Columns makes a printer of rows, by the names of the columns and a printf format of one verb for each. The error
	// says which format is wrong.
	Columns(names, formats []string) (func(row []format.Arg) error, error)
}

// ShowOptions are the options of show().
type ShowOptions struct {
	// Top is how many rows are shown at most; 0 for all.
	Top int
	// Sort is the name of the column by which rows are sorted; "" for the usual order.
	Sort string
	// Percent adds each row's share of the sum.
	Percent bool
	// Screen clears a terminal before.
	Screen bool
	// Room is an error where there is no room for so many bytes of a table.
	Room func(bytes uint64) error
}

// An ExitError unwinds a script after exit(); it is no failure. Code is what exit() was given.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit(%d)", e.Code) }
