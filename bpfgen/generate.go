package bpfgen

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/cost"
	"github.com/startrace/startrace/bpfgen/emit"
	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/lower"
	"github.com/startrace/startrace/bpfgen/opt"
	"github.com/startrace/startrace/bpfgen/regalloc"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/until"
)

// Generate drives the compiler: trees go through build, opt, lower, regalloc and emit to instructions; its options are
// here, as the ring's usual size (`defaultRing`).

// Options are the facts and wishes that Generate depends on.
type Options struct {
	// NoCmpXchg: the kernel has no atomics that give the old value (before
	// 5.12).
	NoCmpXchg bool
	// HasLoop: the kernel has bpf_loop (5.17).
	HasLoop bool
	// HasTaskRegs: the kernel has bpf_task_pt_regs (5.15).
	HasTaskRegs bool
	// TaskStack: the kernel may have stacks of programs that tasks share (6.13): see onestack.go.
	TaskStack bool
	// NoUnwind: user stacks are taken by frame pointers alone.
	NoUnwind bool
	// OnDemand: tables that take memory only as they fill may be used by programs of all kinds (6.1).
	OnDemand bool
	// Arch is a GOARCH; "" for this machine's.
	Arch string
	// RingSize is the size of the ring in bytes, a power of two; 0: default.
	RingSize int
	// Containers is the room for epochs of containers where several units share
	// them; 0: those of the unit.
	Containers int
	// Outlining says which functions of the script become subprograms.
	Outlining ssagen.Outlining
	// Cost computes Unit.Costs.
	Cost bool
	// Dump keeps the text of every stage in Unit.Dumps.
	Dump bool
	// DumpPass keeps the IR after each run of this pass, one of Passes; "" for
	// none.
	DumpPass string
	// Check verifies what each pass of the compiler has made of a program; a pass that has broken a rule of package ir
	// is an error of type PassError. It makes Generate take about
	// twice as long.
	Check bool
	// Stop is asked again and again; once it gives an error, nobody wants the unit
	// any more, and Generate gives that. nil: nobody asks.
	Stop until.Stop
}

// For gives the options for a kernel, so that nothing is emitted that it does
// not know: it has had atomics that give the old value since 5.12, bpf_loop
// since 5.17, the registers of tasks since 5.15, memory on demand since 6.1. Stacks that tasks share are of 6.13, and
// those who build kernels bring such changes to a version before.
//
// Before 6.2 no function of a script becomes a subprogram. The verifier of those kernels takes two states at an
// instruction for the same though they differ in a constant that a caller keeps across its call: what decides a branch
// behind the call is not noted in the caller's frame. It then makes one way of such a branch the only one, and the
// program goes the wrong way, without a word (commit "bpf: propagate precision across all frames, not just the last
// one" mends it). Seen on 5.10; test/diff/testdata/found.star has the program, its last.
func For(v kernel.Version) Options {
	o := Options{NoCmpXchg: !v.AtLeast(5, 12), HasLoop: v.AtLeast(5, 17), OnDemand: v.AtLeast(6, 1),
		HasTaskRegs: v.AtLeast(5, 15), TaskStack: v.AtLeast(6, 12)}
	if !v.AtLeast(6, 2) {
		o.Outlining = ssagen.NeverCall
	}
	return o
}

// defaultRing is the size of the ring, leastRing that of one without events, or more. It takes twice that of memory in
// the process, because the data is mapped twice.
const (
	defaultRing = 8 << 20
	leastRing   = 1 << 20
)

// A Dump is the text of a program after each stage.
type Dump struct {
	// Tree, IR, Opt, Machine, Alloc and Asm are the typed tree, the SSA as ssagen made it, the SSA improved, the SSA
	// behind lower and the last passes, the same with registers, and the instructions.
	Tree, IR, Opt, Machine, Alloc, Asm string
	// Passes are the runs of Options.DumpPass that changed something, and the
	// first run in any case.
	Passes []PassDump
}

// Generate compiles a tree. It sets the layouts of containers that are not
// set and appends programs to u.Programs where spans want them (SpanExit).
func Generate(u *tree.Unit, o Options) (_ *Unit, err error) {
	defer until.End(&err)
	if o.Arch == "" {
		o.Arch = runtime.GOARCH
	}
	arch := ssagen.ArchOf(o.Arch)
	if arch == nil {
		return nil, fmt.Errorf("generate: no code for %s", o.Arch)
	}
	setLayouts(u, o)
	g := &generator{
		o: o, shared: ssagen.NewShared(u, arch, o.NoCmpXchg),
		unit: &Unit{
			Tree: u, Lines: map[string][]Line{}, Loops: map[string]Loop{}, Rollable: map[string][]plan.Pos{},
			Calls: map[string][]Call{}, Costs: map[string]cost.Cost{},
			Spec: &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{}, Programs: map[string]*ebpf.ProgramSpec{}},
		},
	}
	if g.dumps() {
		g.unit.Dumps = map[string]*Dump{}
	}
	g.shared.HasLoop, g.shared.HasTaskRegs, g.shared.Unwind = o.HasLoop, o.HasTaskRegs, !o.NoUnwind
	g.addThreadPrograms(u)
	g.atLocks = slices.ContainsFunc(u.Programs, atLocks)
	shareCode(u)
	for i := 0; i < len(u.Programs); i++ { // splitting appends programs
		g.o.Stop.Poll()
		if u.Programs[i].Code != "" {
			continue
		}
		if err := g.program(u.Programs[i]); err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
	}
	g.unit.Sites = g.shared.Sites
	g.maps()
	return g.unit, nil
}

// generator makes one unit.
type generator struct {
	// o are the caller's options, with Arch filled in.
	o Options
	// shared is what all programs of the unit have in common: sites, constants, names of maps.
	shared *ssagen.Shared
	// unit is the result, which grows program by program.
	unit    *Unit
	scratch int // the most that a program uses
	// atLocks: a program of the unit stands at locks of tables (lower.Guard).
	atLocks bool
	// threads says what the programs that follow threads do for the spans of the unit. They have no tree.
	threads map[*tree.Program]threadProgram
}

// program compiles p. If the stack does not suffice for its memory and its
// spilled registers, less memory is put there, and then nothing is called. If
// jumps would be too far, its variants are parted, or all is called that can be.
func (g *generator) program(p *tree.Program) error {
	calls := g.o.Outlining
	for stack := ssagen.DefaultStack; ; stack -= 96 {
		err := g.withStack(p, max(stack, 0), calls)
		var full *regalloc.StackError
		switch {
		case !errors.As(err, &full):
		case stack > 0 && full.Spills*8 <= regalloc.MaxStack:
			continue // of too many values alone memory takes nothing away
		case calls != ssagen.NeverCall:
			calls, stack = ssagen.NeverCall, ssagen.DefaultStack+96
			continue
		}
		var far *emit.DistanceError
		switch {
		case !errors.As(err, &far):
		case g.split(p):
			return g.program(p)
		case calls == ssagen.BySize && g.shared.CanCall(p):
			calls, stack = ssagen.AlwaysCall, ssagen.DefaultStack+96
			continue
		}
		var over *beyond
		if errors.As(err, &over) {
			err := explainLimit(p, over.f, over.err)
			var limit *LimitError
			if errors.As(err, &limit) {
				limit.Rollable = p.Rollable
			}
			return err
		}
		return err
	}
}

// beyond is an error of the back end on f.
type beyond struct {
	f   *ir.Func
	err error
}

func (e *beyond) Error() string { return e.err.Error() }
func (e *beyond) Unwrap() error { return e.err }

func (g *generator) withStack(p *tree.Program, stack int, calls ssagen.Outlining) error {
	d := &Dump{}
	if g.o.Dump {
		d.Tree = p.String()
	}
	code, err := g.tree(p, stack, calls)
	if err != nil {
		return err
	}
	funcs, err := g.machine(p, code.Funcs, d)
	if err != nil {
		return err
	}
	a := &assembly{}
	for _, f := range funcs {
		if err := a.add(f); err != nil {
			return &beyond{funcs[0], err}
		}
		g.scratch = max(g.scratch, f.ScratchSize)
	}
	if err := a.checkStack(); err != nil {
		return &beyond{funcs[0], err}
	}
	if g.o.TaskStack {
		a.ownTask(p.Attach.Kind())
	}
	a.describe()
	g.unit.Spec.Programs[p.Name] = &ebpf.ProgramSpec{
		Name: p.Name, Type: programType(p.Attach), AttachType: attachTypes[p.Attach.Kind()],
		Instructions: a.insns, License: "GPL",
	}
	if hot, ok := hottest(p, followed(code.Calls)); ok {
		hot.Why = g.whyFollowed(hot.Pos, code.Calls)
		g.unit.Loops[p.Name] = hot
	}
	g.unit.Rollable[p.Name] = p.Rollable
	g.unit.Lines[p.Name] = a.lines
	g.unit.Calls[p.Name] = a.calls(code.Calls)
	if g.o.Cost {
		if g.unit.Costs[p.Name], err = a.cost(code.Calls); err != nil {
			return fmt.Errorf("cost: %w", err)
		}
	}
	if g.dumps() {
		d.Alloc, d.Asm = a.alloc(), fmt.Sprint(a.insns)
		g.unit.Dumps[p.Name] = d
	}
	return nil
}

// machine makes the machine ops of p and of the subprograms that it calls.
func (g *generator) machine(p *tree.Program, funcs []*ir.Func, d *Dump) ([]*ir.Func, error) {
	// Twice too many are refused before the passes spend time on them; of fewer,
	// some may be in code that goes away.
	if err := checkMaps(funcs, 2*maxMaps); err != nil {
		return nil, err
	}
	for i, f := range funcs {
		if err := g.lower(p, f, i > 0, d); err != nil {
			return nil, err
		}
	}
	funcs = called(funcs)
	if err := checkMaps(funcs, maxMaps); err != nil {
		return nil, err
	}
	return funcs, checkScratch(funcs[0])
}

// lower makes the machine ops of f, the program p or a subprogram of it.
func (g *generator) lower(p *tree.Program, f *ir.Func, sub bool, d *Dump) error {
	note := func(to *string) {
		if g.o.Dump {
			*to += f.String()
		}
	}
	note(&d.IR)
	watch := newPassWatch(g.o, f, d)
	after := func(pass string) error {
		g.o.Stop.Poll()
		return watch.after(pass)
	}
	if err := after(PassBuild); err != nil {
		return err
	}
	o := lower.Options{}
	if lower.NeedsLogTable(f) {
		o.HasLogTable, o.LogTable = true, g.shared.Constant(lower.LogTable())
	}
	g.guard(p, sub, &o)
	if f.ScratchSize > 0 {
		g.shared.Uses[tree.MapSites] = true
		o.ScratchSite = g.shared.Site(tree.Site{Kind: SiteScratch, Probe: p.Probe, Container: -1})
	}
	if err := opt.RunWatched(f, after); err != nil {
		return err
	}
	note(&d.Opt)
	if err := lower.Run(f, o); err != nil {
		return err
	}
	if err := watch.lower(); err != nil {
		return err
	}
	if err := opt.RunWatched(f, after); err != nil {
		return err
	}
	note(&d.Machine)
	return f.CheckMachine()
}

// guard gives a program of a unit that stands at locks its part, and a subprogram that of those that call it.
func (g *generator) guard(p *tree.Program, sub bool, o *lower.Options) {
	switch {
	case !g.guarded():
	case !atLocks(p):
		o.Guard = lower.GuardHold
	case !sub:
		g.shared.Uses[tree.MapSites] = true
		o.Guard = lower.GuardAsk
		o.GuardSite = g.shared.Site(tree.Site{Kind: SiteBelow, Probe: p.Probe, Container: -1})
	}
}

// guarded reports whether programs keep account of the locks that they take: a program of the unit stands at locks, or
// one of another unit may, which shares containers with it.
func (g *generator) guarded() bool { return g.atLocks || g.o.Containers > 0 }

// atLocks reports whether a program stands at a function by which the kernel locks tables of programs, or that runs
// with such a lock.
func atLocks(p *tree.Program) bool {
	return slices.ContainsFunc(p.Attach.At(), func(at tree.Place) bool { return kernel.RunsWithLocks(at.Func) })
}

func (g *generator) tree(p *tree.Program, stack int, calls ssagen.Outlining) (*ssagen.Code, error) {
	if t, ok := g.threads[p]; ok {
		f, err := t.build(p, t.spans)
		return &ssagen.Code{Funcs: []*ir.Func{f}}, err
	}
	code, err := g.shared.Program(p, stack, calls)
	var large *ssagen.TooLarge
	if errors.As(err, &large) {
		return nil, tooLarge(large.Pos, large.Size)
	}
	return code, err
}

func programType(a tree.Attach) ebpf.ProgramType {
	if a.Exact() {
		return ebpf.TracePoint
	}
	switch a.Kind() {
	case tree.AttachTracepoint:
		return ebpf.TracePoint
	case tree.AttachProfile, tree.AttachInterval, tree.AttachPerf, tree.AttachWatchpoint:
		return ebpf.PerfEvent
	case tree.AttachKprobe, tree.AttachKretprobe, tree.AttachUprobe, tree.AttachUretprobe:
		return ebpf.Kprobe
	case tree.AttachFentry, tree.AttachFexit, tree.AttachIter:
		return ebpf.Tracing
	case tree.AttachHook:
		return ebpf.LSM
	case tree.AttachRawTracepoint, tree.AttachSyscallEnter, tree.AttachSyscallExit:
		return ebpf.RawTracepoint
	}
	panic(fmt.Sprintf("no type for programs of kind %d", a.Kind()))
}

// attachTypes are those that programs of the types Tracing and LSM must be loaded with.
var attachTypes = map[tree.AttachKind]ebpf.AttachType{
	tree.AttachFentry: ebpf.AttachTraceFEntry, tree.AttachFexit: ebpf.AttachTraceFExit,
	tree.AttachIter: ebpf.AttachTraceIter, tree.AttachHook: ebpf.AttachLSMMac,
}
