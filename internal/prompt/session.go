package prompt

import (
	"os"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/starlark/script"
)

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

	// PointWords and FieldWords complete points and fields of events.
	PointWords(typed string) (words, shown []string)
	FieldWords(points, path []string) []string
}

// Probes attaches what was declared, and knows what became of it.
type Probes interface {
	// Attach attaches the probes from number first on, in the place of others.
	// If that fails all is as it was.
	Attach(first int, replaced []int, quiet bool) error
	// Gone reports whether a probe has been replaced or detached for good,
	// Loaded whether it is in the kernel, Attached whether it is not disabled.
	Gone(probe int) bool
	Loaded(probe int) bool
	Attached(probe int) bool
	Points(probe int) int
	Stats(probe int) (builtins.Stats, error)
}

// Command is the command of -c.
type Command interface {
	// Command is its name, "" for none.
	Command() string
	HoldCommand(streams *procs.Streams) error
	HoldCommandAgain(streams *procs.Streams) error
	RunCommand() error
	Held() bool
	Released() bool
	CommandEnded() (status int, ended bool)
}

// EventLoop delivers events and calls timers, between two chunks and while one
// waits.
type EventLoop interface {
	Open() error
	Begin() error
	Turn() error
	Wait() error
	WakeIn(d time.Duration) (moment uint64)
	InCallback() bool
	// Over reports whether the run is to end.
	Over() bool
	// AsScript says that nothing more will be typed.
	AsScript()
	Finish(err error, strict bool) (exit int, ended error)
	Close()

	// The following may be called by any goroutine.

	Signals() <-chan os.Signal
	Wake()
	End() (again bool)
	Abort()
}

// Output shows values and says what happens.
type Output interface {
	Show(v starlark.Value) error
	Print(text string)
	Messagef(msg string, args ...any)
	Report(err error)
	// Flush writes what was printed; while eager is set, all at once.
	Flush(eager bool)
	// List prints what can be probed.
	List(pattern string) error
}
