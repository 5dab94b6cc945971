package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/startrace/startrace/internal/manual"
)

// Settings are what the command's own flags say.
type Settings struct {
	Code     []string
	Command  string
	PID      int
	Follow   bool
	Duration time.Duration
	Output   string
	Format   string
	Quiet    bool
	Verbose  bool
	StrMax   int
	// What scripts may do outside of themselves.
	AllowWrite []string // folders
	AllowRun   bool
	Unsafe     bool // change what is traced
}

// Options is all that a run gets from the command line.
type Options struct {
	Settings
	// Args is what follows the flags: the file or tool unless there is Code,
	// then the arguments of the script, among them flags of either.
	Args []string
	// Rest reads the arguments that no flag() of the script took.
	Rest func(args []string, s *Settings) error
	// Flags describes the command's flags, for help.
	Flags func() []Flag

	Stdout, Stderr io.Writer
	// Stdin is what the prompt reads, or the script -.
	Stdin *os.File
	// Signals ends the run, a second one at once.
	Signals <-chan os.Signal
	// Twins is for tests: handlers run on both sides.
	Twins *Twins
}

// A Flag is a flag as help shows it.
type Flag = manual.Flag

// The exit codes of the command.
const (
	Done   = 0
	Failed = 1
	Usage  = 2
)

// A UsageError is a mistake in the command line.
type UsageError struct {
	Err error
	Of  string // the tool whose words they are; "" for those of startrace
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// UsageErrorf makes a mistake in the command line.
func UsageErrorf(format string, args ...any) error { return usageErrorf(format, args...) }

func usageErrorf(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}
