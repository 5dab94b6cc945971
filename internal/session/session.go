package session

import (
	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/callback"
	"github.com/startrace/startrace/internal/changes"
	"github.com/startrace/startrace/internal/delivery"
	"github.com/startrace/startrace/internal/ending"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/target"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/starlark/script"
)

// The type session, what one run has, and its phases.

// session is one run, from newSession to close. A script runs in it (Run), or a prompt writes one while it runs (Live).
type session struct {
	Options
	*signals
	// bell wakes the goroutine of the run.
	bell *bell.Bell
	phase
	// dialogue is what the run knows of its prompt. It is nil where a script runs.
	dialogue *dialogue

	// messages takes what is no result, for standard error.
	messages *output.Messages
	// out collects results until they are written.
	out *output.Output
	// machine has facts about the kernel and this machine.
	machine *machine.Machine
	// target is the processes that count: those of -c, -p and the like.
	target *target.Target
	// results makes tables of values, with what is known of containers besides these.
	results results.Known
	// clock gives the time of day of the times that events have.
	clock *wallClock

	// host runs the script.
	host *script.Host
	// calls runs the functions that the script gave away.
	calls *callback.Calls
	// timers are those of every(), after() and --duration.
	timers timers.List
	// announced is what announce() was given while probes were not attached yet. It is shown, and empty, once they are.
	announced []string

	// loaded is what the run has in the kernel.
	loaded *loaded
	// loader brings plans there.
	loader *loading.Loader
	// growth attaches probes to points that come later. It is nil as long as no probe can get any.
	growth *changes.Growth
	// cpus follows CPUs that go on- and offline.
	cpus *changes.CPUs
	// cgroup follows the cgroup that is traced, if one was asked for.
	cgroup *changes.Cgroup
	// delivery brings events from the kernel to the script.
	delivery *delivery.Delivery
	// budget bounds the memory of the run. It is nil until the settings are known.
	budget *memory.Budget
	// ending bounds how long the end of the run takes.
	ending *ending.Ending
	// naming is how long results wait for the names of addresses.
	naming until.Wait
}

// phase is how far a run has come. What was set stays set, but for code.
type phase struct {
	// untraced is set from the beginning where the script is only looked at: nothing is loaded.
	untraced bool
	// begun is set once tracing has begun: the probes of a script are attached, and timers count from then on.
	begun bool
	// began is the time at which begun was set, in ns of CLOCK_MONOTONIC. It is 0 before.
	began uint64
	// timeUp is set once --duration is over.
	timeUp bool
	// exited is set once exit() was called.
	exited bool
	// code is what exit() was given last. It is 0 before, and where a prompt counts reported errors that of a failure.
	code int
	// leaving is set while the functions of at_exit are called and after that. No other function is called then.
	leaving bool
	// cutShort is set at the end where the run has ended before all events were handled.
	cutShort bool
}

// A dialogue is what a run knows of the prompt at which it is written.
type dialogue struct {
	// stopsLoading reports whether somebody wants no more of what is being loaded.
	stopsLoading func() bool
	// taking is set while what was written runs: its probes are not attached yet.
	taking bool
	// asScript is set once nothing more will be written.
	asScript bool
}
