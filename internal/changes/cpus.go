package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
)

// A CPU comes or goes while a run goes on, and the message of it.

// CPUs is there while a run has events of CPUs: those of profiles, counters and
// watchpoints, and what the kernel tells of processes. A CPU that comes has none, and
// one that went lost them for good.
type CPUs struct {
	// loader has the parts, and where messages go.
	loader *loading.Loader
	// listens is set once watch hears of CPUs, for the first part that has events of them.
	listens bool
	watch   kernel.CPUWatch
	// news is what was heard since follow was called last.
	news inbox[kernel.CPUNews]
}

// NewCPUs makes what follows CPUs; it listens once a part has events of them.
func NewCPUs(l *loading.Loader) *CPUs {
	return &CPUs{loader: l, news: inbox[kernel.CPUNews]{bell: l.Run.Bell}}
}

// Bind begins to listen before events of CPUs are opened, so that none is missed.
func (c *CPUs) Bind(p *parts.Part) error {
	if c.listens || !attach.OnCPUs(p.Loaded) && !c.loader.NamesProcesses(p) {
		return nil
	}
	watch, refused := kernel.WatchCPUs()
	if refused != nil {
		c.loader.Run.Messages.Verbosef("startrace: %v: the list of CPUs is read once a second instead", refused)
	}
	c.watch, c.listens = watch, true
	go c.news.fill(watch.Next)
	return nil
}

// Close ends the watch.
func (c *CPUs) Close() error {
	if !c.listens {
		return nil
	}
	return c.watch.Close()
}

// Follow opens and closes events as CPUs have come and gone.
func (c *CPUs) Follow() {
	for _, news := range c.news.take() {
		switch {
		case news.Lost:
			c.renew()
		case news.Online:
			c.came(news.CPU)
		default:
			c.went(news.CPU)
		}
	}
}

// renew opens anew what CPUs have: any of them can have gone and come.
func (c *CPUs) renew() {
	online, err := kernel.OnlineCPUs()
	present, failed := kernel.PresentCPUs()
	if err := errors.Join(err, failed); err != nil {
		c.loader.Run.Messages.Lackf("startrace: messages of CPUs that come and go were lost: %v", err)
		return
	}
	for _, cpu := range present {
		if slices.Contains(online, cpu) {
			c.came(cpu)
		} else {
			c.went(cpu)
		}
	}
}

// came opens the events of a CPU that came online, and says at which probes.
func (c *CPUs) came(cpu int) {
	change, err := c.changed(cpu, attach.CPUCame)
	err = errors.Join(err, c.loader.Run.Frames.Processes.CPUCame(cpu), c.loader.WakeByProcesses(nil))
	if len(change.probes) > 0 {
		c.loader.Run.Messages.Sayf("CPU %d came online: attached %s there", cpu, enumerate(change.probes))
	}
	c.sayFailed(cpu, err)
}

// went closes the events of a CPU that went offline, and says at which probes.
func (c *CPUs) went(cpu int) {
	change, err := c.changed(cpu, attach.CPUWent)
	var words []string
	if len(change.probes) > 0 {
		words = append(words, enumerate(change.probes)+" ended there")
	}
	if len(change.moved) > 0 {
		words = append(words, fmt.Sprintf("%s goes on at CPU %d", enumerate(change.moved), change.newCPU))
	}
	if len(words) > 0 {
		c.loader.Run.Messages.Sayf("CPU %d went offline: %s", cpu, strings.Join(words, ", "))
	}
	c.sayFailed(cpu, err)
}

func (c *CPUs) sayFailed(cpu int, err error) {
	if err != nil {
		c.loader.Run.Messages.Lackf("startrace: CPU %d: %v", cpu, mistake.Tidy(c.loader.Run.Machine.WithCause(err)))
	}
}

// probesOfCPU are the names of the probes whose events on a CPU began or ended, and of those that have moved to the CPU
// newCPU.
type probesOfCPU struct {
	probes, moved []string
	newCPU        int
}

// changed lets all parts follow a CPU.
func (c *CPUs) changed(cpu int, follow func(*attach.Loaded, int) (attach.CPUChange, error)) (all probesOfCPU,
	err error) {
	for _, p := range c.loader.Run.Parts.All {
		change, failed := follow(p.Loaded, cpu)
		err = errors.Join(err, failed)
		all.probes = appendNew(all.probes, p.Names(change.Probes))
		all.moved = appendNew(all.moved, p.Names(change.Moved))
		if len(change.Moved) > 0 {
			all.newCPU = change.NewCPU
		}
	}
	return all, err
}

// appendNew appends those names that are not there yet.
func appendNew(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// enumerate gives a few names of probes, and how many more there are.
func enumerate(names []string) string {
	const shown = 3
	return format.Few(names, shown)
}
