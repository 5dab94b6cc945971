package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/stdlib"
)

// Run runs a script to its end and gives the exit code. An error is what kept
// the run from starting or going on; what callbacks raised has been printed.
func Run(o Options) (exit int, err error) {
	defer Guard(&o, &exit, &err)
	s := newSession(o)
	defer s.close()
	s.watch(o.Signals, func() { s.host.Cancel("interrupted") })
	args, err := s.prepare()
	if err != nil {
		return Failed, mistake.Tidy(err)
	}
	ended, err := s.runScript(args)
	s.declared.Store(true)
	if ended || err != nil {
		return s.finish(err)
	}
	s.makePlan()
	return s.finish(s.trace())
}

func newSession(o Options) *session {
	s := &session{Options: o, outside: newOutside(), wallOffset: wallOffset(), part: &part{}, bound: make(map[int]bool),
		messages: &output.Messages{W: o.Stderr, Quiet: o.Quiet, Verbose: o.Verbose}, out: output.New(o.Stdout),
		machine: machine.Open()}
	s.frames = stacks.New(s.messages)
	s.timerErrors = s.newFailures("timer")
	s.exitErrors = s.newFailures("at_exit")
	s.host = script.New(script.Options{
		Runtime: runtime{s}, Constant: s.machine.Constant, Warn: s.warn, Escape: format.Screen,
		Labels: s.labels(), Enum: s.machine.Enumerators, Number: s.machine.Number, UserSymbol: s.userSymbol,
		Std: stdlib.Files(),
	})
	s.env, s.thread = s.host.Env(), s.host.Thread()
	s.env.Flags.Own = s.ownFlags
	s.labelPoints()
	s.results = results.Known{Containers: s.env.Containers, Keyed: s.keyed}
	s.lines = eventline.Kernel{Tracepoint: s.machine.Tracepoint, Constant: s.machine.EnumValue,
		Symbol: s.frames.Kernel.Name}
	return s
}

// trace loads the probes and delivers events until the run is over.
func (s *session) trace() error {
	if err := s.startCommand(nil); err != nil {
		return err
	}
	if len(s.plan.Probes) > 0 {
		var err error
		if s.plan.Target, err = s.target(); err != nil {
			return err
		}
		s.mayGrow()
		if err := s.load(); err != nil {
			return s.machine.WithCause(err)
		}
		s.sayAttached()
		s.mayRenew()
		s.dropPrivileges()
	}
	s.begin()
	s.sayAnnounced()
	if err := s.releaseCommand(); err != nil {
		return err
	}
	s.watchTarget()
	if err := s.loop(); err != nil {
		return err
	}
	if s.targetEnded.Load() {
		s.messages.Sayf("Process %d has ended", s.PID)
	}
	return nil
}

// dropPrivileges gives up what is not needed any more, unless a callback can
// attach something.
func (s *session) dropPrivileges() {
	if s.host.Uses("enable") || s.growth != nil {
		return
	}
	if err := attach.DropPrivileges(); err != nil {
		s.messages.Verbosef("startrace: %v", err) // the run is as able as before
	}
}

// sayAttached says how many probes there are, and at how many points.
func (s *session) sayAttached() {
	probes, points := len(s.plan.Probes), 0
	for _, n := range s.points {
		points += n
	}
	at := ""
	if points != probes {
		at = " at " + format.Count(points, "point")
	}
	s.messages.Sayf("Attached %s%s", format.Count(probes, "probe"), at)
}

// sayRefused names the places that patterns matched and that cannot be probed,
// and tells where what was meant to be a session is none, and where returns can
// be lost that nobody counts.
func (s *session) sayRefused() {
	for _, probe := range s.loaded.NoSessions() {
		s.messages.Verbosef("%s: no session there: two programs", s.part.plan.ProbeName(probe))
	}
	for _, probe := range s.loaded.FewReturns() {
		instead := ""
		if s.machine.Facts().Trampolines().There {
			instead = "; fexit:FUNCTION sees all"
		}
		s.messages.Sayf("startrace: %s: warning: the kernel follows a few calls of a function at a time, "+
			"some for each CPU, and does not say how many more it misses%s", s.part.plan.ProbeName(probe), instead)
	}
	const shown = 3
	for _, r := range s.loaded.Refused() {
		more := ""
		if n := len(r.Places) - shown; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		s.messages.Sayf("startrace: %s: the kernel takes no probe at %s%s; the others are attached",
			s.part.plan.ProbeName(r.Probe), strings.Join(r.Places[:min(shown, len(r.Places))], ", "), more)
	}
}

// begin starts the clock of the run: the timers that the script set count
// from here.
func (s *session) begin() {
	now := stream.Now()
	if s.Twins != nil {
		s.timers.Clear() // what they take, user space would have no more
	}
	s.timers.Begin(now)
	s.settled = now
	s.begun = true
	if s.Duration > 0 {
		s.timers.Add(&timers.Timer{Deadline: now + uint64(s.Duration), Call: func() { s.timeUp = true }})
	}
}

// finish ends a run that began, in order if it did not fail.
func (s *session) finish(failed error) (int, error) {
	if failed != nil {
		s.out.Flush()
		return Failed, mistake.Tidy(failed)
	}
	err := s.end()
	s.reportLosses()
	callbacksFailed := s.reportFailures(s.messages.W)
	if err == nil {
		err = s.out.Err()
	}
	if err != nil || callbacksFailed {
		return max(s.code, Failed), err
	}
	return s.code, nil
}

// close gives back what the run holds. The kernel takes its time to release
// perf tracepoints; everything has been printed by then.
func (s *session) close() {
	s.stopCommand()
	s.setReader(nil)
	for _, p := range slices.Backward(s.parts) {
		if p.reader != nil {
			s.closing(p.reader)
		}
	}
	for _, b := range s.backends {
		s.closing(b)
	}
	s.closing(&s.spans)
	s.detach()
	if s.live != nil {
		s.closing(&s.live.containers)
	}
	if s.growth != nil {
		s.closing(s.growth)
	}
	s.closing(s.machine)
	s.closing(&s.frames.Processes)
	s.closing(s.out)
}

// patience is how long the end of a run may take before it is explained.
const patience = 3 * time.Second

// detach takes all programs off. Of perf tracepoints the kernel does that under
// one lock and waits each time for all CPUs (perf_trace_event_unreg,
// kernel/trace/trace_event_perf.c), after the results have been printed.
func (s *session) detach() {
	var errs []error
	patiently(patience, func() {
		for _, p := range s.parts {
			errs = append(errs, p.loaded.Close())
		}
	}, func() {
		s.messages.Sayf("The results are complete; the kernel still takes programs off, one after another")
	})
	if err := errors.Join(errs...); err != nil {
		s.messages.Verbosef("startrace: %v", err)
	}
}

// patiently calls work, and why while that takes longer than usual.
func patiently(usual time.Duration, work, why func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(usual):
		why()
		<-done
	}
}

func (s *session) closing(c io.Closer) {
	if err := c.Close(); err != nil && s.Verbose {
		s.messages.Sayf("startrace: %v", err)
	}
}

// millis is for messages.
func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
