package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/twins"
)

// Settings are what the command's own flags say.
type Settings struct {
	// Code are the lines of -e, in their order; nil: there is a file, or the prompt.
	Code []string
	// Command is the text of -c, "" for none.
	Command string
	// PIDs are the processes of -p, nil for none; Follow traces what these start, too (-f).
	PIDs   []int
	Follow bool
	// Cgroup, Container and User are what else processes must be, "" for anything: --cgroup, --container, --user.
	Cgroup, Container, User string
	// Duration is how long to trace, 0: until something else ends the run.
	Duration time.Duration
	// Drain is how long the end may take, 0: defaultDrain.
	Drain time.Duration
	// Memory is the budget in bytes, 0: memory.Default.
	Memory uint64
	// Output is the file of -o, "" for standard output.
	Output string
	// Format is the word of --format, "" for text.
	Format string
	// Guard: no cell of CSV is a formula to spreadsheets (--csv-guard).
	Guard bool
	// Quiet leaves out messages (-q), Verbose adds some (-v).
	Quiet   bool
	Verbose bool
	// StrMax is the limit of captured strings in bytes, 0: the default.
	StrMax int
	Check  bool // verify the compiler's passes
	// What scripts may do outside of themselves.
	AllowWrite []string // folders
	// AllowRun lets it run commands.
	AllowRun bool
	Unsafe   bool // change what is traced
	// Exact lets no program miss calls because the kernel preempts it (--exact).
	Exact bool
}

// TakeMemory takes the size of --memory.
func (s *Settings) TakeMemory(w flags.Word) (err error) {
	if s.Memory, err = memory.Parse(w.Value); err != nil {
		return fmt.Errorf("--memory: %w", err)
	}
	return nil
}

// Options is all that a run gets from the command line.
type Options struct {
	Settings
	// Args is what follows the flags: the file or tool unless there is Code,
	// then the arguments of the script, among them flags of either.
	Args []string
	// Own are startrace's own flags, which may stand behind the file, too, among
	// those of the script; nil: there are none.
	Own func(*Settings) *flags.Set

	// Stdout gets results, Stderr messages.
	Stdout, Stderr io.Writer
	// Stdin is what the prompt reads, or the script -.
	Stdin *os.File
	// Signals ends the run, a second one at once.
	Signals <-chan os.Signal
	// Kernel is the one to compile for, for Verify; nil: the running one.
	Kernel *kernel.Options
	// Twins is for tests: handlers run on both sides.
	Twins *twins.Twins
}

// The exit codes of the command.
const (
	Done   = 0
	Failed = 1
	Usage  = 2
	// FailedBeside is Failed where a command of -c has an exit code, too. Programs
	// that run a command have this one: timeout, env, docker run.
	FailedBeside = 125
)
