package attach

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/cilium/ebpf"

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
	// LoadedAt is what the command adds to the addresses of a file. It is needed only where a program watches memory of
	// the command that is position-independent; loaded is false as long as the command does not run.
	LoadedAt func(file string) (added uint64, loaded bool, err error)
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
	unit *bpfgen.Unit
	// opts are the caller's.
	opts Options
	// maps are those of the unit, by name. Those that several units share belong to Options.Shared.
	maps map[string]*ebpf.Map
	// programs are those of the unit that are loaded.
	programs []*program
	// sites reads what programs count as lost.
	sites *siteCounters
	// closing releases links in the background.
	closing closer
	// refused are the places that the kernel did not take, told once all is attached.
	refused  []Refused
	returns  *returnEvents   // once it was needed
	pairings map[int]pairing // by the number of a site
	unread   error           // why unseen of a program is not all that it missed
	counts   io.Closer       // of CountRuns; nil: the kernel does not count for us
}

// A program is a loaded program with what attaches it.
type program struct {
	*tree.Program
	code *ebpf.Program // nil once it is closed
	// points are where it is attached now.
	points []spot
	// detached: it was attached before.
	detached bool
	// missed is the last known number of missed runs, kept when code is closed.
	missed uint64
	// multi: it was loaded to be attached by one link (openMulti). session: it has
	// the program at the return in it (openSession).
	multi, session bool
	// fewReturns: see FewReturns.
	fewReturns bool
	// missedKnown: missed could be read the last time.
	missedKnown bool
	// waits: it is attached once the command runs (AttachMoved). moved is what the command added to its address.
	waits bool
	moved uint64
	// unseen is what its links missed that are closed.
	unseen uint64
}

// Map gives a map of the unit by its name (bpfgen.Map…), nil if there is
// none. It belongs to l.
func (l *Loaded) Map(name string) *ebpf.Map { return l.maps[name] }

func (l *Loaded) program(name string) *program {
	for _, p := range l.programs {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// pointKind says how a point is stopped and how long that takes.
type pointKind uint8

// A spot is where a program is attached.
type spot struct {
	link  bpf.Link // keeps it attached; a *bpf.PerfEvent, if of clockPoint
	kind  pointKind
	event string // of returnPoint, in tracefs
	cpu   int    // of clockPoint: whose event it is
	// module has the function, "" for the kernel proper and programs.
	module string
}

// A closer releases points, in the background or at once.
type closer struct {
	wg   sync.WaitGroup
	free chan struct{} // has room for each closing that goes on
	mu   sync.Mutex
	errs []error
}

func (c *closer) later(release func() error) {
	if c.free == nil {
		c.free = make(chan struct{}, closings)
	}
	free := c.free
	c.wg.Go(func() {
		free <- struct{}{}
		c.keep(release())
		<-free
	})
}

func (c *closer) keep(err error) {
	if err != nil {
		c.mu.Lock()
		c.errs = append(c.errs, err)
		c.mu.Unlock()
	}
}

// settle waits for all closing to end. What went wrong is for wait.
func (c *closer) settle() { c.wg.Wait() }

// wait waits for all closing to end and gives the errors since the last wait.
func (c *closer) wait() error {
	c.wg.Wait()
	err := errors.Join(c.errs...)
	c.errs = nil
	return err
}

// stop ends the delivery of events as far as that is possible without closing.
// Disabling the perf event of a tracepoint would not keep its program from
// running. An error means that the event is dead already.
func (p spot) stop() {
	if event, ok := p.link.(*bpf.PerfEvent); ok && p.kind == clockPoint {
		_ = event.Stop()
	}
}

// Refused are the Places that a pattern of the probe number Probe matched and that the kernel does not let be probed.
type Refused struct {
	Probe  int
	Places []string
}

// returnEvents makes events for return probes. Its methods but create may be
// called from several goroutines.
type returnEvents struct {
	dir     string   // tracefs
	file    *os.File // kprobe_events: what is appended is done at once
	profile *os.File // kprobe_profile: what they counted
	prefix  string   // of the names of all that it makes
	made    int
}

// A pairing are the counts of a site that do not belong to what is reported.
type pairing struct {
	before uint64 // counted while programs were not all attached
	at     uint64 // the count when the last of them began to be taken off
	on     bool   // they have all been attached
	off    bool   // and are being taken off
}

// leftOut are the programs that were left out, with the reasons.
type leftOut struct {
	programs []*program
	reasons  []error
}

func (o *leftOut) has(p *program) bool { return slices.Contains(o.programs, p) }

type memoryLeft struct {
	bytes       uint64
	read, known bool
}

// A rank is when programs are attached: the ends of spans come before their starts,
// so that no start is recorded whose end is then not seen. Programs at one
// tracepoint run in the order in which they were attached (order.go): an entry of a
// span has its new number before others look for it, and is forgotten after all have.
type rank uint8

// An opener attaches a program to one of its places.
type opener func(*tree.Place) (spot, error)

const (
	rawPoint      pointKind = iota // closing detaches, at once
	clockPoint                     // can be stopped apart from closing
	probePoint                     // closing detaches and waits for programs that run
	countingPoint                  // the same, and it counts what it missed (bpf.Missed)
	tracePoint                     // closing detaches but waits for RCU
	returnPoint                    // the same, and then its event is to be removed
)

// The ranks; 0 is none.
const (
	rankExec   rank = iota + 1 // gives the entry of a span its new number
	rankEnd                    // ends of spans of system calls
	rankOther                  // all others, the ends of a probe before its starts
	rankStart                  // starts of spans of system calls
	rankExit                   // forgets entries of spans
	rankAtOnce                 // runs when it is attached: all others see what it does
)

// closings bounds how many threads wait in close(2) at a time: a pattern can
// have put up thousands of probes.
const closings = 64

// probesOf gives the probes of some programs, each once.
func (l *Loaded) probesOf(programs func(*program) bool) (probes []int) {
	for _, p := range l.programs {
		if programs(p) && !slices.Contains(probes, p.Probe) {
			probes = append(probes, p.Probe)
		}
	}
	return probes
}
