// Package changes follows what changes on the machine while a run goes on, so that the run goes on to see what it was
// asked for: modules that are loaded, files of programs that are replaced, CPUs that come and go, and the cgroup that
// is made anew.
//
// Each of them is heard of on a goroutine of its own, which puts it into an inbox and wakes the run. The run takes it
// in its next turn (Grow, Follow), attaches what is new and says so:
//
//	CPU 3 came online: attached profile:99hz there
package changes

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
)

// Modules that are loaded during a run, how long it waits for them (`liveWait`), and the message that probes were
// attached again.

// Growth is there while probes of a script or a prompt can get points: those that
// its patterns match in modules that are loaded later, or again, those that wait
// for a module, and those in files of programs that are replaced (files.go). They
// are compiled as a part of their own, which has the containers of the first.
type Growth struct {
	// loader has the parts, and loads new ones.
	loader *loading.Loader
	// watch hears of modules. It is nil where this process may not hear of them.
	watch *kernel.ModuleWatch
	// gone are the probes that the prompt has replaced, by number. It is nil where a script runs.
	gone map[int]bool
	// modules are the names of modules that were announced since grow was called last.
	modules inbox[string]
	// files are the files of programs in which probes are.
	files files
}

// NewGrowth hears of what is loaded or replaced from here on.
func NewGrowth(l *loading.Loader, gone map[int]bool) *Growth {
	g := &Growth{loader: l, gone: gone, modules: inbox[string]{bell: l.Run.Bell}, files: files{loader: l}}
	watch, err := kernel.WatchModules()
	if err != nil { // as where there is no network
		l.Run.Messages.Verbosef("startrace: %v: probes get no points of modules that are loaded later, or again", err)
		return g
	}
	g.watch = watch
	go g.modules.fill(watch.Next)
	return g
}

// Hears reports whether points of modules can come.
func (g *Growth) Hears() bool { return g != nil && g.watch != nil }

// Close ends the watches.
func (g *Growth) Close() error {
	err := g.files.close()
	if g.watch != nil {
		err = errors.Join(err, g.watch.Close())
	}
	return err
}

// Grow attaches what modules that have been loaded bring, and what is in files that have been replaced.
func (g *Growth) Grow() {
	if g == nil {
		return
	}
	g.renewFiles()
	modules := g.modules.take()
	if len(modules) == 0 {
		return
	}
	g.awaitLive(modules)
	slices.Sort(modules)
	modules = slices.Compact(modules)
	if err := errors.Join(g.renew(modules), g.loadLate()); err != nil {
		g.loader.Run.Messages.Lackf("startrace: module %s: %v", strings.Join(modules, ", "),
			mistake.Tidy(g.loader.Run.Machine.WithCause(err)))
	}
}

// renew attaches again what stood in modules that are not loaded for the first
// time.
func (g *Growth) renew(modules []string) error {
	var errs []error
	for _, p := range g.loader.Run.Parts.All {
		for _, m := range modules {
			renewed, err := p.Loaded.Renew(m)
			errs = append(errs, err)
			for _, probe := range slices.Sorted(maps.Keys(renewed)) {
				g.loader.Run.Messages.Sayf("%s: attached again at %s of module %s, which was unloaded",
					p.Plan.ProbeName(probe), format.Count(renewed[probe], "point"), m)
			}
		}
	}
	return errors.Join(errs...)
}

// liveWait is how long the code with which a module begins may run before its
// points are looked for.
const liveWait = 2 * time.Second

// awaitLive waits until modules are loaded to the end: only then has the kernel
// trampolines for their functions (btf_try_get_module, kernel/bpf/btf.c).
func (g *Growth) awaitLive(modules []string) {
	const pause = 2 * time.Millisecond
	until := time.Now().Add(liveWait)
	facts := g.loader.Run.Machine.Facts()
	for _, m := range modules {
		for m != "" && facts.ModuleState(m) == kernel.ModuleComing && time.Now().Before(until) {
			time.Sleep(pause)
		}
	}
}

// loadLate makes parts of the points that there are now and that no part has.
func (g *Growth) loadLate() error {
	host := g.loader.Run.Host
	defer host.Recapture(host.Captured())
	g.loader.Run.Machine.Again()
	var errs []error
	for _, p := range slices.Clone(g.loader.Run.Parts.All) {
		if grown := g.planOf(p, infer.Grows); !p.Late && len(grown.Probes) > 0 {
			host.Recapture(p.Captured)
			errs = append(errs, g.load(&parts.Part{Plan: grown, Late: true}))
		}
	}
	return errors.Join(errs...)
}

// load loads the part with the new points, and says how many points each probe has got.
func (g *Growth) load(p *parts.Part) error {
	if err := g.loader.Load(p); err != nil {
		return err
	}
	for _, probe := range p.Plan.Probes {
		if n := p.Points(probe.ID); n > 0 {
			g.loader.Run.Messages.Sayf("%s: %s more", probe.Name, format.Count(n, "point"))
		}
	}
	return nil
}

// planOf is the plan of the probes of a part that can get points, as grows says of a plan.
func (g *Growth) planOf(p *parts.Part, grows func(*plan.Plan) bool) *plan.Plan {
	out := *p.Plan
	out.Probes, out.Containers = nil, nil
	for _, c := range g.loader.Run.Host.Env().Containers() { // at the prompt there can be more by now
		out.Containers = append(out.Containers, c.Decl())
	}
	for _, probe := range p.Plan.Probes {
		one := plan.Plan{Probes: []*plan.Probe{probe}}
		if grows(&one) && !g.gone[probe.ID] {
			out.Probes = append(out.Probes, probe)
		}
	}
	return &out
}
