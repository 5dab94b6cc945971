package session

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/plan"
)

// Probes can get points while a script or a prompt runs: those that its patterns
// match in modules that are loaded later, and those that wait for a module. They
// are compiled as a part of their own, which has the containers of the first.

// growth is what a session has whose probes can get points; nil: they cannot.
type growth struct {
	containers *attach.Shared // at the prompt these two are the prompt's
	fixed      *infer.Types
	watch      *kernel.ModuleWatch
	round      bool // a later part is being made

	mu      sync.Mutex
	modules []string // that have been announced since
}

// mayGrow prepares for modules if a probe of the plan can get points of them, as
// one can that will be typed. What is loaded from here on is heard of.
func (s *session) mayGrow() {
	if s.live != nil || infer.Grows(s.plan) {
		s.watchModules()
	}
}

// mayRenew prepares for modules that are unloaded and loaded again, with probes of
// ours in them.
func (s *session) mayRenew() {
	if s.growth == nil && s.loaded.InModules() {
		s.watchModules()
	}
}

func (s *session) watchModules() {
	watch, err := kernel.WatchModules()
	if err != nil {
		s.messages.Verbosef("startrace: %v: probes get no points of modules that are loaded later, or again", err)
		return // as where there is no network
	}
	s.growth = &growth{watch: watch, containers: &attach.Shared{}, fixed: &infer.Types{}}
	if l := s.live; l != nil {
		s.growth.containers, s.growth.fixed = &l.containers, &l.fixed
		l.fixed.Now = false
	}
	go s.growth.listen(s.wake)
}

// listen runs in a goroutine of its own until the watch is closed.
func (g *growth) listen(wake func()) {
	for {
		name, err := g.watch.Next()
		if err != nil {
			return
		}
		g.mu.Lock()
		g.modules = append(g.modules, name)
		g.mu.Unlock()
		wake()
	}
}

// announced gives the modules that have been announced since the last call.
func (g *growth) announced() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.modules
	g.modules = nil
	return out
}

// Close ends the watch and releases the maps.
func (g *growth) Close() error {
	err := g.watch.Close()
	if closing := g.containers.Close(); err == nil {
		err = closing
	}
	return err
}

// grow attaches what modules that have been loaded bring.
func (s *session) grow() {
	if s.growth == nil {
		return
	}
	modules := s.growth.announced()
	if len(modules) == 0 {
		return
	}
	s.awaitLive(modules)
	slices.Sort(modules)
	modules = slices.Compact(modules)
	if err := errors.Join(s.renew(modules), s.loadLate()); err != nil {
		s.messages.Sayf("startrace: module %s: %v", strings.Join(modules, ", "), mistake.Tidy(s.machine.WithCause(err)))
	}
}

// renew attaches again what stood in modules that are not loaded for the first
// time.
func (s *session) renew(modules []string) error {
	var errs []error
	for _, p := range s.parts {
		for _, m := range modules {
			renewed, err := p.loaded.Renew(m)
			errs = append(errs, err)
			for _, probe := range slices.Sorted(maps.Keys(renewed)) {
				s.messages.Sayf("%s: attached again at %s of module %s, which was unloaded",
					p.plan.ProbeName(probe), format.Count(renewed[probe], "point"), m)
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
func (s *session) awaitLive(modules []string) {
	const pause = 2 * time.Millisecond
	until := time.Now().Add(liveWait)
	for _, m := range modules {
		for m != "" && s.machine.Facts().ModuleState(m) == kernel.ModuleComing && time.Now().Before(until) {
			time.Sleep(pause)
		}
	}
}

// loadLate makes parts of the points that there are now and that no part has.
func (s *session) loadLate() error {
	current, captured := s.part, s.host.Captured()
	s.machine.Again()
	s.growth.round = true
	defer func() {
		s.part, s.growth.round = current, false
		s.host.Recapture(captured)
	}()
	var errs []error
	for _, p := range slices.Clone(s.parts) {
		if grown := s.growingPlan(p); !p.late && len(grown.Probes) > 0 {
			s.host.Recapture(p.captured)
			s.part = &part{plan: grown, late: true}
			errs = append(errs, s.loadGrown())
		}
	}
	return errors.Join(errs...)
}

// loadGrown loads what a part has got.
func (s *session) loadGrown() error {
	if err := s.load(); err != nil {
		return err
	}
	for _, p := range s.plan.Probes {
		if n := s.points[p.ID]; n > 0 {
			s.messages.Sayf("%s: %s more", p.Name, format.Count(n, "point"))
		}
	}
	return nil
}

// growingPlan is the plan of the probes of a part that can get points.
func (s *session) growingPlan(p *part) *plan.Plan {
	out := *p.plan
	out.Probes, out.Containers = nil, nil
	for _, c := range s.env.Containers() { // at the prompt there can be more by now
		out.Containers = append(out.Containers, c.Decl())
	}
	for _, probe := range p.plan.Probes {
		one := plan.Plan{Probes: []*plan.Probe{probe}}
		if infer.Grows(&one) && !s.live.isGone(probe.ID) {
			out.Probes = append(out.Probes, probe)
		}
	}
	return &out
}

// infer makes the unit of the plan, or of what it has got since.
func (s *session) infer() (*infer.Result, error) {
	if s.growth != nil && s.growth.round {
		return infer.UnitLate(s.plan, s.machine.Facts(), s.machine.Programs(), s.types())
	}
	return infer.UnitUntil(s.plan, s.machine.Facts(), s.machine.Programs(), s.types(), s.unwanted)
}

// sayWaits names the modules that points wait for.
func (s *session) sayWaits(result *infer.Result) {
	for _, w := range result.Waits {
		s.messages.Sayf("%s: waits for module %s", w.Point, w.Module)
	}
}

// The following are of a prompt, of a script whose probes can get points, or of
// neither.

func (s *session) shared() *attach.Shared {
	if s.growth != nil {
		return s.growth.containers
	}
	return s.live.shared()
}

func (s *session) types() *infer.Types {
	if s.growth != nil {
		return s.growth.fixed
	}
	return s.live.types()
}

func (s *session) room() int {
	if s.growth != nil {
		return infer.Room
	}
	return s.live.room()
}

func (s *session) keepTypes(r *infer.Result) {
	if types := s.types(); types != nil {
		types.Add(r)
	}
}

// nothingNew reports whether a later part has nothing to load.
func (s *session) nothingNew(result *infer.Result) bool {
	return s.growth != nil && s.growth.round && len(result.Tree.Programs) == 0
}
