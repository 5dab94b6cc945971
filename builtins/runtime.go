package builtins

import (
	"fmt"
	"io"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
)

// A Runtime is what a run does for its script. The session implements it.
// Times are CLOCK_MONOTONIC in ns, as e.time is.
type Runtime interface {
	// Every calls fn each d, and once more at the end for the last part.
	Every(d time.Duration, fn starlark.Callable) error
	// After calls fn once.
	After(d time.Duration, fn starlark.Callable) error
	// AtExit calls fn when the run ends, in the order of declaration.
	AtExit(fn starlark.Callable) error
	// Exit ends the run after the current callback.
	Exit(code int)
	// Out takes what print and printf write: a whole line or a part of one.
	Out() io.Writer
	// Announce tells on standard error what is being done, and what will end it.
	Announce(text string)
	// Now is the time.
	Now() int64
	// EventTime is the time of the event that is being delivered; false
	// outside of handlers.
	EventTime() (int64, bool)
	// Wall gives the wall-clock time of a monotonic time.
	Wall(monotonic int64) time.Time
	// Show prints an aggregation, table or other value as a report.
	Show(v starlark.Value, o ShowOptions) error
	// Columns makes a printer of rows: names and printf formats of one verb.
	Columns(names, formats []string) (func(row []format.Arg) error, error)
}

// ShowOptions are the options of show().
type ShowOptions struct {
	Top  int    // rows; 0 for all
	Sort string // column; "" for the usual order
	// Percent adds each row's share of the sum.
	Percent bool
	Screen  bool // on a terminal: clear it first
}

// An ExitError unwinds a script after exit(); it is no failure. Code is what exit() was given.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit(%d)", e.Code) }
