package attach

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// Options says what Load and Attach cannot know by themselves.
type Options struct {
	// TracepointID gives the number of a perf tracepoint, from tracefs. It is
	// needed only where a program has AttachTracepoint.
	TracepointID func(group, name string) (uint64, error)
	// Features says what the kernel can do. It is needed only where a program
	// stands at functions.
	Features func() kernel.Features
	// Tracefs finds that folder. It is needed only where a program stands at returns
	// of kernel functions; nil: the kernel follows few calls of each.
	Tracefs func() (string, error)
	// ReturnsAsEntries reports whether links of kprobes run programs at returns in the
	// same order as at entries; nil: the other way round.
	ReturnsAsEntries func() bool
	// Drain takes what programs have sent from the ring; nil: it fits.
	Drain func() error
	// Stop gives an error once the user does not want the unit any more: hundreds of programs take a
	// while to load and attach. It is asked between programs; nil: never.
	Stop func() error
	// Shared has the maps that several units use; nil: there is one unit.
	Shared *Shared
}

func (o *Options) stopped() error {
	if o.Stop == nil {
		return nil
	}
	return o.Stop()
}

// A Loaded is a unit in the kernel.
type Loaded struct {
	unit     *bpfgen.Unit
	opts     Options
	maps     map[string]*ebpf.Map
	programs []*program
	sites    *siteCounters
	closing  closer
	refused  []Refused
	returns  *returnEvents   // once it was needed
	pairings map[int]pairing // by the number of a site
	unread   error           // why unseen of a program is not all that it missed
	counts   io.Closer       // of CountRuns; nil: the kernel does not count for us
}

// A program is a loaded program with what attaches it.
type program struct {
	*tree.Program
	code   *ebpf.Program // nil once it is closed
	points []spot
	// detached: it was attached before.
	detached bool
	// missed is the last known number of missed runs, kept when code is closed.
	missed uint64
	// multi: it was loaded to be attached by one link (openMulti). session: it has
	// the program at the return in it (openSession).
	multi, session bool
	// fewReturns: see FewReturns.
	fewReturns  bool
	missedKnown bool
	// unseen is what its links missed that are closed.
	unseen uint64
}

// Load creates the maps of u and loads its programs; nothing runs yet. On an
// error nothing stays behind.
func Load(u *bpfgen.Unit, o Options) (*Loaded, error) {
	l, err := load(u, o)
	if errors.Is(err, unix.EPERM) {
		// Before 5.11 the memory of maps and programs counts against
		// RLIMIT_MEMLOCK, and too little is EPERM.
		restore, raised := raiseMemlock()
		if raised {
			l, err = load(u, o)
			restore()
		}
	}
	if err != nil {
		return nil, markPermission(err)
	}
	return l, nil
}

func load(u *bpfgen.Unit, o Options) (_ *Loaded, err error) {
	l := &Loaded{unit: u, opts: o, maps: make(map[string]*ebpf.Map, len(u.Spec.Maps))}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if err := l.createMaps(); err != nil {
		return nil, err
	}
	l.loadSessions()
	for _, p := range u.Tree.Programs {
		if l.inSession(p) {
			continue
		}
		if err := o.stopped(); err != nil {
			return nil, err
		}
		loaded, err := l.loadProgram(p)
		if err != nil {
			return nil, err
		}
		l.programs = append(l.programs, loaded)
	}
	if err := l.fillProgramArrays(); err != nil {
		return nil, err
	}
	if l.sites, err = mapSites(l.maps[bpfgen.MapSites], len(u.Sites)); err == nil {
		o.Shared.keep(l.maps)
	}
	return l, err
}

// Map gives a map of the unit by its name (bpfgen.Map…), nil if there is
// none. It belongs to l.
func (l *Loaded) Map(name string) *ebpf.Map { return l.maps[name] }

func (l *Loaded) createMaps() error {
	var left memoryLeft
	for _, name := range slices.Sorted(maps.Keys(l.unit.Spec.Maps)) {
		spec := l.unit.Spec.Maps[name]
		if m, err := l.opts.Shared.find(name, spec); m != nil || err != nil {
			if l.maps[name] = m; err != nil {
				return fmt.Errorf("use %s: %w", l.describeMap(name), err)
			}
			continue
		}
		if spec.Type == ebpf.ProgramArray {
			spec = spec.Copy()
			spec.Contents = nil // see fillProgramArrays
		}
		if err := l.checkMemory(name, spec, &left); err != nil {
			return err
		}
		m, err := ebpf.NewMap(spec)
		switch {
		case errors.Is(err, unix.EPERM):
			err = unix.EPERM // without advice: Load tries what could help
		case errors.Is(err, unix.E2BIG):
			return l.tooLarge(name, spec, unix.E2BIG)
		case errors.Is(err, unix.ENOMEM):
			return l.tooLarge(name, spec, unix.ENOMEM)
		case errors.Is(err, ebpf.ErrNotSupported) && bpf.Missing():
			err = unix.ENOSYS // not only the part that ebpf tried
		}
		if err != nil {
			return fmt.Errorf("create %s of %d entries: %w", l.describeMap(name), spec.MaxEntries, err)
		}
		l.maps[name] = m
	}
	return nil
}

// describeMap names a map by what the script calls it.
func (l *Loaded) describeMap(name string) string {
	switch c := l.container(name); {
	case c == nil:
		return "map " + name
	case !c.Pos.IsValid():
		return fmt.Sprintf("%s %q, which startrace keeps for itself,", c.Kind, c.Name)
	default:
		return fmt.Sprintf("%s %q (%s)", c.Kind, c.Name, c.Pos)
	}
}

// fillProgramArrays stores programs where tail calls find them: contents of a
// program array name programs of the unit.
func (l *Loaded) fillProgramArrays() error {
	for name, spec := range l.unit.Spec.Maps {
		if spec.Type != ebpf.ProgramArray {
			continue
		}
		for _, kv := range spec.Contents {
			p := l.program(fmt.Sprint(kv.Value))
			if p == nil {
				return fmt.Errorf("program array %s: no program %v", name, kv.Value)
			}
			if err := l.maps[name].Put(kv.Key, p.code); err != nil {
				return fmt.Errorf("program array %s: %w", name, err)
			}
		}
	}
	return nil
}

func (l *Loaded) program(name string) *program {
	for _, p := range l.programs {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (l *Loaded) loadProgram(p *tree.Program) (*program, error) {
	multi := l.multiType(&p.Attach)
	code, err := l.loadFor(p, multi)
	if err != nil {
		return nil, err
	}
	return &program{Program: p, code: code, multi: multi != ebpf.AttachNone}, nil
}

// loadFor loads the code of p to be attached by a link of the type multi, or
// as its kind wants.
func (l *Loaded) loadFor(p *tree.Program, multi ebpf.AttachType) (*ebpf.Program, error) {
	spec := l.unit.Spec.Programs[p.Name]
	if spec == nil {
		return nil, fmt.Errorf("the unit has no code for program %s", p.Name)
	}
	insns, err := l.withMaps(spec.Instructions)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", p.Name, err)
	}
	load := &bpf.Program{
		Name: p.Name, Type: spec.Type, AttachType: spec.AttachType, Flags: spec.Flags,
		Instructions: onOwnStack(insns, &p.Attach),
	}
	if multi != ebpf.AttachNone {
		load.AttachType = multi
	}
	if spec.Type == ebpf.Tracing || spec.Type == ebpf.LSM {
		load.AttachBTF = p.Attach.At()[0].BTF
		owner, err := ownerOf(&p.Attach.At()[0])
		if err != nil {
			return nil, err
		}
		defer owner.Close()
		load.AttachTo = owner.FD()
	}
	code, err := bpf.Load(load, nil)
	if err != nil {
		return nil, explainLoad(load, l.unit, err)
	}
	return code, nil
}

// withMaps is a copy of insns in which references to maps are resolved.
func (l *Loaded) withMaps(insns asm.Instructions) (asm.Instructions, error) {
	insns = slices.Clone(insns)
	for i := range insns {
		ins := &insns[i]
		if !ins.IsLoadFromMap() || ins.Reference() == "" {
			continue
		}
		m := l.maps[ins.Reference()]
		if m == nil {
			return nil, fmt.Errorf("instruction %d: no map %s", i, ins.Reference())
		}
		if err := ins.AssociateMap(m); err != nil {
			return nil, fmt.Errorf("instruction %d: %w", i, err)
		}
	}
	return insns, nil
}

// ownerOf opens what has the function of a trampoline.
func ownerOf(p *tree.Place) (bpf.Owner, error) {
	switch {
	case p.Program != 0:
		return bpf.RunningProgram(p.Program)
	case p.Module != "":
		return bpf.Module(p.Module)
	}
	return bpf.Kernel, nil
}
