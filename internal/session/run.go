package session

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/changes"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/timers"
)

// Run, a script from the beginning to the exit code (`exitCode`); which rights are given up and when.

// MaybeCommand must be the first call of main: this executable may also be what
// waits to become the command of -c (see package procs).
func MaybeCommand() { procs.MaybeChild() }

// Run runs a script to its end and gives the exit code. An error is what kept
// the run from starting or going on; what callbacks raised has been printed.
func Run(o Options) (exit int, err error) {
	defer Guard(&o, &exit, &err)
	s := newSession(o)
	defer func() {
		if err != nil && exit == Failed {
			exit = s.failure()
		}
	}()
	defer Guard(&s.Options, &exit, &err)
	defer s.close()
	s.watch(o.Signals, func() { s.cancel("interrupted") })
	args, err := s.prepare()
	if err != nil {
		return Failed, mistake.Tidy(err)
	}
	done := boundScript(s.host, s.Duration, s.signals)
	ended, err := s.runScript(args)
	done()
	close(s.declared)
	if err == nil && s.host.Env().Muted { // it ran for its help alone, and there is no run to end
		return 0, nil
	}
	if ended || err != nil {
		return s.finish(err)
	}
	return s.finish(s.trace(s.whole()))
}

// ScriptFlags are the flags that a script or a tool declares, as far as its text
// tells.
func ScriptFlags(o Options, word string) ([]builtins.FlagWord, error) {
	s := newSession(o)
	defer s.close()
	if err := s.parseScript(word); err != nil {
		return nil, err
	}
	return s.host.Flags(), nil
}

// trace loads the probes and delivers events until the run is over.
func (s *session) trace(p *parts.Part) error {
	if err := s.target.Hold(nil); err != nil {
		return err
	}
	if len(p.Plan.Probes) > 0 {
		if err := s.ending.Prepare(func() error { return s.load(p) }); err != nil {
			return err
		}
	}
	s.begin()
	s.target.Ended = func() { s.ending.Ask(false) }
	s.sayAnnounced()
	if err := s.release(); err != nil {
		return err
	}
	s.target.Watch(p.Followed())
	if err := s.loop(); err != nil {
		return err
	}
	if s.target.ProcessEnded() {
		s.messages.Sayf("%s", s.target.SayEnded())
	}
	return nil
}

// load loads all of the script, and gives up what it does not need any more.
func (s *session) load(p *parts.Part) (err error) {
	if p.Plan.Target, err = s.target.OfPlan(); err != nil {
		return err
	}
	if infer.Grows(p.Plan) || infer.InFiles(p.Plan) {
		s.mayGrow(sharing(), nil)
	}
	loaded := s.budget.Pause()
	if err := s.loader.Load(p); err != nil {
		return s.machine.WithCause(err)
	}
	loaded()
	s.budget.Loaded()
	s.host.Env().Declared = true
	s.loader.SayAttached(p)
	if s.growth == nil && p.Loaded.InModules() { // which can be unloaded and loaded again
		s.growth = changes.NewGrowth(s.loader, nil)
	}
	s.dropPrivileges(p)
	return nil
}

// dropPrivileges gives up what is not needed any more.
func (s *session) dropPrivileges(p *parts.Part) {
	if s.attachesLater(p) {
		return
	}
	if err := attach.DropPrivileges(attach.AdminOnCPUs(p.Loaded)); err != nil {
		s.messages.Verbosef("startrace: %v", err) // the run is as able as before
	}
}

// attachesLater reports whether something may be attached later that wants more than what is kept: by a callback, in a
// module, or by perf events in a file that is replaced. Links of uprobes want no more than what they are loaded with.
func (s *session) attachesLater(p *parts.Part) bool {
	inModules := s.growth.Hears() && (infer.Grows(p.Plan) || p.Loaded.InModules())
	inFiles := len(attach.Files(p.Loaded, -1)) > 0 && !s.machine.Facts().Features().UprobeMulti
	return s.host.Sources().Uses("enable") || inModules || inFiles
}

// begin starts the clock of the run: the timers that the script set count
// from here.
func (s *session) begin() {
	now := stream.Now()
	if s.Twins != nil {
		s.timers.Clear() // what they take, user space would have no more
	}
	s.clock.listen()
	s.timers.Begin(now)
	s.begun, s.began = true, now
	if s.Duration > 0 {
		s.ending.After(s.Duration)
		s.timers.Add(&timers.Timer{Deadline: now + uint64(s.Duration), Call: func(uint64) { s.timeUp = true }})
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
	callbacksFailed := s.calls.Report(s.messages.W)
	if err == nil {
		err = s.out.Err()
	}
	if err == nil && s.budget.Over() {
		err = s.budget.Err()
	}
	if err != nil || callbacksFailed {
		return max(s.code, s.failure()), err
	}
	return s.exitCode(), nil
}

// failure is the exit code where something went wrong: with a command, whose own
// code can be 1 as well, one that tells the two apart.
func (s *session) failure() int {
	if s.Command != "" && s.dialogue == nil {
		return FailedBeside
	}
	return Failed
}

// exitCode is that of a run in which all went well: what exit() was given, or the
// command's, if its end was the end of the run.
func (s *session) exitCode() int {
	status, ended := s.target.CommandEnded()
	if !ended || s.dialogue != nil || s.exited || s.timeUp || s.interrupted.Load() || s.endedWithGroup(status) {
		return s.code
	}
	return status
}

// close gives back what the run holds. The kernel takes its time to release
// perf tracepoints; everything has been printed by then.
func (s *session) close() {
	s.budget.Close()
	s.closing(s.clock)
	s.target.Stop()
	s.bell.SetReader(nil)
	for _, p := range slices.Backward(s.loaded.parts.All) {
		if p.Reader != nil {
			s.closing(p.Reader)
		}
	}
	for _, b := range s.loaded.containers.backends {
		s.closing(b)
	}
	s.closing(&s.loaded.spans)
	s.closing(&s.loaded.frames.Processes.Walks)
	s.detach()
	if s.growth != nil {
		s.closing(s.growth)
	}
	s.closing(s.cpus)
	s.closing(s.cgroup)
	if maps := s.loader.Common.Maps; maps != nil {
		s.closing(maps)
	}
	s.closing(s.target.Numbers())
	s.closing(s.machine)
	s.closing(&s.loaded.frames.Processes)
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
		for _, p := range s.loaded.parts.All {
			errs = append(errs, p.Loaded.Close())
		}
	}, func() {
		s.messages.Sayf("All results are printed; the kernel still takes programs off, one after another")
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
