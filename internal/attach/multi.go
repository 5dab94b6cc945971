package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Links to many functions at once: kprobe_multi, uprobe_multi.
//
// Links that probe many functions at once. A program must be loaded for them
// (its attach type says so), so it is decided at the load; for the places that
// links do not take it is loaded again, for single probes.

// maxRefusals is how often the kernel may refuse a link while the places that it
// takes are looked for: each time it goes through all its symbols.
const maxRefusals = 64

// A linker attaches one program by as few links as the kernel takes. The kernel refuses a link as a whole for one of
// its places. Then the linker tries each half of them. Of places A B C D of which the kernel refuses C it makes the
// links A B and D, after three refusals: of A B C D, of C D and of C.
type linker struct {
	// link makes one link at the places of its argument.
	link func(*tree.Functions) (bpf.Link, error)
	// kind is the kind of the spots of its links.
	kind pointKind
	// points are the links that the kernel has taken so far.
	points []spot
	// kept are the places of points.
	kept []tree.Place
	// refused are the places that the kernel did not take so far.
	refused []tree.Place
	// refusals is how often the kernel has refused so far, at most maxRefusals.
	refusals int
}

// newLinker makes the linker of a program that was loaded for links.
func newLinker(f *tree.Functions, prog *ebpf.Program) *linker {
	if wayOf(f.Mech).probes == kernelProbes {
		return &linker{kind: countingPoint, link: func(f *tree.Functions) (bpf.Link, error) {
			return linkKprobes(f, kprobeLink(f), prog)
		}}
	}
	return &linker{kind: probePoint, link: func(f *tree.Functions) (bpf.Link, error) {
		return bpf.LinkUprobes(prog, uprobes(f))
	}}
}

// open attaches to the places of f. Places that the kernel refuses are no error: they are in refused then. An error
// (EPERM, EACCES) says that the kernel takes none, whatever the places are.
func (l *linker) open(f tree.Functions) error {
	if l.refusals == maxRefusals {
		l.refused = append(l.refused, f.Places...)
		return nil
	}
	link, err := l.link(&f)
	switch {
	case err == nil:
		l.points, l.kept = append(l.points, spot{link: link, kind: l.kind}), append(l.kept, f.Places...)
		return nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return err
	}
	l.refusals++
	half := len(f.Places) / 2
	if half == 0 || !placeIsAtFault(err) && !errors.Is(err, unix.ESRCH) {
		l.refused = append(l.refused, f.Places...)
		return nil
	}
	places := f.Places
	for _, part := range [][]tree.Place{places[:half], places[half:]} {
		f.Places = part
		if err := l.open(f); err != nil {
			return err
		}
	}
	return nil
}

// linkKprobes makes one link to kernel functions.
func linkKprobes(f *tree.Functions, kind bpf.KprobeLink, prog *ebpf.Program) (bpf.Link, error) {
	var names []string
	for _, p := range f.Places {
		names = append(names, p.Func)
	}
	return bpf.LinkKprobes(prog, kind, names, cookies(f))
}

// cookies are those of the places, nil if the program does not ask.
func cookies(f *tree.Functions) []uint64 {
	if !f.Cookies {
		return nil
	}
	out := make([]uint64, len(f.Places))
	for i, p := range f.Places {
		out[i] = p.Cookie
	}
	return out
}

// uprobes describes one link to places of a file of programs.
func uprobes(f *tree.Functions) *bpf.UprobeMulti {
	u := &bpf.UprobeMulti{Path: f.Binary, PID: f.Process, Returns: wayOf(f.Mech).returns, Cookies: cookies(f)}
	for _, p := range f.Places {
		u.Offsets = append(u.Offsets, p.Offset)
		u.Semaphores = append(u.Semaphores, p.Semaphore)
	}
	return u
}

// openFunctions attaches p to its functions: by links where it was loaded for
// these, and alone to those that they do not take.
func (l *Loaded) openFunctions(p *program) ([]spot, error) {
	switch {
	case p.session:
		return l.openSession(p)
	case !p.multi:
		return l.openProbes(p, false)
	}
	f := *p.Attach.Functions()
	if !l.opts.Features().UprobesOfProcess {
		f.Process = 0 // the program itself asks for its process
	}
	links := newLinker(&f, p.code)
	if err := links.open(f); err != nil {
		return nil, errors.Join(err, l.releaseAll(links.points))
	}
	if len(links.refused) == 0 {
		return links.points, nil
	}
	code, err := l.loadFor(p.Program, ebpf.AttachNone)
	if err != nil {
		return nil, errors.Join(err, l.releaseAll(links.points))
	}
	if len(links.points) == 0 {
		if err := p.close(); err != nil {
			return nil, errors.Join(err, code.Close())
		}
		p.code, p.multi = code, false
		return l.openProbes(p, false)
	}
	if err := l.openRefused(p, links, code); err != nil {
		return nil, errors.Join(err, l.releaseAll(links.points))
	}
	return links.points, nil
}

// openRefused attaches a program of its own, which is loaded, to the places of p
// that links do not take; what takes no probe either is left out and named.
func (l *Loaded) openRefused(p *program, links *linker, code *ebpf.Program) (err error) {
	rest := &program{Program: withPlaces(p.Program, links.refused), code: code, detached: p.detached}
	p.Program = withPlaces(p.Program, links.kept)
	if rest.points, err = l.openProbes(rest, true); len(rest.points) == 0 {
		return errors.Join(err, code.Close())
	}
	l.programs = append(l.programs, rest)
	return nil
}

// withPlaces is a copy of p that stands at other places.
func withPlaces(p *tree.Program, places []tree.Place) *tree.Program {
	out := *p
	out.Attach = p.Attach.AtPlaces(places)
	return &out
}
