package session

import (
	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/target"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/starlark/script"
)

// session is one run.
type session struct {
	Options
	*signals
	// bell wakes the goroutine of the run.
	bell *bell.Bell
	phase
	dialogue *dialogue // nil: a script runs

	// messages takes what is no result.
	messages *output.Messages
	// out collects results.
	out *output.Output
	// machine has facts about the kernel and this machine.
	machine *machine.Machine
	// target is the processes that count.
	target *target.Target
	// results makes tables of values, with what is known of containers besides these.
	results results.Known
	// clock tells the time of day.
	clock *wallClock

	// host runs the script.
	host *script.Host
	// calls runs the functions that the script gave away.
	calls *calls
	// timers are those of every(), after() and --duration.
	timers timers.List
	// announced is what announce() was given before all was attached.
	announced []string

	// loaded is what the run has in the kernel.
	loaded *loaded
	// loader brings plans there.
	loader *loader
	growth *growth // nil: no probe can get points later
	cpus   *cpus   // nil: nothing depends on which CPUs are online
	// delivery brings events from there.
	delivery *delivery
	// budget bounds the memory of the run; nil until the settings are known.
	budget *memory.Budget
	// ending bounds the end of the run.
	ending *ending
}

// phase is how far a run has come.
type phase struct {
	untraced bool   // the script is only looked at: nothing will be loaded
	begun    bool   // tracing has begun
	began    uint64 // when; 0 before
	timeUp   bool   // --duration is over
	exited   bool   // exit() was called
	code     int    // what it was given
	// leaving: the functions of at_exit are being called, after which none is.
	leaving bool
	// cutShort: the run has ended before all events were handled.
	cutShort bool
}

// A dialogue is what a run knows of the prompt at which it is written.
type dialogue struct {
	// stopsLoading reports whether somebody wants no more of what is being loaded.
	stopsLoading func() bool
	taking       bool // what was written runs: its probes are not attached yet
	asScript     bool // nothing more will be written
}
