// Package loading brings plans into the kernel: it compiles a part, loads its maps and programs, has it bound to the
// script and the run, and attaches its probes.
//
// A run does this once for a script, the prompt for each chunk, and package changes for points that come later:
//
//	Load(part)   compiled in 2.1 ms        Compile: infer, then bpfgen
//	             loaded in 3.4 ms          attach.Load; the part is among Parts from here on
//	             binders, in their order   names, containers, spans, where records go, the ring
//	             attached in 1.2 ms        from here on events come
package loading

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/callcount"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/stream"
)

// A part is loaded, bound and attached; what -v says of that (compiled in, attached in), and notes about points and
// sessions that were left out.

// A Loader brings plans into the kernel, as long as the run can get probes.
type Loader struct {
	*compiler
	// Binders connect a part that is loaded with the script and the run. They are called in this order before anything
	// of the part is attached.
	Binders []func(*parts.Part) error
	// Ready is called when a part is loaded and bound and is about to be attached. It is nil where nobody waits for
	// that.
	Ready func(*parts.Part) error
}

// New makes what loads the parts of a run.
func New(run Needs) *Loader { return &Loader{compiler: &compiler{Run: run}} }

// Load compiles the plan of a part, loads it and attaches it. Without probes
// nothing of the kernel is touched.
func (l *Loader) Load(p *parts.Part) error {
	begin := time.Now()
	if err := l.make(p); err != nil || p.Late && len(p.Unit.Tree.Programs) == 0 {
		return err
	}
	l.freeze(p)
	if err := l.Run.Unwanted(); err != nil {
		return err
	}
	compiled := time.Now()
	attach.RaiseMemlock() // the command of -c, which keeps its own limit, waits already
	if err := l.Run.Fit(); err != nil {
		return err
	}
	if err := l.load(p); err != nil {
		return l.NameScript(err)
	}
	if err := l.Run.Fit(); err != nil {
		return errors.Join(err, p.Loaded.Close())
	}
	l.Run.Parts.Add(p)
	for _, bind := range l.Binders {
		if err := bind(p); err != nil {
			return err
		}
	}
	loaded := time.Now()
	if err := l.attach(p); err != nil {
		return placed(p, err)
	}
	l.sayRefused(p)
	l.Run.Messages.Verbosef("compiled in %s, loaded in %s, attached in %s",
		millis(compiled.Sub(begin)), millis(loaded.Sub(compiled)), millis(time.Since(loaded)))
	return nil
}

// millis is for messages.
func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// load loads a part. Where the verifier does not follow a program with loops that are written out, it is compiled anew
// with loops that are not.
func (l *Loader) load(p *parts.Part) (err error) {
	for {
		if p.Loaded, err = attach.Load(p.Unit, l.Options(p)); err == nil || !p.RollMore(err) {
			return err
		}
		again, refused := l.infer(p)
		if refused == nil {
			again, refused = l.generate(p, again, explain.Stages{})
		}
		if refused != nil { // a loop must be written out
			return err
		}
		p.Result = again
		l.know(p)
	}
}

// make compiles a part, and lets the script know what is known of it now.
func (l *Loader) make(p *parts.Part) error {
	err := l.Run.Aside(func() error {
		result, err := l.Compile(p, explain.Stages{})
		if err == nil {
			p.Result = result
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Captured = l.Run.Host.Captured()
	for _, w := range p.Result.Waits {
		l.Run.Messages.Sayf("%s: waits for module %s", w.Point, w.Module)
	}
	l.know(p)
	return nil
}

// know lets the script know what became of a part.
func (l *Loader) know(p *parts.Part) {
	env := l.Run.Host.Env()
	env.Traced.Own(p.Result.Tree.Texts())
	for id, parts := range p.Result.KeyParts {
		env.Containers()[id].SetKeyParts(parts)
	}
}

// Options are what loading cannot know by itself.
func (l *Loader) Options(p *parts.Part) attach.Options {
	facts := l.Run.Machine.Facts()
	return attach.Options{TracepointID: l.Run.Machine.TracepointID, Features: facts.Features,
		ReturnsAsEntries: facts.ReturnsAsEntries, Tracefs: facts.TracefsPath,
		Drain: func() error { return l.Run.Drain(p) }, Stop: l.Run.Unwanted, Shared: l.Common.Maps,
		Replaces: l.Ready != nil, LoadedAt: l.loadedAt, InGroup: memory.InGroup, Fit: l.Run.Fit, Calls: l.calls}
}

// calls says whose system calls are counted beside programs. Perf knows no users, and has another idea of groups.
func (l *Loader) calls() (of callcount.Scope, known bool) {
	cgroup, user := l.Run.Target.Passing()
	of = callcount.Scope{Self: os.Getpid(), Held: l.Run.Target.Held()}
	of.PIDs, of.Follow = l.Run.Target.Members()
	return of, cgroup.ID == 0 && user == nil
}

// KeepTypes makes later parts know the types of containers.
func (l *Loader) KeepTypes(p *parts.Part) error {
	if l.Common.Types != nil {
		l.Common.Types.Add(p.Result)
	}
	return nil
}

// BindStacks opens the table of stacks of a part, and makes the kernel tell what
// processes map, if addresses of theirs will be named.
func (l *Loader) BindStacks(p *parts.Part) error {
	frames := l.Run.Frames
	frames.Kernel.Forget()
	if p.Unit.Tree.KernelStacks || l.Run.Host.Sources().Names("ksym") {
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

// NamesProcesses reports whether addresses of processes will be named for a part.
func (l *Loader) NamesProcesses(p *parts.Part) bool {
	return p.Unit.Tree.UserStacks || l.Run.Host.Sources().Names("usym")
}

// readLines lets the lines of the source be found, where a script asks frames for them.
func (l *Loader) readLines(frames *stacks.Names) {
	sources, of := l.Run.Host.Sources(), &frames.Processes
	of.Expand = of.Expand || sources.Names("inlined")
	of.Lines = of.Lines || of.Expand || sources.Names("line") || sources.Names("file")
}

// listen makes the kernel tell what processes map, from the first part on for which addresses of processes are named.
func (l *Loader) listen(p *parts.Part, frames *stacks.Names) {
	if frames.Processes.Hears() || !l.NamesProcesses(p) {
		return
	}
	band, err := l.Run.Target.Band()
	if err != nil {
		l.Run.Messages.Verbosef("startrace: processes that end within milliseconds may have addresses for names: %v",
			err)
		return
	}
	frames.Processes.Hear(band)
}

// Follow tells the programs whom to follow.
func (l *Loader) Follow(p *parts.Part) error {
	if _, ended := l.Run.Target.CommandEnded(); ended {
		return nil
	}
	return p.Follow(append([]int{p.Plan.Target.PID}, p.Plan.Target.Also...)...)
}

// followStarted tells the programs of what the followed processes have started
// before. Those that follow run by then: what a process starts from where it is in
// the table is in it, too, and what it started before is found once more.
func (l *Loader) followStarted(p *parts.Part) error {
	if p.Result.Follow < 0 || l.Run.Target.Started() {
		return nil
	}
	if err := attach.AttachFollowing(p.Loaded); err != nil {
		return err
	}
	met := map[int]bool{}
	for again := true; again; {
		again = false
		for _, pid := range l.Run.Target.Descendants() {
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

// OpenRing maps the ring if some program sends records, or news of processes
// with new stacks.
func (l *Loader) OpenRing(p *parts.Part) (err error) {
	m := p.Loaded.Map(bpfgen.MapRing)
	switch {
	case m == nil && !p.Sends():
		return nil
	case m == nil:
		return errors.New("the unit has records but no ring")
	}
	if first := l.Run.Bell.Reader(); first != nil {
		p.Reader, err = first.Beside(m)
	} else if p.Reader, err = stream.NewReader(m); err == nil {
		l.Run.Bell.SetReader(p.Reader)
	}
	return err
}

// attach attaches the probes, except those that the script has disabled.
func (l *Loader) attach(p *parts.Part) error {
	if err := l.Run.Target.Ready(); err != nil {
		return err
	}
	if err := l.followStarted(p); err != nil {
		return err
	}
	if l.Ready != nil {
		if err := l.Ready(p); err != nil {
			return err
		}
	}
	probes := l.Run.Host.Env().Probes()
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

// SayAttached says how many probes a part has, and at how many points.
func (l *Loader) SayAttached(p *parts.Part) {
	probes, points := len(p.Plan.Probes), 0
	for _, n := range p.Result.Points {
		points += n
	}
	at := ""
	if points != probes {
		at = " at " + format.Count(points, "point")
	}
	l.Run.Messages.Sayf("Attached %s%s", format.Count(probes, "probe"), at)
}

// sayRefused names the places that patterns matched and that the kernel does not let be probed. It also tells where
// two programs run in place of one session, and where the kernel can lose returns without counting them.
func (l *Loader) sayRefused(p *parts.Part) {
	for _, probe := range p.Loaded.NoSessions() {
		l.Run.Messages.Verbosef("%s: no session there: two programs", p.Plan.ProbeName(probe))
	}
	for _, probe := range p.Loaded.FewReturns() {
		instead := ""
		if l.Run.Machine.Facts().Trampolines().There {
			instead = "; fexit:FUNCTION sees all"
		}
		l.Run.Messages.Lackf("startrace: %s: warning: the kernel follows a few calls of a function at a time, "+
			"some for each CPU, and does not say how many more it misses%s", p.Plan.ProbeName(probe), instead)
	}
	const shown = 3
	for _, r := range p.Loaded.Refused() {
		l.Run.Messages.Lackf("startrace: %s: the kernel takes no probe at %s; the others are attached",
			p.Plan.ProbeName(r.Probe), format.Few(r.Places, shown))
	}
}

// An attachError is that of a program that could not be attached, at the place of its probe.
type attachError struct {
	error
	pos plan.Pos // of the probe
}

func (e *attachError) Error() string   { return e.pos.String() + ": " + e.error.Error() }
func (e *attachError) Place() plan.Pos { return e.pos }
func (e *attachError) Unwrap() error   { return e.error }

// placed says by which probe of the script a program could not be attached. What the run may not do has no place, and
// neither has a probe of the library.
func placed(p *parts.Part, err error) error {
	var at *attach.Error
	if !errors.As(err, &at) || at.LacksRights() {
		return err
	}
	for _, probe := range p.Plan.Probes {
		if probe.ID == at.Program.Probe && !plan.OfLibrary(probe.Pos) {
			return &attachError{err, probe.Pos}
		}
	}
	return err
}

// NameScript puts into the report of a program that the kernel refuses which
// script makes it.
func (l *Loader) NameScript(err error) error {
	var rejected *attach.VerifierError
	if errors.As(err, &rejected) {
		if rejected.Script = l.Script; l.Script == "-e" {
			rejected.Script = "-e CODE"
		}
	}
	return err
}

// loadedAt is what the command adds to the addresses of a file, once it has its
// memory.
func (l *Loader) loadedAt(file string) (added uint64, loaded bool, err error) {
	pid, loaded := l.Run.Target.Loaded()
	if !loaded {
		return 0, false, nil
	}
	added, err = binary.LoadedAt(pid, file)
	if errors.Is(err, binary.ErrNotLoaded) {
		err = fmt.Errorf("%w when it begins: only variables of the program that -c names can be watched, not those of "+
			"libraries and of what it starts; trace a running process with -p", err)
	}
	return added, true, err
}
