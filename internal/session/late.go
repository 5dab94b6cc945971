package session

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Probes can get points while a script runs: those that its patterns match in
// modules that are loaded later, and those that wait for a module. They are
// compiled as a part of their own, which has the containers of the first.

// growth is what a script has whose probes can get points; nil: they cannot.
type growth struct {
	containers attach.Shared
	fixed      infer.Types
	watch      *kernel.ModuleWatch
	round      bool // a later part is being made

	mu      sync.Mutex
	modules []string // that have been announced since
}

// mayGrow prepares for modules if a probe of the plan can get points of them.
// What is loaded from here on is heard of.
func (s *session) mayGrow() {
	if s.prompt != nil || !infer.Grows(s.plan) {
		return
	}
	watch, err := kernel.WatchModules()
	if err != nil {
		s.verbosef("startrace: %v: probes get no points of modules that are loaded later", err)
		return // as where there is no network
	}
	s.growth = &growth{watch: watch}
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
	if err := s.loadLate(); err != nil {
		slices.Sort(modules)
		s.messagef("startrace: module %s: %v", strings.Join(slices.Compact(modules), ", "), tidy(s.withCause(err)))
	}
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
		for m != "" && s.facts.ModuleState(m) == kernel.ModuleComing && time.Now().Before(until) {
			time.Sleep(pause)
		}
	}
}

// loadLate makes a part of the points that there are now and that no part has.
func (s *session) loadLate() error {
	first, facts := s.part, s.facts
	s.part = &part{plan: s.growingPlan()}
	s.facts = facts.Again()
	s.growth.round = true
	defer func() { s.part, s.growth.round = first, false }()
	if err := s.load(); err != nil {
		return err
	}
	for _, p := range s.plan.Probes {
		if n := s.points[p.ID]; n > 0 {
			s.messagef("%s: %d point%s more", p.Name, n, plural(n))
		}
	}
	return nil
}

// growingPlan is the plan of the probes that can get points.
func (s *session) growingPlan() *plan.Plan {
	out := *s.plan
	out.Probes = nil
	for _, p := range s.plan.Probes {
		one := plan.Plan{Probes: []*plan.Probe{p}}
		if infer.Grows(&one) {
			out.Probes = append(out.Probes, p)
		}
	}
	return &out
}

// infer makes the unit of the plan, or of what it has got since.
func (s *session) infer() (*infer.Result, error) {
	if s.growth != nil && s.growth.round {
		return infer.UnitLate(s.plan, s.facts, s.finder(), s.types())
	}
	return infer.UnitAfter(s.plan, s.facts, s.finder(), s.types())
}

// sayWaits names the modules that points wait for.
func (s *session) sayWaits(result *infer.Result) {
	for _, w := range result.Waits {
		s.messagef("%s: waits for module %s", w.Point, w.Module)
	}
}

// The following are of a prompt, of a script whose probes can get points, or of
// neither.

func (s *session) shared() *attach.Shared {
	if s.growth != nil {
		return &s.growth.containers
	}
	return s.prompt.shared()
}

func (s *session) types() *infer.Types {
	if s.growth != nil {
		return &s.growth.fixed
	}
	return s.prompt.types()
}

func (s *session) room() int {
	if s.growth != nil {
		return infer.Room
	}
	return s.prompt.room()
}

func (s *session) keepTypes(r *infer.Result) {
	if s.growth != nil {
		s.growth.fixed.Add(r)
	}
	s.prompt.keepTypes(r)
}

// nothingNew reports whether a later part has nothing to load.
func (s *session) nothingNew(result *infer.Result) bool {
	return s.growth != nil && s.growth.round && len(result.Tree.Programs) == 0
}
