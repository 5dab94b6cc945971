package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/parts"
)

// cpus is there while a run has events of CPUs: those of profiles, counters and
// watchpoints, and what the kernel tells of processes. A CPU that comes has none, and
// one that went lost them for good.
type cpus struct {
	// loader has the parts, and where messages go.
	loader *loader
	// watch hears of CPUs.
	watch kernel.CPUWatch
	// news is what was heard since follow was called last.
	news inbox[kernel.CPUNews]
}

// followCPUs begins to listen before events of CPUs are opened, so that none is missed.
func (s *session) followCPUs(p *parts.Part) error {
	if s.cpus != nil || !attach.OnCPUs(p.Loaded) && !s.loader.namesProcesses(p) {
		return nil
	}
	watch, refused := kernel.WatchCPUs()
	if refused != nil {
		s.messages.Verbosef("startrace: %v: the list of CPUs is read once a second instead", refused)
	}
	s.cpus = &cpus{loader: s.loader, watch: watch, news: inbox[kernel.CPUNews]{bell: s.bell}}
	go s.cpus.news.fill(watch.Next)
	return nil
}

// Close ends the watch.
func (c *cpus) Close() error { return c.watch.Close() }

// follow opens and closes events as CPUs have come and gone.
func (c *cpus) follow() {
	if c == nil {
		return
	}
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
func (c *cpus) renew() {
	online, err := kernel.OnlineCPUs()
	present, failed := kernel.PresentCPUs()
	if err := errors.Join(err, failed); err != nil {
		c.loader.messages.Sayf("startrace: messages of CPUs that come and go were lost: %v", err)
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
func (c *cpus) came(cpu int) {
	change, err := c.changed(cpu, attach.CPUCame)
	err = errors.Join(err, c.loader.frames.Processes.CPUCame(cpu), c.loader.wakeByProcesses(nil))
	if len(change.probes) > 0 {
		c.loader.messages.Sayf("CPU %d came online: attached %s there", cpu, enumerate(change.probes))
	}
	c.sayFailed(cpu, err)
}

// went closes the events of a CPU that went offline, and says at which probes.
func (c *cpus) went(cpu int) {
	change, err := c.changed(cpu, attach.CPUWent)
	var words []string
	if len(change.probes) > 0 {
		words = append(words, enumerate(change.probes)+" ended there")
	}
	if len(change.moved) > 0 {
		words = append(words, fmt.Sprintf("%s goes on at CPU %d", enumerate(change.moved), change.newCPU))
	}
	if len(words) > 0 {
		c.loader.messages.Sayf("CPU %d went offline: %s", cpu, strings.Join(words, ", "))
	}
	c.sayFailed(cpu, err)
}

func (c *cpus) sayFailed(cpu int, err error) {
	if err != nil {
		c.loader.messages.Sayf("startrace: CPU %d: %v", cpu, mistake.Tidy(c.loader.machine.WithCause(err)))
	}
}

// probesOfCPU are the names of the probes whose events on a CPU began or ended, and of those that have moved to the CPU
// newCPU.
type probesOfCPU struct {
	probes, moved []string
	newCPU        int
}

// changed lets all parts follow a CPU.
func (c *cpus) changed(cpu int, follow func(*attach.Loaded, int) (attach.CPUChange, error)) (all probesOfCPU,
	err error) {
	for _, p := range c.loader.parts.All {
		change, failed := follow(p.Loaded, cpu)
		err = errors.Join(err, failed)
		all.probes = appendNames(all.probes, p, change.Probes)
		all.moved = appendNames(all.moved, p, change.Moved)
		if len(change.Moved) > 0 {
			all.newCPU = change.NewCPU
		}
	}
	return all, err
}

func appendNames(names []string, p *parts.Part, probes []int) []string {
	for _, probe := range probes {
		if name := p.Plan.ProbeName(probe); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// enumerate gives a few names, and how many more there are.
func enumerate(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}
