package prompt

import (
	"os"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/starlark/script"
)

// Session, the interface by which the prompt reaches the run.

// A Session is what the prompt needs of the run whose script is typed. It is
// a session.Live.
type Session interface {
	// Host runs what is typed, and knows its names.
	Host() *script.Host
	// Guarded calls f, of which a panic is an error.
	Guarded(f func() error) error

	Probes
	Command
	EventLoop
	Output

	// PointWords are the points that could follow what is typed of one. shown are those that a pattern matches.
	PointWords(typed string) (words, shown []string)
	// FieldWords are the fields of an event of one of the points, or of the part of it that a path leads to.
	FieldWords(points, path []string) []string
}

// Probes attaches what was declared, and knows what became of it.
type Probes interface {
	// Attach attaches the probes from number first on, in the place of others.
	// If that fails all is as it was.
	Attach(first int, replaced []int, quiet bool) error
	// Gone reports whether a probe has been replaced or detached for good.
	Gone(probe int) bool
	// Loaded reports whether a probe is in the kernel.
	Loaded(probe int) bool
	// Attached reports whether a probe is in the kernel and not disabled.
	Attached(probe int) bool
	// Points is at how many points a probe stands.
	Points(probe int) int
	// Stats is what a probe has counted since it was attached.
	Stats(probe int) (builtins.Stats, error)
}

// Command is the command of -c.
type Command interface {
	// Command is its name, "" for none.
	Command() string
	// HoldCommand starts the command up to where it waits for RunCommand.
	HoldCommand(streams *procs.Streams) error
	// HoldCommandAgain starts the command once more. All probes follow the new process from then on.
	HoldCommandAgain(streams *procs.Streams) error
	// RunCommand lets the command go on that waits.
	RunCommand() error
	// Held reports whether the command waits.
	Held() bool
	// Released reports whether the command has been let go on.
	Released() bool
	// CommandEnded reports whether the command has ended, and with which exit status.
	CommandEnded() (status int, ended bool)
}

// EventLoop delivers events and calls timers, between two chunks and while one
// waits.
type EventLoop interface {
	// Open checks the flags of the run and opens its output.
	Open() error
	// Begin starts the clock of the run.
	Begin() error
	// Turn delivers the events that came, and calls the timers that are due.
	Turn() error
	// Settled reports whether all that was recorded until the last turn has been delivered.
	Settled() bool
	// Wait sleeps until the next timer, or until Wake.
	Wait() error
	// WakeIn ends a Wait after a time. moment is when that is, in ns of CLOCK_MONOTONIC.
	WakeIn(d time.Duration) (moment uint64)
	// InCallback reports whether a function of the script is being called.
	InCallback() bool
	// Over reports whether the run is to end.
	Over() bool
	// AsScript says that nothing more will be typed.
	AsScript()
	// Finish ends the run, with what went wrong in the loop. Where strict is set, an error that was reported makes exit
	// that of a failure.
	Finish(err error, strict bool) (exit int, ended error)
	// Close gives back what the run holds.
	Close()

	// The following may be called by any goroutine.

	// Signals are those that were sent to the process.
	Signals() <-chan os.Signal
	// Wake ends a Wait.
	Wake()
	// End asks for the end in order. again reports whether that was asked for before.
	End() (again bool)
	// Abort ends the process at once.
	Abort()
}

// Output shows values and says what happens.
type Output interface {
	// Show prints a value as show() does.
	Show(v starlark.Value) error
	// Print prints a text as it is, among the results.
	Print(text string)
	// Messagef tells the user something that is no result.
	Messagef(msg string, args ...any)
	// Report prints an error as a message.
	Report(err error)
	// Flush writes what was printed; while eager is set, all at once.
	Flush(eager bool)
	// List prints what can be probed.
	List(pattern string) error
}
