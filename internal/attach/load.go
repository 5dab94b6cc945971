package attach

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/bpf"
)

// The maps of a unit are made and its programs loaded.

// Load creates the maps of u and loads its programs. Nothing runs yet. On an error nothing stays behind.
//
// The error is a *MapError where a container is too large, a *VerifierError or a *ComplexityError where the kernel
// rejects a program, and that of Options.Stop. It has ErrPermission or kernel.ErrLockdown in its chain where rights are
// missing.
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

// load is Load without a second try. What it has made it releases on an error.
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
	if o.Fit != nil {
		if err := o.Fit(); err != nil {
			return nil, err
		}
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

// createMaps makes the maps of the unit that Shared does not have, in the order of their names.
func (l *Loaded) createMaps() error {
	var left memoryLeft
	for _, name := range slices.Sorted(maps.Keys(l.unit.Spec.Maps)) {
		spec := l.unit.Spec.Maps[name]
		if m, err := l.opts.Shared.find(name, spec); m != nil || err != nil {
			if l.maps[name] = m; err != nil {
				return fmt.Errorf("use %s: %w", describeMap(l.unit, name), err)
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
			return tooLarge(l, name, spec, unix.E2BIG)
		case errors.Is(err, unix.ENOMEM):
			return tooLarge(l, name, spec, unix.ENOMEM)
		case errors.Is(err, ebpf.ErrNotSupported) && bpf.Missing():
			err = unix.ENOSYS // not only the part that ebpf tried
		}
		if err != nil {
			return fmt.Errorf("create %s of %d entries: %w", describeMap(l.unit, name), spec.MaxEntries, err)
		}
		l.maps[name] = m
	}
	return nil
}

// describeMap names a map by what the script calls it.
func describeMap(u *bpfgen.Unit, name string) string {
	switch c := containerOf(u, name); {
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
