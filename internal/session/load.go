package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/sideband"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// load compiles the plan, loads it and attaches it. Without probes nothing of
// the kernel is touched.
func (s *session) load() error {
	begin := time.Now()
	var result *infer.Result
	err := s.aside(func() (err error) {
		result, err = s.compile(explain.Stages{})
		return err
	})
	if err != nil {
		return err
	}
	s.points, s.part.result, s.captured = result.Points, result, s.host.Captured()
	s.env.Traced.Own(result.Tree.Texts())
	s.sayWaits(result)
	for id, parts := range result.KeyParts {
		s.env.Containers()[id].SetKeyParts(parts)
	}
	if s.nothingNew(result) {
		return nil
	}
	s.freezeCaptures(result)
	if err := s.unwanted(); err != nil {
		return err
	}
	compiled := time.Now()
	attach.RaiseMemlock() // the command of -c, which keeps its own limit, waits already
	o := attach.Options{TracepointID: s.machine.TracepointID, Features: s.machine.Facts().Features,
		ReturnsAsEntries: s.machine.Facts().ReturnsAsEntries, Tracefs: s.machine.Facts().TracefsPath,
		Drain: s.drainList, Stop: s.unwanted,
		Shared: s.shared()}
	if s.loaded, err = attach.Load(s.unit, o); err != nil {
		return s.nameScript(err)
	}
	s.parts = append(s.parts, s.part)
	s.frames.Kernel.Forget()
	s.keepTypes(result)
	s.learnNames(result.Tree.Names)
	if err := s.bindContainers(); err != nil {
		return err
	}
	s.part.spans = &openspans.Unit{Spans: s.unit.Tree.Spans, Map: s.loaded.Map}
	s.spans.Add(s.part.spans)
	s.env.Declared = s.live == nil
	if !s.childEnded.Load() {
		if err := s.part.followTarget(s.plan.Target.PID); err != nil {
			return err
		}
	}
	if err := s.bindProbes(result); err != nil {
		return err
	}
	if err := s.openRing(); err != nil {
		return err
	}
	if s.host.Uses("stats") || s.live != nil {
		s.uncounted = s.loaded.CountRuns()
	}
	s.live.replace()
	loaded := time.Now()
	if err := s.attach(); err != nil {
		return s.placeCrowd(err)
	}
	s.sayRefused()
	s.messages.Verbosef("compiled in %s, loaded in %s, attached in %s",
		millis(compiled.Sub(begin)), millis(loaded.Sub(compiled)), millis(time.Since(loaded)))
	return nil
}

// unwanted is an error once a signal has come: what is being loaded has not shown anything yet, and is given up at
// once.
func (s *session) unwanted() error {
	if !s.begun && s.interrupted.Load() || s.live.interrupted() {
		return errors.New("interrupted before all probes were attached")
	}
	return nil
}

// freezeCaptures makes what kernel halves captured constant for the rest of the
// run: a change would not reach the programs.
func (s *session) freezeCaptures(result *infer.Result) {
	for _, at := range result.Placed {
		if at.Side == "kernel" && at.Fn != nil {
			s.host.Freeze(at.Fn)
		}
	}
}

// compile makes the unit of the plan.
func (s *session) compile(st explain.Stages) (*infer.Result, error) {
	result, err := s.infer()
	if err != nil {
		return result, err
	}
	for _, w := range result.Warnings {
		s.messages.Sayf("%s: warning: %s", w.Pos, w.Msg)
	}
	if s.Verbose {
		if err := s.report(result, nil).WritePlacement(s.messages.W); err != nil {
			return nil, err
		}
	}
	version, err := kernel.Release()
	if err != nil {
		return nil, err
	}
	o := bpfgen.For(version)
	o.Dump, o.DumpPass, o.Containers, o.Stop = st.IR, st.Pass, s.room(), s.unwanted
	o.Check = s.Check
	s.unit, err = bpfgen.Generate(result.Tree, o)
	return result, err
}

// bindContainers moves the containers that kernel halves use into their maps,
// with what the script has written so far.
func (s *session) bindContainers() error {
	options := state.Options{FuncID: s.machine.FuncID, Epochs: s.loaded.Map(tree.MapEpochs)}
	s.listen()
	if m := s.loaded.Map(tree.MapStacks); m != nil {
		s.part.stacks = s.frames.Add(m, s.unit.Tree.Programs)
	}
	if s.decoder == nil {
		s.decoder = &value.Decoder{Labels: s.env.Labels, Stacks: s.frames, Traced: s.env.Traced}
		s.event = value.NewEvent(s.decoder)
		s.spans.Decoder, s.spans.Point, s.spans.FuncID = s.decoder, s.nameText, s.machine.FuncID
		s.env.Open = s.spans.Items
	}
	for i, c := range s.env.Containers() {
		decl := s.unit.Tree.Containers[i]
		if decl == nil || s.bound[i] {
			continue
		}
		m := s.loaded.Map(tree.ContainerMap(i))
		if m == nil {
			return fmt.Errorf("the unit has no map for %s", decl.Container.Title())
		}
		backend, err := state.New(decl, m, options)
		if err != nil {
			return err
		}
		s.backends = append(s.backends, backend)
		s.bound[i] = true
		if w, ok := backend.(writtenTable); ok && decl.LRU {
			s.oldest.Watch(decl, c, func() uint64 {
				n := w.Written()
				for _, p := range s.parts {
					n += p.loaded.Entries(decl.ID)
				}
				return n
			})
		}
		if s.Twins != nil {
			c = s.Twins.Of(c, decl.Container, s.part.result.Alone[i])
			c.SetKeyParts(s.part.result.KeyParts[i])
		}
		if agg, ok := c.(*value.Agg); ok {
			agg.BindAgg(backend, s.decoder, decl.Agg)
		} else if err := c.Bind(backend, s.decoder); err != nil {
			return fmt.Errorf("%s: what the script itself put into it does not fit what kernel halves do: %w", decl.Pos,
				err)
		}
	}
	return nil
}

// writtenTable is a table in a kernel map, which knows what user space wrote.
type writtenTable interface{ Written() uint64 }

// listen makes the kernel tell what processes map, if addresses of theirs will be
// named.
func (s *session) listen() {
	if s.frames.Processes.Hears() || !s.unit.Tree.UserStacks && !s.host.Names("usym") {
		return
	}
	if s.plan.Target.Self != 0 && s.plan.Target.Self != os.Getpid() {
		return // the numbers of records are those of another pid namespace
	}
	band, err := s.openBand()
	if err != nil {
		s.messages.Verbosef("startrace: processes that end within milliseconds may have addresses for names: %v", err)
		return
	}
	s.frames.Processes.Hear(band)
}

// openBand listens to the target, or to all processes where there is none.
func (s *session) openBand() (*sideband.Band, error) {
	switch {
	case s.child != nil:
		return sideband.OpenProcess(s.child.PID())
	case s.PID > 0:
		return sideband.OpenProcess(s.PID)
	}
	return sideband.Open()
}

// keyed reports whether kernel halves use a container, and if so whether it has
// keys.
func (s *session) keyed(decl *plan.Container) (keyed, used bool) {
	for _, p := range s.parts {
		if all := p.unit.Tree.Containers; decl.ID < len(all) && all[decl.ID] != nil {
			return all[decl.ID].KeyLayout != nil, true
		}
	}
	return false, false
}

// followTarget puts a process into the table of followed processes. Package
// state has a way that keeps no program from running meanwhile; it takes a
// program of its own, and here nothing is attached yet, or hardly anything.
func (p *part) followTarget(pid int) error {
	if p.result.Follow < 0 {
		return nil
	}
	table := p.unit.Tree.Containers[p.result.Follow]
	key := make([]byte, table.KeyLayout.Size)
	binary.NativeEndian.PutUint32(key, uint32(pid))
	if err := p.loaded.Map(tree.ContainerMap(p.result.Follow)).Put(key,
		make([]byte, table.ValueLayout.Size)); err != nil {
		return fmt.Errorf("following process %d: %w", pid, err)
	}
	return nil
}

// bindProbes prepares where the records of each number go, and what the
// script's probes act on.
func (s *session) bindProbes(result *infer.Result) error {
	if s.dumping == nil {
		s.dumping = make(map[int]bool)
	}
	s.first = len(s.routes)
	s.routes = append(s.routes, make([]route, len(s.unit.Tree.Records))...)
	counts := map[int]*failures{}
	for i, rec := range s.unit.Tree.Records {
		r := &s.routes[s.first+i]
		r.record = rec
		name := s.plan.ProbeName(rec.Probe)
		if counts[rec.Probe] == nil {
			counts[rec.Probe] = s.newFailures("handler of " + name)
		}
		r.failures = counts[rec.Probe]
		half := result.Halves[rec.Probe]
		if rec.Start {
			half = result.StartHalves[rec.Probe]
		}
		if half == nil {
			r.line = eventline.New(name, rec, &s.lines)
			continue
		}
		fn, err := s.host.Specialise(half, s.event)
		if err != nil {
			return err
		}
		r.fn, r.args = fn, starlark.Tuple{s.event}
	}
	for _, p := range s.plan.Probes {
		s.env.Probes()[p.ID].Bind(&probeControl{s, p.ID})
	}
	return nil
}

// openRing maps the ring if some program sends records, or news of processes
// with new stacks.
func (s *session) openRing() (err error) {
	m := s.loaded.Map(bpfgen.MapRing)
	switch {
	case m == nil && !s.sends():
		return nil
	case m == nil:
		return errors.New("the unit has records but no ring")
	}
	if first := s.outside.reader; first != nil {
		s.part.reader, err = first.Beside(m)
	} else if s.part.reader, err = stream.NewReader(m); err == nil {
		s.setReader(s.part.reader)
	}
	return err
}

// sends reports whether records come by the ring.
func (s *session) sends() bool {
	return slices.ContainsFunc(s.unit.Tree.Records, func(r *wire.Record) bool { return s.unit.Tree.Keep[r.Probe] == 0 })
}

// attach attaches the probes, except those that the script has disabled.
func (s *session) attach() error {
	if s.child != nil {
		if err := s.child.Ready(); err != nil {
			return err
		}
	}
	probes := s.env.Probes()
	disabled := false
	for _, p := range s.plan.Probes {
		disabled = disabled || probes[p.ID].Disabled
	}
	if !disabled {
		return s.loaded.Attach()
	}
	for _, p := range s.plan.Probes {
		if probes[p.ID].Disabled {
			continue
		}
		if err := s.loaded.AttachProbe(p.ID); err != nil {
			return err
		}
	}
	return nil
}

// A probeControl is a probe of the script in the kernel, in all its parts.
type probeControl struct {
	s     *session
	probe int
}

var _ builtins.ProbeControl = (*probeControl)(nil)

func (c *probeControl) Enable() error {
	for p := range c.s.partsOf(c.probe) {
		if err := p.loaded.AttachProbe(c.probe); err != nil {
			return c.s.machine.WithCause(err)
		}
	}
	return nil
}

func (c *probeControl) Disable() error {
	for p := range c.s.partsOf(c.probe) {
		p.loaded.DetachProbe(c.probe)
	}
	return nil
}

// Open gives the open entries of all spans of the probe.
func (c *probeControl) Open() ([]starlark.Value, error) { return c.s.spans.OfProbe(c.probe) }

func (c *probeControl) Detach() error { return c.Disable() }

func (c *probeControl) Stats() (st builtins.Stats, err error) {
	if c.s.uncounted != nil {
		return st, c.s.uncounted
	}
	for i := range c.s.routes {
		if r := &c.s.routes[i]; r.record.Probe == c.probe {
			st.Sent += r.sent
		}
	}
	if st.Lost, st.Missed, err = c.s.lostOf(c.probe); err != nil {
		return st, err
	}
	for p := range c.s.partsOf(c.probe) {
		runs, ns, err := p.loaded.Runs(c.probe)
		if err != nil {
			return st, err
		}
		st.Hits, st.Time = st.Hits+int64(runs), st.Time+int64(ns)
	}
	return st, nil
}
