package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/filewatch"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
)

// A file of a program is replaced or written anew: its probes are attached again, how often (`maxTimes`), and the
// message.
//
// A probe in a program stands in a file. An upgrade puts another file in its
// place: what runs goes on with the file before, and what starts later has the new
// one. So the probes are looked for in the new file, too, and attached there beside
// the old one.

// files hears what becomes of the files in which probes are.
type files struct {
	// loader has the parts, and where messages go.
	loader *loading.Loader
	// watch hears of changes. It is nil before the first file is added.
	watch *filewatch.Watch
	// changes is what was heard since renewFiles was called last.
	changes inbox[replaced]
	// times is how often each file has changed so far.
	times map[string]int
}

// A replaced file has changed, which was heard at a time.
type replaced struct {
	filewatch.Change
	heard time.Time
}

// began is when the file got its name or was written: that is the last change of what the file system keeps of it,
// where that was just before it was heard of. A link can lead to an older file.
func (r *replaced) began() time.Time {
	const mostLate = time.Second
	var st unix.Stat_t
	if err := unix.Stat(r.Path, &st); err != nil {
		return r.heard
	}
	changed := time.Unix(st.Ctim.Unix())
	if late := r.heard.Sub(changed); late < 0 || late > mostLate {
		return r.heard
	}
	return changed
}

// maxTimes is how often the probes of a file are attached again: each time takes some 20 file descriptors.
const maxTimes = 16

// Follow begins to watch the files of a part before its programs are attached, so that no change is missed. Those of
// one process (-p) are what it runs, which nothing replaces.
func (g *Growth) Follow(p *parts.Part) error {
	if g == nil {
		return nil
	}
	for _, file := range attach.Files(p.Loaded, -1) {
		if strings.HasPrefix(file, "/proc/") {
			continue
		}
		if err := g.files.add(file); err != nil {
			g.loader.Run.Messages.Verbosef("startrace: %s is not looked for again if it is replaced: %v", file, err)
		}
	}
	return nil
}

// add begins to watch a file.
func (f *files) add(file string) (err error) {
	if f.watch == nil {
		if f.watch, err = filewatch.New(); err != nil {
			return err
		}
		f.changes.bell, f.times = f.loader.Run.Bell, map[string]int{}
		go f.changes.fill(func() (replaced, error) {
			change, err := f.watch.Next()
			return replaced{change, time.Now()}, err
		})
	}
	return f.watch.Add(file)
}

func (f *files) close() error {
	if f.watch == nil {
		return nil
	}
	return f.watch.Close()
}

// renewFiles attaches the probes of files that have changed.
func (g *Growth) renewFiles() {
	for _, change := range g.files.changes.take() {
		g.files.times[change.Path]++
		if change.Written {
			g.detachIn(change.Path)
		}
		if g.files.times[change.Path] > maxTimes {
			g.loader.Run.Messages.Lackf("startrace: %s was replaced more than %d times: its probes are not "+
				"attached again", change.Path, maxTimes)
			continue
		}
		if err := g.renewFile(change); err != nil {
			g.loader.Run.Messages.Lackf("startrace: %s was replaced: %v", change.Path,
				mistake.Tidy(g.loader.Run.Machine.WithCause(err)))
		}
	}
}

// detachIn detaches what stands in a file that was written: the same file has other contents, and the places are wrong.
func (g *Growth) detachIn(file string) {
	for _, p := range g.loader.Run.Parts.All {
		attach.DetachFile(p.Loaded, file)
	}
}

// renewFile makes parts of the probes in a file that has changed. Those in the file before stay for the processes that
// run it.
func (g *Growth) renewFile(change replaced) error {
	host := g.loader.Run.Host
	defer host.Recapture(host.Captured())
	errs := []error{g.loader.Run.Machine.Programs().Forget(change.Path)}
	g.loader.Run.Machine.Again()
	var attached []string
	for _, p := range slices.Clone(g.loader.Run.Parts.All) {
		if p.Late || !slices.Contains(attach.Files(p.Loaded, -1), change.Path) {
			continue // parts with its probes are made of the first one
		}
		host.Recapture(p.Captured)
		in := g.planIn(p, change.Path)
		names, err := g.loadIn(in, change.Path)
		attached, errs = append(attached, names...), append(errs, err)
		g.sayLeft(p, in, change)
	}
	switch {
	case len(attached) == 0:
	case change.Written:
		g.loader.Run.Messages.Sayf("%s was written anew: attached %s there again; %s", change.Path, enumerate(attached),
			unseen(change.began()))
	default:
		g.loader.Run.Messages.Sayf("%s is another file now: attached %s there, too; %s", change.Path,
			enumerate(attached), unseen(change.began()))
	}
	return errors.Join(errs...)
}

// unseen is said where probes come to a file that can have been run already since it began.
func unseen(began time.Time) string {
	return fmt.Sprintf("its calls in the %d ms before that were not seen", time.Since(began).Milliseconds()+1)
}

// loadIn loads the probes of a plan that are in a file, and gives their names. What the new file does not have is no
// reason to leave out the others.
func (g *Growth) loadIn(in *plan.Plan, file string) (names []string, err error) {
	if len(in.Probes) == 0 {
		return nil, nil
	}
	late := &parts.Part{Plan: in, Late: true, Replaced: file}
	err = g.loader.Load(late)
	if late.Result != nil || len(in.Probes) == 1 {
		return attachedIn(late), err
	}
	var errs []error
	for _, probe := range in.Probes {
		one := *in
		one.Probes = []*plan.Probe{probe}
		attached, err := g.loadIn(&one, file)
		names, errs = append(names, attached...), append(errs, err)
	}
	return names, errors.Join(errs...)
}

// planIn is the plan of the probes of a part that have points in a file.
func (g *Growth) planIn(p *parts.Part, file string) *plan.Plan {
	out := g.planOf(p, infer.InFiles)
	out.Probes = slices.DeleteFunc(out.Probes, func(probe *plan.Probe) bool {
		return !slices.Contains(attach.Files(p.Loaded, probe.ID), file)
	})
	return out
}

// attachedIn are the probes that a part has points of, by name.
func attachedIn(p *parts.Part) (names []string) {
	if p.Result == nil || p.Loaded == nil {
		return nil
	}
	for _, probe := range p.Plan.Probes {
		if p.Points(probe.ID) > 0 {
			names = append(names, probe.Name)
		}
	}
	return names
}

// sayLeft names the probes in the file that only its old contents have: ends of spans, and what first() has chosen.
func (g *Growth) sayLeft(p *parts.Part, in *plan.Plan, change replaced) {
	var left []string
	for _, probe := range p.Plan.Probes {
		renewed := slices.Contains(in.Probes, probe)
		if slices.Contains(attach.Files(p.Loaded, probe.ID), change.Path) && !renewed && !g.gone[probe.ID] {
			left = append(left, probe.Name)
		}
	}
	switch {
	case len(left) == 0:
	case change.Written:
		g.loader.Run.Messages.Lackf("startrace: %s was written anew, and %s is not attached any more: run again for "+
			"that", change.Path, enumerate(left))
	default:
		g.loader.Run.Messages.Lackf("startrace: %s is another file now, in which %s is not attached: run again for "+
			"that", change.Path, enumerate(left))
	}
}
