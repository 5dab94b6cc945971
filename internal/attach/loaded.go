package attach

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/callcount"
	"github.com/startrace/startrace/internal/kernel"
)

// Loaded, a unit in the kernel, its programs and spots, and their options.

// Options says what Load and Attach cannot know by themselves. They hold as long as the Loaded lives. All fields may be
// nil.
type Options struct {
	// TracepointID gives the number of a perf tracepoint, which is in the file "id" of its folder in tracefs. It is
	// needed only where a program has AttachTracepoint, or where an entry or an exit of system calls is exact.
	TracepointID func(group, name string) (uint64, error)
	// Features says what the kernel can do. It is asked only where a program stands at functions. If it is nil, each
	// function has a probe of its own, and there are no links to many functions and no sessions.
	Features func() kernel.Features
	// Tracefs finds the folder where tracefs is mounted. It is asked only where a program stands at returns of kernel
	// functions. If it is nil or fails, the kernel follows few open calls of each function (FewReturns).
	Tracefs func() (string, error)
	// ReturnsAsEntries reports whether links of kprobes run programs at returns in the order in which they run at
	// entries, as they do from 6.14 on. If it is nil, they run them the other way round.
	ReturnsAsEntries func() bool
	// Drain takes what programs have sent from the ring, while an iterator runs or DetachProbe waits. If it is nil,
	// what is sent then must fit into the ring.
	Drain func() error
	// Replaces is set where programs of this unit may take the place of those of another, or give theirs up (TakeOver).
	Replaces bool
	// Stop gives an error once the user does not want the unit any more. It is asked between two programs, as hundreds
	// of programs take a while to load and to attach. If it is nil, nothing is stopped.
	Stop func() error
	// LoadedAt gives what the command adds to the addresses of a file. It is needed only where a program watches memory
	// of the command that is position-independent. loaded is false as long as the command does not run.
	LoadedAt func(file string) (added uint64, loaded bool, err error)
	// InGroup is how much memory the control groups of this process leave. If it is nil, what the machine has free is
	// all that counts.
	InGroup func() uint64
	// Fit gives an error where too little memory is left for programs, which the kernel's check of them takes. It is
	// asked once the maps are made. If it is nil, nobody knows.
	Fit func() error
	// Calls says whose calls are counted beside programs that can miss some. known is false where that cannot be said
	// to perf. If it is nil, none are counted.
	Calls func() (of callcount.Scope, known bool)
	// Shared has the maps that several units use. If it is nil, there is one unit.
	Shared *Shared
}

// stopped is the error of Stop, nil where nobody wants the work to end.
func (o *Options) stopped() error {
	if o.Stop == nil {
		return nil
	}
	return o.Stop()
}

// drain takes from the ring what was sent, if there is somebody to take it.
func (o *Options) drain() error {
	if o.Drain == nil {
		return nil
	}
	return o.Drain()
}

// A Loaded is a unit in the kernel, from Load to Close.
type Loaded struct {
	// unit is what was compiled. It does not change.
	unit *bpfgen.Unit
	// opts are what the caller of Load has given.
	opts Options
	// maps are the maps of the unit by name, until Close. The ones that several units share belong to Options.Shared.
	maps map[string]*ebpf.Map
	// programs are the programs that are loaded, until Close. One program of the unit can be several here, since the
	// places that a link refuses get a program of their own; a session is one for two programs of the unit.
	programs []*program
	// sites reads the counters of what programs have lost. It keeps the last numbers when Close has released the map.
	sites *siteCounters
	// closing releases spots in the background.
	closing closer
	// refused are the places that the kernel has not taken since Load. Refused tells them once all is attached.
	refused []Refused
	// returns makes the events of return probes of kernel functions. It is nil until the first of them is attached, and
	// where tracefs cannot be used.
	returns *returnEvents
	// pairings are what is left out of the counts of pairs, by the index of the site in Unit.Sites. It is nil until a
	// probe with such a site is attached.
	pairings map[int]pairing
	// calls count the system calls of spans, by the index of the span in the unit. It is nil until programs are
	// attached that can miss calls.
	calls map[int]*callCount
	// unread is the first reason why program.unseen is less than what a closed spot has missed. It is nil if all was
	// read.
	unread error
	// counts makes the kernel count the runs of programs while it is open, from CountRuns to Close. It is nil where
	// nobody has called CountRuns.
	counts io.Closer
}

// A program is a loaded program with what attaches it, from Load to the end of Close.
type program struct {
	*tree.Program
	// code is the program in the kernel. It is nil once Close has closed it.
	code *ebpf.Program
	// points are where the program is attached now. It is nil while it is attached nowhere.
	points []spot
	// detached is set once the program has been detached for the first time, and stays set.
	detached bool
	// missed is how many runs the kernel has skipped, as it was last read. It stays when code is closed.
	missed uint64
	// multi is set where code was loaded to be attached by a link to many places (openFunctions). session is set where
	// code has the program at the return in it, too (openSession).
	multi, session bool
	// fewReturns is set where the kernel follows few open calls and does not count the others (FewReturns).
	fewReturns bool
	// missedKnown is set where missed could be read the last time, which needs 5.12.
	missedKnown bool
	// waits is set while the program is to be attached once the command runs (AttachMoved).
	waits bool
	// moved is what the command has added to the address that the program watches, in bytes. It is set by the last
	// attempt to attach.
	moved uint64
	// gate has the program to which code jumps, where another can take its place. It is nil where code is the program.
	gate *gate
	// carried is added to what the kernel counts for code.
	carried carried
	// unseen is how many calls the spots have missed that are closed by now.
	unseen uint64
}

// Map gives a map of the unit by its name, such as bpfgen.MapRing, and nil if there is none. It belongs to l, or to
// Options.Shared, and is not to be closed by the caller.
func (l *Loaded) Map(name string) *ebpf.Map { return l.maps[name] }

// program finds a loaded program by its name, nil if there is none.
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

// A spot is one place where a program is attached, as long as it is attached there. A link to many functions is one
// spot.
type spot struct {
	// link keeps the program attached until it is closed. Of a clockPoint it is a *bpf.PerfEvent.
	link bpf.Link
	// kind says how the spot is stopped and closed.
	kind pointKind
	// event is the name of the event in tracefs that belongs to a returnPoint; "" for all other kinds.
	event string
	// cpu is the number of the CPU whose event a clockPoint is. It means nothing for other kinds.
	cpu int
	// module is the kernel module that has the function of a single probe. It is "" for the kernel itself, for user
	// programs and for links.
	module string
}

// A gate is the rest of what belongs to a program that is not attached itself, but by a program that jumps to it.
type gate struct {
	// array has one entry: the program to which the attached one jumps.
	array *ebpf.Map
	// behind is the program of the unit.
	behind *ebpf.Program
}

// carried is what is added to what the kernel counts for the attached code of a program, modulo 2⁶⁴: what another
// program has counted there before is taken off, and what was counted at code that went to another is added.
type carried struct{ runs, ns, missed uint64 }

// A closer releases spots in the background, and keeps the errors of all releases.
type closer struct {
	// wg counts the releases that have begun and not ended.
	wg sync.WaitGroup
	// free has room for each release that may wait in the kernel at a time: closings. It is nil before the first.
	free chan struct{}
	// mu guards errs.
	mu sync.Mutex
	// errs are the errors since the last call of wait.
	errs []error
}

// later calls all releases in the background. released is closed when they have returned.
func (c *closer) later(releases ...func() error) (released <-chan struct{}) {
	if c.free == nil {
		c.free = make(chan struct{}, closings)
	}
	free, all := c.free, make(chan struct{})
	var left atomic.Int64
	left.Store(int64(len(releases)))
	if len(releases) == 0 {
		close(all)
	}
	for _, release := range releases {
		c.wg.Go(func() {
			free <- struct{}{}
			c.keep(release())
			<-free
			if left.Add(-1) == 0 {
				close(all)
			}
		})
	}
	return all
}

// keep notes an error, if it is one, for wait.
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

// returnEvents makes events of tracefs for return probes of kernel functions. Its methods but create may be called from
// several goroutines.
type returnEvents struct {
	// dir is the folder where tracefs is mounted.
	dir string
	// file is kprobe_events of that folder. What is appended to it is done at once: an event is made, or removed.
	file *os.File
	// profile is kprobe_profile of that folder, in which the kernel lists what events have counted.
	profile *os.File
	// prefix begins the names of all events of this Loaded. It has the number of the process and 8 random characters.
	prefix string
	// made is how many events were made so far. The next name ends in the number behind it.
	made int
}

// A pairing says which counts of a site about pairs are left out of the report, see pairing.go. The report is the count
// less before, or at less before once off is set.
type pairing struct {
	// before is what was counted while not all programs of the probe were attached.
	before uint64
	// at is the count when the programs began to be detached. It means nothing unless off is set.
	at uint64
	// on is set from when all programs of the probe have been attached for the first time.
	on bool
	// off is set from when the programs begin to be detached until all are attached again.
	off bool
}

// leftOut are the programs that one call of attach leaves out, and at the same index the reasons (leave).
type leftOut struct {
	programs []*program
	reasons  []error
}

func (o *leftOut) has(p *program) bool { return slices.Contains(o.programs, p) }

// memoryLeft is how much of the machine's memory is left while the maps of a unit are made: bytes, less those of the
// maps so far. It was read if read is set. of says in words what has that; "": it is not known.
type memoryLeft struct {
	bytes uint64
	read  bool
	of    string
}

// A rank says when programs are attached: those of a lower rank come first. The ends of spans come before their starts,
// so that no start is recorded whose end is then not seen. Programs at one tracepoint run in the order in which they
// were attached (order.go). So the entry of a span has the new number of its thread before others look for it, and is
// forgotten after all others have looked.
type rank uint8

// An opener attaches a program to one of its places.
type opener func(*tree.Place) (spot, error)

// The kinds of spots.
const (
	// rawPoint is a raw tracepoint. Closing it detaches the program at once.
	rawPoint pointKind = iota
	// clockPoint is a perf event of one CPU: of a clock, a counter or a watchpoint. It can be stopped before it is
	// closed.
	clockPoint
	// probePoint is a probe of functions. Closing it detaches the program and waits until no run of it is left.
	probePoint
	// countingPoint is a link to kernel functions: a probePoint that counts what it has missed (bpf.Missed).
	countingPoint
	// tracePoint is a perf tracepoint. Closing it detaches the program, and waits for a grace period of RCU.
	tracePoint
	// returnPoint is an event of tracefs at the returns of a kernel function. It is closed like a tracePoint, and its
	// event is removed after that.
	returnPoint
)

// The ranks in the order of attaching; 0 is none.
const (
	// rankExec is that of span_exec, which gives the entry of a span the new number of its thread.
	rankExec rank = iota + 1
	// rankEnd is that of ends of spans of system calls.
	rankEnd
	// rankOther is that of all others. The ends of one probe come before its starts, as they do in the unit.
	rankOther
	// rankStart is that of starts of spans of system calls.
	rankStart
	// rankExit is that of span_exit, which removes the entries of threads that end.
	rankExit
	// rankAtOnce is that of iterators, which run while they are attached. All others are attached by then, and see what
	// an iterator causes.
	rankAtOnce
)

// closings is how many threads at most wait in close(2) at a time. A pattern can have attached thousands of probes.
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
