package session

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/twins"
)

// Settings, the values of the flags of a run; Options; the exit codes Done, Failed and Usage.

// Settings are what the command's own flags say. They hold for the whole run. At the zero value of a field its flag was
// not given.
type Settings struct {
	// Code are the lines of -e, in their order. It is nil where there is a file, or the prompt.
	Code []string
	// Command is the text of -c.
	Command string
	// PIDs are the processes of -p.
	PIDs []int
	// Follow traces what the processes of -p or the command start, too (-f).
	Follow bool
	// Cgroup, Container and User are what else processes must be: --cgroup, --container, --user. "" is anything.
	Cgroup, Container, User string
	// Duration is how long to trace (--duration). At 0 something else ends the run.
	Duration time.Duration
	// Drain is how long the handling of events may take at the end of the run (--drain), 0: defaultDrain.
	Drain time.Duration
	// Memory is the most memory of the run in bytes (--memory), 0: memory.Default.
	Memory uint64
	// Output is the file of -o, "" for standard output.
	Output string
	// Format is the word of --format, "" for text.
	Format string
	// Lines shows lines of the source in stacks (--lines).
	Lines bool
	// Names is the word of --names, "" for short.
	Names string
	// Guard makes no cell of CSV a formula to spreadsheets (--csv-guard).
	Guard bool
	// Addresses keeps stacks apart in results that differ in the addresses within functions (--addresses).
	Addresses bool
	// Quiet leaves out messages (-q).
	Quiet bool
	// Verbose adds some messages (-v).
	Verbose bool
	// StrMax is the limit of captured strings in bytes, 0: the default.
	StrMax int
	// Check verifies what each pass of the compiler has made.
	Check bool
	// AllowWrite are the folders in which scripts may write files.
	AllowWrite []string
	// AllowRun lets scripts run commands.
	AllowRun bool
	// Unsafe lets scripts change what is traced.
	Unsafe bool
	// Exact is about kernels that preempt programs, and skip them for other threads meanwhile. If it is true (--exact),
	// no program misses a call by that. If it is false (--no-exact), any may. Where it is nil, those programs miss none
	// for which that costs little.
	Exact *bool
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
	// Own gives startrace's own flags, which may stand behind the file, too, among those of the script. It is nil where
	// there are none.
	Own func(*Settings) *flags.Set

	// Stdout gets results, and Stderr gets messages.
	Stdout, Stderr io.Writer
	// Waiting gets the message that a script is waited for, where other messages go nowhere; nil: Stderr does.
	Waiting io.Writer
	// Stdin is what the prompt reads, or the script with the name "-".
	Stdin *os.File
	// Signals ends the run: the first in order, the second also the callback that runs, the third at once.
	Signals <-chan os.Signal
	// Kernel is the one to compile for, for Verify. It is nil for the running one.
	Kernel *kernel.Options
	// Twins is for tests: handlers run on both sides, and their containers are compared. It is nil in all other runs.
	Twins *twins.Twins
	// Made is for tests: Verify gives it what it has compiled, and how a run would load that.
	Made func(*bpfgen.Unit, attach.Options) error
}

// The exit codes of the command.
const (
	// Done is that of a run in which all went well, unless exit() or the command of -c gave another.
	Done = 0
	// Failed is that of a run that could not start or go on, or in which a callback failed.
	Failed = 1
	// Usage is that of a mistake in the command line.
	Usage = 2
	// FailedBeside is Failed where a command of -c has an exit code, too. Programs
	// that run a command have this one: timeout, env, docker run.
	FailedBeside = 125
)
