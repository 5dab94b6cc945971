// Package memory bounds what a run takes: a budget that it keeps within while it can,
// and a limit for the values of the script, at which the run ends with a message
// before the kernel ends it without one.
package memory

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// The budget of a run (--memory, Default), when garbage is collected (`usual`, `atFirst`), and messages that values or
// a run take too much.

const (
	// Default is the budget of a run: what is resident of it, with the ring.
	Default = 64 << 20
	// outside is what a run has besides values: its own code, the ring, maps that are
	// mapped, stacks.
	outside = 24 << 20
	// whole is what is resident beyond that where nearly all of the program has run, as when a long run prints stacks:
	// its code and what is constant are 17 MB, and the ring 8.
	whole = 4 << 20
	// least is what values get in any case: a run cannot do with less.
	least = 8 << 20
)

// Least is the smallest budget.
const Least = outside + least

// A Budget is that of a run, from Begin on.
type Budget struct {
	// most is how many bytes the values of the script may take.
	most uint64
	// over is called once they take more, and again where what runs after Renew takes more, on another goroutine.
	over func()
	// last is what Warn was told.
	last func(text string)

	// mu guards what is below it, up to before.
	mu sync.Mutex
	// limit is what the values may take now: most, or more at the end of a run. seen is the last collection of those
	// before Renew, of which nobody asks any more.
	limit, seen uint64
	// soft is what the collector of garbage keeps the heap within, as long as it can.
	soft uint64
	// fixed: the budget was asked for, so that soft does not grow.
	fixed bool
	// before is the limit of the collector before Begin.
	before int64
	// percent is by how much the heap grows between two collections, in percent of what is live; 0: the first
	// collection has been, and it grows so again.
	percent int
	// base is what was live when all was made that the run needs, and buffers what it holds since then that is no
	// value: events on their way, names of addresses.
	base    uint64
	buffers atomic.Uint64
	// narrow is held by who takes much for a while where little is left. inside is what those take who do so now.
	narrow sync.Mutex
	inside atomic.Int64
	// isOver: the values have taken more. closed: nobody looks any more.
	isOver, closed atomic.Bool
	// loaded: the script has been loaded, and no collection has been since.
	loaded atomic.Bool
}

// New makes a budget of so many bytes, 0 for Default. Where no budget was asked for,
// what the script keeps may grow beyond it, up to a third of what the machine, the
// control group and the limits of the process leave: a container that grows is there
// once in its old and twice in its new size. A budget that was asked for is all that
// the run takes, so that values may take half of what is left of it: the other half
// is for what they grow by, and for what is not collected yet.
func New(size uint64, over func()) *Budget {
	free := Available()
	b := &Budget{over: over, fixed: size > 0}
	if b.fixed {
		b.soft = max(size, Least) - outside
		b.most = max(least, b.soft/2)
	} else {
		b.soft = max(min(Default-whole, free), Least) - outside
		b.most = max(least, (free-min(free, outside))/3)
	}
	b.limit = b.most
	return b
}

// start is what is left where a run can begin: with less scripts are not compiled.
const start = Least - room/2

// Begins is an error where the control group leaves less than any run takes.
func Begins() error { return leaves(InGroup(), start) }

// leaves is an error where a control group leaves less than a run takes.
func leaves(left, takes uint64) error {
	if left >= takes {
		return nil
	}
	return fmt.Errorf("the control group (cgroup) of startrace leaves %s of memory, and a run takes %s: raise its "+
		"limit, or end what else is in it", inMB(left), inMB(takes))
}

// Begin makes the collector keep to the budget until Close, and looks after each
// collection at what is left.
func (b *Budget) Begin() {
	b.mu.Lock()
	b.before = debug.SetMemoryLimit(int64(b.soft))
	b.percent = debug.SetGCPercent(atFirst)
	if b.percent != usual { // GOGC is set
		debug.SetGCPercent(b.percent)
		b.percent = 0
	}
	b.mu.Unlock()
	b.afterCollection()
	b.watch()
}

// usual is by how much the heap grows between two collections, atFirst the same until the first one, in percent. The
// runtime begins to collect at 4 MB for each 100. To compile and load a tool takes 10 to 20 MB, of which nearly all is
// garbage in the end: collections in between would be a fifth of the time.
const (
	usual   = 100
	atFirst = 400
)

// settle makes the heap grow as usual, once there has been a collection.
func (b *Budget) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.percent > 0 {
		debug.SetGCPercent(b.percent)
		b.percent = 0
	}
}

// Close gives the collector back the limit that it had.
func (b *Budget) Close() {
	if b != nil && !b.closed.Swap(true) {
		debug.SetMemoryLimit(b.before)
		b.settle()
	}
}

// afterCollection makes look be called by the next collection of garbage.
func (b *Budget) afterCollection() {
	runtime.SetFinalizer(&mark{of: b}, func(m *mark) {
		if !m.of.closed.Load() {
			m.of.settle()
			m.of.watchGroup()
			m.of.look(read("gc/cycles/total:gc-cycles"), read("gc/heap/live:bytes"), read("gc/heap/goal:bytes"))
			if m.of.loaded.Load() {
				giveBackCode()
				m.of.loaded.Store(false)
			}
			m.of.afterCollection()
		}
	})
}

// Loaded says that the script is loaded. What has compiled it is given back at the next collection: a run that comes to
// none is short.
func (b *Budget) Loaded() {
	if b != nil {
		b.loaded.Store(true)
	}
}

// A mark becomes garbage at once.
type mark struct {
	of *Budget
	_  [16]byte // larger than what the runtime allocates together with others
}

// look compares what was live at a collection with the limits. goal is the size of the heap at which the next one ends:
// where little lies between the two, as more is live than the budget has or the rest of it is taken by stacks and by
// memory that is free but in pieces, the collector would do nothing else, so it gets room.
func (b *Budget) look(collection, live, goal uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	others := b.base + b.buffers.Load() + uint64(max(0, b.inside.Load()))
	if live > b.limit+others && collection > b.seen {
		b.isOver.Store(true)
		b.over()
	}
	if b.fixed {
		return
	}
	soft := b.soft
	if live > soft/4*3 {
		soft = live / 2 * 3
	} else if enough := live + live/4; goal < enough {
		soft += enough - goal
	}
	if soft > b.soft {
		soft = max(b.soft, min(soft, mostInGroup()))
	}
	if soft != b.soft {
		b.soft = soft
		debug.SetMemoryLimit(int64(soft))
	}
}

// Holds says how many bytes the run holds now that are no values of the script.
func (b *Budget) Holds(n uint64) {
	if b != nil {
		b.buffers.Store(n)
	}
}

// Rest says that the script makes no values any more: to print results takes much for a while.
func (b *Budget) Rest() { b.Holds(unlimited) }

// Pause lets more live than values may take, until Holds is called: what compiles a script and loads it takes more than
// that for a while. loaded is called behind that: what has been kept since is not the script's, as the types of its
// programs.
func (b *Budget) Pause() (loaded func()) {
	b.Holds(unlimited)
	if b == nil || !b.fixed {
		return func() {}
	}
	before := liveNow()
	return func() {
		after := liveNow()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.base = max(b.base, after-min(before, after))
	}
}

// liveNow is what is live, which is found out by a collection.
func liveNow() uint64 {
	runtime.GC()
	return read("gc/heap/live:bytes")
}

// room is what a run takes beside the maps at least.
const room = 6 << 20

// tight is what is left where a run gives back what it can before it takes more.
const tight = Default

// Fit makes the collector keep to what is left, where that is little: the maps of programs are taken of the same
// memory. It is called before they are made and behind that. It is an error where so little is left that the kernel
// would end the run without a word.
func (b *Budget) Fit() error {
	if b == nil || InGroup() >= tight {
		return nil
	}
	debug.FreeOSMemory()
	if err := leaves(InGroup(), room); err != nil {
		return err
	}
	b.mu.Lock()
	b.base = min(read("gc/heap/live:bytes"), least) // of which little can be the script's
	b.mu.Unlock()
	b.keep()
	return nil
}

// Renew lets something run that ends a run whose values have taken too much, as the functions that print results. It
// may take as much again, with all that is called after a Renew.
func (b *Budget) Renew() {
	if !b.Over() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit == b.most {
		b.limit += max(b.most, read("gc/heap/live:bytes"))
	}
	b.seen = read("gc/cycles/total:gc-cycles")
}

// Over reports whether the values of the script have taken more than they may; of
// nil not.
func (b *Budget) Over() bool { return b != nil && b.isOver.Load() }

// Room is an error where n more bytes would be too much.
func (b *Budget) Room(n uint64) error {
	if n <= b.most && read("memory/classes/heap/objects:bytes") <= b.most-n {
		return nil
	}
	runtime.GC() // much of it may be garbage
	if used := read("gc/heap/live:bytes"); n > b.most || used > b.most-n {
		return fmt.Errorf("this would take %s more, and the values of the script may take %s: keep less of them%s",
			inMB(n), inMB(b.most), remedy(used+n))
	}
	return nil
}

// Err says that the values have taken too much.
func (b *Budget) Err() error {
	return fmt.Errorf("the values of the script take more than %s: keep less of them%s", inMB(b.most), remedy(b.most))
}

// remedy names a budget with which values may take so many bytes, if the machine has that.
func remedy(values uint64) string {
	has := Available() + read("memory/classes/total:bytes")
	budget := enough(2 * (min(values, has) + outside))
	if size, err := Parse(budget); err != nil || size > has {
		return " (there is no memory to give it more: --memory)"
	}
	return ", or give it more: --memory " + budget
}

func inMB(n uint64) string { return fmt.Sprintf("%d MB", n>>20) }

// read gives a number of the runtime's, in bytes (package runtime/metrics).
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: "/" + name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
