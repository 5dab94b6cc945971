package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/delivery"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/target"
)

// A loader brings plans into the kernel, as long as the run can get probes.
type loader struct {
	*compiler
	// bell waits on the ring of the first part, beside what else wakes the run.
	bell *bell.Bell
	// target is the processes that count.
	target *target.Target
	// parts gets what was loaded.
	parts *parts.List
	// frames names the addresses of stacks.
	frames *stacks.Names
	// delivery is told where the records of a part go.
	delivery *delivery.Delivery
	// binders connect a part that is loaded with the script and the run. They are called in this order before anything
	// of the part is attached.
	binders []func(*parts.Part) error
	// aside does work that takes long (session.aside).
	aside func(work func() error) error
	// ready is called when a part is loaded and bound and is about to be attached. It is nil where nobody waits for
	// that.
	ready func()
}

// load compiles the plan of a part, loads it and attaches it. Without probes
// nothing of the kernel is touched.
func (l *loader) load(p *parts.Part) error {
	begin := time.Now()
	if err := l.make(p); err != nil || p.Late && len(p.Unit.Tree.Programs) == 0 {
		return err
	}
	l.freeze(p)
	if err := l.unwanted(); err != nil {
		return err
	}
	compiled := time.Now()
	attach.RaiseMemlock() // the command of -c, which keeps its own limit, waits already
	var err error
	if p.Loaded, err = attach.Load(p.Unit, l.options(p)); err != nil {
		return l.nameScript(err)
	}
	l.parts.Add(p)
	for _, bind := range l.binders {
		if err := bind(p); err != nil {
			return err
		}
	}
	if l.ready != nil {
		l.ready()
	}
	loaded := time.Now()
	if err := l.attach(p); err != nil {
		return placeCrowd(p, err)
	}
	l.sayRefused(p)
	l.messages.Verbosef("compiled in %s, loaded in %s, attached in %s",
		millis(compiled.Sub(begin)), millis(loaded.Sub(compiled)), millis(time.Since(loaded)))
	return nil
}

// millis is for messages.
func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// make compiles a part, and lets the script know what is known of it now.
func (l *loader) make(p *parts.Part) error {
	err := l.aside(func() error {
		result, err := l.compile(p, explain.Stages{})
		if err == nil {
			p.Result = result
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Captured = l.host.Captured()
	env := l.host.Env()
	env.Traced.Own(p.Result.Tree.Texts())
	for _, w := range p.Result.Waits {
		l.messages.Sayf("%s: waits for module %s", w.Point, w.Module)
	}
	for id, parts := range p.Result.KeyParts {
		env.Containers()[id].SetKeyParts(parts)
	}
	return nil
}

// options are what loading cannot know by itself.
func (l *loader) options(p *parts.Part) attach.Options {
	facts := l.machine.Facts()
	return attach.Options{TracepointID: l.machine.TracepointID, Features: facts.Features,
		ReturnsAsEntries: facts.ReturnsAsEntries, Tracefs: facts.TracefsPath,
		Drain: func() error { return l.delivery.DrainList(p) }, Stop: l.unwanted, Shared: l.common.maps,
		LoadedAt: l.loadedAt}
}

// keepTypes makes later parts know the types of containers.
func (l *loader) keepTypes(p *parts.Part) error {
	if l.common.types != nil {
		l.common.types.Add(p.Result)
	}
	return nil
}

// bindStacks opens the table of stacks of a part, and makes the kernel tell what
// processes map, if addresses of theirs will be named.
func (l *loader) bindStacks(p *parts.Part) error {
	frames := l.frames
	frames.Kernel.Forget()
	if p.Unit.Tree.KernelStacks || l.host.Sources().Names("ksym") {
		frames.Kernel.Read()
	}
	l.readLines(frames)
	l.listen(p, frames)
	l.walk(p, frames)
	if m := p.Loaded.Map(tree.MapStacks); m != nil {
		p.Stacks = frames.Add(m, p.Unit.Tree.Programs)
	}
	return nil
}

// namesProcesses reports whether addresses of processes will be named for a part.
func (l *loader) namesProcesses(p *parts.Part) bool {
	return p.Unit.Tree.UserStacks || l.host.Sources().Names("usym")
}

// readLines lets the lines of the source be found, where a script asks frames for them.
func (l *loader) readLines(frames *stacks.Names) {
	sources, of := l.host.Sources(), &frames.Processes
	of.Expand = of.Expand || sources.Names("inlined")
	of.Lines = of.Lines || of.Expand || sources.Names("line") || sources.Names("file")
}

// listen makes the kernel tell what processes map, from the first part on for which addresses of processes are named.
func (l *loader) listen(p *parts.Part, frames *stacks.Names) {
	if frames.Processes.Hears() || !l.namesProcesses(p) {
		return
	}
	band, err := l.target.Band()
	if err != nil {
		l.messages.Verbosef("startrace: processes that end within milliseconds may have addresses for names: %v", err)
		return
	}
	frames.Processes.Hear(band)
}

// follow tells the programs whom to follow.
func (l *loader) follow(p *parts.Part) error {
	if _, ended := l.target.CommandEnded(); ended {
		return nil
	}
	return p.Follow(append([]int{p.Plan.Target.PID}, p.Plan.Target.Also...)...)
}

// followStarted tells the programs of what the followed processes have started
// before. Those that follow run by then: what a process starts from where it is in
// the table is in it, too, and what it started before is found once more.
func (l *loader) followStarted(p *parts.Part) error {
	if p.Result.Follow < 0 || l.target.Started() {
		return nil
	}
	if err := attach.AttachFollowing(p.Loaded); err != nil {
		return err
	}
	met := map[int]bool{}
	for again := true; again; {
		again = false
		for _, pid := range l.target.Descendants() {
			if met[pid] {
				continue
			}
			met[pid], again = true, true
			if err := p.FollowLiving(pid); err != nil {
				return err
			}
		}
	}
	return nil
}

// openRing maps the ring if some program sends records, or news of processes
// with new stacks.
func (l *loader) openRing(p *parts.Part) (err error) {
	m := p.Loaded.Map(bpfgen.MapRing)
	switch {
	case m == nil && !p.Sends():
		return nil
	case m == nil:
		return errors.New("the unit has records but no ring")
	}
	if first := l.bell.Reader(); first != nil {
		p.Reader, err = first.Beside(m)
	} else if p.Reader, err = stream.NewReader(m); err == nil {
		l.bell.SetReader(p.Reader)
	}
	return err
}

// attach attaches the probes, except those that the script has disabled.
func (l *loader) attach(p *parts.Part) error {
	if err := l.target.Ready(); err != nil {
		return err
	}
	if err := l.followStarted(p); err != nil {
		return err
	}
	probes := l.host.Env().Probes()
	disabled := func(probe *plan.Probe) bool { return probes[probe.ID].Disabled }
	if !slices.ContainsFunc(p.Plan.Probes, disabled) {
		return p.Loaded.Attach()
	}
	for _, probe := range p.Plan.Probes {
		if disabled(probe) {
			continue
		}
		if err := p.Loaded.AttachProbe(probe.ID); err != nil {
			return err
		}
	}
	return nil
}

// sayAttached says how many probes a part has, and at how many points.
func (l *loader) sayAttached(p *parts.Part) {
	probes, points := len(p.Plan.Probes), 0
	for _, n := range p.Result.Points {
		points += n
	}
	at := ""
	if points != probes {
		at = " at " + format.Count(points, "point")
	}
	l.messages.Sayf("Attached %s%s", format.Count(probes, "probe"), at)
}

// sayRefused names the places that patterns matched and that the kernel does not let be probed. It also tells where
// two programs run in place of one session, and where the kernel can lose returns without counting them.
func (l *loader) sayRefused(p *parts.Part) {
	for _, probe := range p.Loaded.NoSessions() {
		l.messages.Verbosef("%s: no session there: two programs", p.Plan.ProbeName(probe))
	}
	for _, probe := range p.Loaded.FewReturns() {
		instead := ""
		if l.machine.Facts().Trampolines().There {
			instead = "; fexit:FUNCTION sees all"
		}
		l.messages.Sayf("startrace: %s: warning: the kernel follows a few calls of a function at a time, "+
			"some for each CPU, and does not say how many more it misses%s", p.Plan.ProbeName(probe), instead)
	}
	const shown = 3
	for _, r := range p.Loaded.Refused() {
		more := ""
		if n := len(r.Places) - shown; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		l.messages.Sayf("startrace: %s: the kernel takes no probe at %s%s; the others are attached",
			p.Plan.ProbeName(r.Probe), strings.Join(r.Places[:min(shown, len(r.Places))], ", "), more)
	}
}

// A crowdError is a point that has no room for the program of a probe.
type crowdError struct {
	error
	pos plan.Pos // of the probe
}

func (e *crowdError) Error() string   { return e.pos.String() + ": " + e.error.Error() }
func (e *crowdError) Place() plan.Pos { return e.pos }
func (e *crowdError) Unwrap() error   { return e.error }

// placeCrowd says by which probe a point had more programs than it can run.
func placeCrowd(p *parts.Part, err error) error {
	var at *attach.Error
	if !errors.As(err, &at) || !errors.Is(err, unix.E2BIG) {
		return err
	}
	for _, probe := range p.Plan.Probes {
		if probe.ID == at.Program.Probe {
			return &crowdError{err, probe.Pos}
		}
	}
	return err
}

// nameScript puts into the report of a program that the kernel refuses which
// script makes it.
func (l *loader) nameScript(err error) error {
	var rejected *attach.VerifierError
	if errors.As(err, &rejected) {
		if rejected.Script = "-e CODE"; len(l.o.Code) == 0 && len(l.o.Args) > 0 {
			rejected.Script = l.o.Args[0]
		}
	}
	return err
}
