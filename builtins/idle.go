package builtins

import (
	"io"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
)

// A runtime for scripts that are only run to see what they declare.

// Idle is the runtime of a script that is run only to see what it declares.
type Idle struct{}

var _ Runtime = Idle{}

func (Idle) Every(time.Duration, starlark.Callable) error { return nil }
func (Idle) After(time.Duration, starlark.Callable) error { return nil }
func (Idle) AtExit(starlark.Callable) error               { return nil }
func (Idle) Exit(int)                                     {}
func (Idle) Out() io.Writer                               { return io.Discard }
func (Idle) Announce(string)                              {}
func (Idle) Now() int64                                   { return 0 }
func (Idle) EventTime() (int64, bool)                     { return 0, false }
func (Idle) Wall(int64) time.Time                         { return time.Time{} }
func (Idle) Show(starlark.Value, ShowOptions) error       { return nil }
func (Idle) Columns(_, _ []string) (func([]format.Arg) error, error) {
	return func([]format.Arg) error { return nil }, nil
}
