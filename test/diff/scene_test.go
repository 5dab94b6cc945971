package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/attach"
	binaries "github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
)

// A scene is a site whose events this test makes happen, with values that it chose. Each program stands there twice, in
// the kernel and in user space, and both see the same events.
type scene struct {
	site   *Site
	pid    int // of the process that brings the events about
	facts  *kernel.Facts
	inputs []Input
	// happen makes the event of an input happen once, and completes the input with what is known then only.
	happen func(*Input) error
}

// scriptAt is the script of programs at a scene: all of them in the kernel, then all in user space. Its lines are those
// of both references.
func (s *scene) scriptAt(programs []*Program) (src, kernelRef, userRef string) {
	where := ""
	if s.site.Where != "" {
		where = ", where = lambda e: " + s.site.Where
	}
	for _, p := range programs {
		start := ""
		if p.BeginName != "" {
			start = ", start = " + p.BeginName
		}
		src += p.Script() + fmt.Sprintf("probe(%q, kernel = %s%s%s)\n", s.site.Point, p.Name, where, start)
		kernelRef += p.Reference() + "\n"
	}
	userRef = strings.Repeat("\n", strings.Count(src, "\n"))
	for _, p := range programs {
		twin, start := p.twin(), ""
		src += twin.Script()
		userRef += twin.Reference()
		if twin.BeginName != "" {
			start = fmt.Sprintf(", start = %s_user", twin.BeginName)
			src += fmt.Sprintf("def %[1]s_user(e):\n    return [%[1]s(e)]\n", twin.BeginName)
			userRef += "\n\n"
		}
		src += fmt.Sprintf("def %[1]s_user(e):\n    return [%[1]s(e)]\nprobe(%[2]q, %[1]s_user%[3]s%[4]s)\n",
			twin.Name, s.site.Point, where, start)
		userRef += "\n\n\n"
	}
	return src, kernelRef, userRef
}

// twin is the same program with names of its own.
func (p *Program) twin() *Program {
	name := p.Name + "t"
	rename := func(text string) string { return strings.ReplaceAll(text, p.Name, name) }
	return &Program{Name: name, Site: p.Site, Text: rename(p.Script()), RefText: rename(p.Reference()),
		BeginName: rename(p.BeginName)}
}

// A stage is a unit of programs at a scene.
type stage struct {
	*machine
	host     *script.Host
	res      *infer.Result
	attached *attach.Loaded
	unit     *bpfgen.Unit
	handlers map[int]starlark.Callable // user halves, by the number of the record
	missed   uint64
	// begins tells of the lines of the script which those of handlers of starts are.
	begins map[int]bool
}

// A ran is what ran: the handler of a probe, or that of its starts.
type ran struct {
	probe int
	start bool
}

// beginLines are those of handlers of starts, each of which stands at the end of its program.
func beginLines(src string) map[int]bool {
	out, inside := map[int]bool{}, false
	for i, line := range strings.Split(src, "\n") {
		if !strings.HasPrefix(line, " ") {
			inside = strings.HasPrefix(line, "def ") && strings.Contains(line, "_begin(e)")
		}
		out[i+1] = inside
	}
	return out
}

// checkAt compares programs at a scene.
func (c *checker) checkAt(s *scene, programs []*Program) {
	src, kernelRef, userRef := s.scriptAt(programs)
	st, err := s.compile(src)
	if err == nil {
		st.begins = beginLines(src)
		err = st.load(s)
	}
	if err != nil {
		c.apart(programs, err, func(list []*Program) { c.checkAt(s, list) })
		return
	}
	defer func() { c.closing.Go(st.close) }() // the kernel lets what still runs come to its end
	refs := [2]*reference{}
	for i, text := range []string{kernelRef, userRef + exactInts} {
		if refs[i], err = newReference(text); err != nil {
			c.note("reference", programs[0], "%v\n%s", err, text)
			return
		}
	}
	c.programs += len(programs)
	c.compareAt(s, st, programs, refs, strings.Count(userRef, "\n"))
}

func (s *scene) compile(src string) (_ *stage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	h, err := host(src, s.facts)
	if err != nil {
		return nil, err
	}
	h.Plan().Target.PID = s.pid
	finder := &binaries.Finder{}
	defer finder.Close()
	res, err := infer.Plan(h.Plan(), s.facts, infer.Options{Programs: finder})
	if err != nil {
		return nil, err
	}
	for id, parts := range res.KeyParts {
		h.Env().Containers()[id].SetKeyParts(parts)
	}
	u, err := bpfgen.Generate(res.Tree, options())
	if err != nil {
		return nil, err
	}
	return &stage{machine: newMachine(u), host: h, res: res, unit: u, handlers: map[int]starlark.Callable{}}, nil
}

// load loads and attaches the programs.
func (st *stage) load(s *scene) (err error) {
	o := attach.Options{Features: s.facts.Features, ReturnsAsEntries: s.facts.ReturnsAsEntries,
		Tracefs: s.facts.TracefsPath, TracepointID: func(group, name string) (uint64, error) {
			t, err := s.facts.Tracepoint(group, name)
			if err != nil {
				return 0, err
			}
			return uint64(t.ID), nil
		}}
	if st.attached, err = attach.Load(st.unit, o); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			st.close()
		}
	}()
	if st.reader, err = stream.NewReader(st.attached.Map(bpfgen.MapRing)); err != nil {
		return err
	}
	if err := st.mapCountersOf(st.attached.Map(bpfgen.MapSites)); err != nil {
		return err
	}
	st.loaded = &ebpf.Collection{Maps: map[string]*ebpf.Map{}}
	for name := range st.unit.Spec.Maps {
		st.loaded.Maps[name] = st.attached.Map(name)
	}
	st.decoder.Stacks = stackTable{st.attached.Map(tree.MapStacks)}
	if err := st.bind(); err != nil {
		return err
	}
	for number, half := range st.res.HalfOf {
		if st.handlers[number], err = st.host.Specialise(half, st.event); err != nil {
			return err
		}
	}
	return st.attached.Attach()
}

func (st *stage) close() {
	st.unmapCounters()
	for _, b := range st.backends {
		_ = b.Close()
	}
	if st.reader != nil {
		st.reader.Close()
	}
	st.attached.Close()
}

// event makes an event happen and gives what each probe made of it. What gave nothing returned None, or was not run.
func (st *stage) happened(s *scene, in *Input) (map[ran]outcome, error) {
	if err := s.happen(in); err != nil {
		return nil, err
	}
	out := map[ran]outcome{}
	var wrong error
	_, err := st.reader.Drain(1<<16, func(buf []byte) {
		number := binary.NativeEndian.Uint32(buf[wire.HeaderNumber:])
		if number == wire.NumberProcess { // news of a stack
			return
		}
		rec := st.unit.Tree.Records[number]
		what := ran{rec.Probe, rec.Start}
		if _, twice := out[what]; twice {
			wrong = fmt.Errorf("probe %d sent two records", rec.Probe)
		}
		st.machine.event.Set(rec, buf)
		o, err := st.outcome(rec)
		out[what], wrong = o, errors.Join(wrong, err)
	})
	return out, errors.Join(err, wrong, st.failures(out))
}

func (st *stage) outcome(rec *wire.Record) (outcome, error) {
	fn := st.handlers[rec.Number]
	if fn == nil {
		v, err := st.result(rec)
		if err != nil {
			return outcome{}, err
		}
		return outcome{value: bare(v)}, nil
	}
	o := outcomeOf(starlark.Call(st.host.Thread(), fn, starlark.Tuple{st.machine.event}, nil))
	if list, ok := o.value.(*starlark.List); ok {
		o.value = bare(list.Index(0))
	}
	return o, nil
}

// failures adds the errors of kernel halves.
func (st *stage) failures(out map[ran]outcome) (err error) {
	for i, s := range st.unit.Sites {
		if st.counters == nil {
			break
		}
		n := binary.NativeEndian.Uint64(st.counters[8*i:])
		if n == st.sites[i] {
			continue
		}
		st.sites[i] = n
		switch s.Kind {
		case tree.SiteError:
			out[ran{s.Probe, st.begins[int(s.Pos.Line)]}] = outcome{what: s.What, line: int(s.Pos.Line)}
		case tree.SiteOrphanEnd, tree.SiteOpenStart:
		case tree.SiteFull:
			out[ran{s.Probe, st.begins[int(s.Pos.Line)]}] = outcome{skip: true}
		default:
			err = fmt.Errorf("lost something of kind %d: %s", s.Kind, s.What)
		}
	}
	return err
}

// lost reports whether the kernel did not run a program since it was asked last.
func (st *stage) lost() bool {
	losses, _, _ := st.attached.Losses()
	n := uint64(0)
	for _, l := range losses {
		if l.Kind == attach.LossMissed || l.Kind == attach.LossUnseen {
			n += l.Count
		}
	}
	was := st.missed
	st.missed = n
	return n > was
}

func (c *checker) compareAt(s *scene, st *stage, programs []*Program, refs [2]*reference, userLines int) {
	done := [2]map[*Program]bool{{}, {}}
	for i, p := range programs {
		if st.res.StartHalves[i] != nil { // the handler of the start cannot run in the kernel
			c.except(startInUser, p)
			done[0][p] = true
		}
	}
	for _, in := range s.inputs {
		in.fields = s.site.Fields
		got, err := st.happened(s, &in)
		if err != nil {
			c.note("rejected", programs[0], "%s: %v", s.site.Point, err)
			return
		}
		if st.lost() {
			c.except(notRun, programs[0])
			return
		}
		for i, p := range programs {
			for half, r := range refs {
				probe := i + half*len(programs)
				if p.BeginName != "" && !done[half][p] {
					done[half][p] = !c.compareHalf(p, in, half, got, ran{probe, true}, r, userLines)
				}
				if !done[half][p] {
					done[half][p] = !c.compareHalf(p, in, half, got, ran{probe, false}, r, userLines)
				}
			}
		}
	}
	inUser := &machine{state: map[string]starlark.Value{}}
	for _, c := range st.host.Env().Containers() {
		inUser.state[c.Decl().Name] = c
	}
	for _, p := range programs {
		for half, of := range []struct {
			*machine
			of *Program
		}{{st.machine, p}, {inUser, p.twin()}} {
			if diff := of.compareState(refs[half], of.of); diff != "" && !done[half][p] {
				c.note("differs", p, "%s, half %d: %s", s.site.Point, half, diff)
			}
		}
	}
}

// compareHalf compares one run of a program in the kernel (0) or in user space.
func (c *checker) compareHalf(p *Program, in Input, half int, all map[ran]outcome, what ran, r *reference,
	userLines int) bool {
	of := p
	if half == 1 {
		of = p.twin()
	}
	run := r.run
	if what.start {
		run = r.starts
	}
	want := run(of, in)
	got, ok := all[what]
	switch {
	case !ok && half == 1:
		c.note("differs", p, "%s: nothing came to user space, with %s", p.Site.Point, in)
		return false
	case !ok && what.start: // what it returns in the kernel nobody gets
		got = outcome{value: want.value}
		if got.value == nil {
			got.value = starlark.None
		}
	case !ok:
		got = outcome{value: starlark.None}
	}
	if half == 1 && want.line > userLines {
		want.line = got.line
	}
	if got.skip {
		c.except(fullTable, p)
		return false
	}
	found := len(c.found)
	cont := c.step(of, in, want, func() (outcome, error) { return got, nil })
	for _, f := range c.found[found:] {
		f.program, f.detail = p, fmt.Sprintf("%s at %s, half %d: %s", f.program.Name, p.Site.Point, half, f.detail)
	}
	return cont
}

// compareScene runs the program that gives all fields of a scene, and n random ones.
func (c *checker) compareScene(s *scene, seed uint64, n int) {
	programs := []*Program{s.site.All("qall")}
	ints := slices.ContainsFunc(s.site.Fields, func(f Field) bool { return f.is(signed) || f.is(unsigned) })
	for i := range n {
		if ints {
			programs = append(programs, GenerateAt(seed+uint64(i), fmt.Sprintf("q%d", i), s.site))
		}
	}
	found := len(c.found)
	c.checkAt(s, programs)
	for _, f := range c.found[found:] {
		if f.program.Text == "" && len(c.found) < maxFindings {
			*f = *c.shrink(f, func(one *checker, list []*Program) { one.checkAt(s, list); one.closing.Wait() })
		}
	}
}

// reportScenes says what was found.
func (c *checker) reportScenes(t *testing.T) {
	t.Helper()
	c.closing.Wait()
	t.Logf("%d programs, %d runs: %d ended with an error, %d with None; %s", c.programs, c.runs, c.errors, c.nones,
		c.exceptions())
	for _, f := range c.found {
		t.Error(f)
	}
}

// realFacts are those of this kernel.
func realFacts() *kernel.Facts {
	var f *kernel.Facts
	f = kernel.Open(kernel.Options{Features: attach.Features, OnlyFunction: attach.OnlyFunction,
		TryFunction: attach.TryFunction, BPFPrograms: attach.Programs, Words: attach.Words,
		Trampolines: func() kernel.Trampolines {
			b, err := f.BTF()
			if err != nil {
				return attach.Trampolines(0)
			}
			id, _ := b.Named(kernel.KindFunc, "vfs_fsync")
			return attach.Trampolines(uint32(id))
		}})
	return f
}
