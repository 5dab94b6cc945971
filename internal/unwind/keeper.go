// Package unwind keeps in the kernel what programs need to walk along the stacks of user programs without frame
// pointers: for each process a table of its code, and for each file rows that say where frames begin. Package wire has
// their layout (wire.UnwindPage).
//
// The way of a file: its rows (package cfi) are packed into chunks (chunks.go), which get room among the chunks of all
// files (space.go) and are written there. The way of a process: whoever knows what it has mapped says so (Keeper.Set,
// Copy, Drop); its mappings become areas, of which each belongs to one run of chunks or has no rules, and these the
// bytes of a table (table.go). Places for tables, and the chunks of a file, are counted by who has them (slots.go).
//
// Files are known by what their owner says they are, so that all processes share the rows of a library. They are read
// on goroutines of their own: a process gets its table at once, which says of what is still being read that it is. A
// walk goes by frame pointers there, and its entry says so. Where the kernel tells what is mapped at an address, files
// whose rows are there are found without a table, too (found.go).
//
// Programs in the kernel may be reading what is to be replaced. So nothing is written in its place: a table is written
// where none is, one update of the map of processes makes walks see it, and what nobody refers to any more is used
// again only after all programs have ended that could see it (Keeper.reclaim).
//
// What is kept is bounded. Where there is no room for the rows of another file, those of which no process has a table
// go first, then the tables of the processes that were asked for longest ago.
//
// A Keeper is safe for concurrent use.
package unwind

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/internal/wire"
)

// Keeper: processes get tables, lose them; the message that there is no room for the tables of all.

// Mapped is code that a process has mapped.
type Mapped struct {
	mapping.Mapping
	// File tells files apart, by ==; a file that was written anew is another one. nil: there is none that can be read.
	File any
	// Open opens the file, if nothing is known of it. It is called before Set returns.
	Open func() (*os.File, error)
	// Loaded: the program may unload it, and load something else there.
	Loaded bool
}

// Options are what a Keeper cannot know.
type Options struct {
	// Chunks bounds the memory for rows, in chunks of wire.UnwindChunk bytes; 0: as many as the maps can have.
	Chunks int
	// Room lets in who reads the rows of a file.
	Room until.Room
}

// A Keeper keeps the tables of all processes of a run.
type Keeper struct {
	// kernel writes the maps that programs read, and close closes them.
	kernel kernel
	close  func() error
	// source says which file some code is of.
	source func(*Mapped) (id any, open func() (contents, error))
	// packing is about how many bytes it takes to read the rules of a file.
	packing func(*elffile.File) uint64

	mu    sync.Mutex // guards what is below, up to panicked
	shelf            // the files with their rows
	slots            // the places for tables
	// processes are those that have a table or wait for one, by their numbers.
	processes map[int]*traced
	// unplaced are layouts whose tables found no slot.
	unplaced map[*layout]bool
	// limbo has what was taken away and programs may still read.
	limbo limbo
	// reclaiming: a goroutine waits for the programs that can see what is in limbo.
	reclaiming bool
	// read is closed, and made anew, whenever a file has been read.
	read chan struct{}
	// closed: the run ends, and nothing is written any more.
	closed bool
	// trouble is what has gone wrong and was not told yet, and told what was.
	trouble []string
	told    map[string]bool
	// panicked is a panic of another goroutine; nil: there was none.
	panicked *until.Panic

	// growing orders the making of segments, which takes long, outside of mu. made is how many there are.
	growing sync.Mutex
	made    int
	// settling is held by who waits for programs in the kernel.
	settling sync.Mutex
	// turn bounds how many files are read at the same time, large how many of these are large, and room lets in who
	// reads one.
	turn, large chan struct{}
	room        until.Room
}

// A traced process is one that has a table, or will get one when files have been read.
type traced struct {
	// layout is what it has mapped.
	layout *layout
	// image is what ran when that was told (wire.UnwindImage).
	image uint64
	// shown is the table that walks use; nil as long as it has none. They use it while shownImage runs.
	shown      *slot
	shownImage uint64
	// fed is when its mappings were last told.
	fed time.Time
}

// mostAtOnce is how many files are read at the same time: rows take memory while they are made.
const mostAtOnce = 2

// New makes a Keeper without processes. The maps stay open until Close.
func New(m Maps, o Options) *Keeper {
	all := &kernelMaps{Maps: m, numbers: map[int]uint32{}}
	k := newKeeper(all, int(m.Tables.MaxEntries()), o)
	k.close = all.close
	k.check(all.table(wire.UnwindNoMappings, encode(nil)))
	go k.grow(1) // so that it is there when the first file has been read
	return k
}

func newKeeper(to kernel, tables int, o Options) *Keeper {
	chunks := wire.UnwindSegments * wire.UnwindSegment
	if o.Chunks > 1 && o.Chunks < chunks {
		chunks = o.Chunks
	}
	return &Keeper{
		kernel: to, source: source, packing: packingBytes, close: func() error { return nil }, shelf: newShelf(chunks),
		slots: newSlots(tables), processes: map[int]*traced{}, unplaced: map[*layout]bool{},
		read: make(chan struct{}), told: map[string]bool{}, turn: make(chan struct{}, mostAtOnce),
		large: make(chan struct{}, mostAtOnce-1), room: o.Room,
	}
}

// Set says what a process has mapped now, and which image runs (wire.UnwindImage; 0: that is not known).
func (k *Keeper) Set(pid int, image uint64, code []Mapped) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	p := k.process(pid)
	p.fed, p.image = time.Now(), image
	if p.layout != nil && p.layout.is(code) {
		if p.shown != nil {
			k.show(p, pid, p.shown)
		}
		return
	}
	l := k.layoutOf(code)
	k.join(p, pid, l)
	k.publish(l)
}

// Copy says that a process began as a copy of another one.
func (k *Keeper) Copy(child, parent int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(child)
	from := k.processes[parent]
	if k.closed || from == nil || from.layout == nil {
		return
	}
	p := k.process(child)
	p.fed, p.image = from.fed, from.image
	k.join(p, child, from.layout)
	if from.shown != nil {
		k.show(p, child, from.shown)
	}
}

// Drop says that a process has ended, or that nothing is mapped any more of what it had.
func (k *Keeper) Drop(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(pid)
}

// Knows reports whether it was told what a process has mapped.
func (k *Keeper) Knows(pid int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.processes[pid] != nil
}

// Processes are those that it was told of.
func (k *Keeper) Processes() []int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Keys(k.processes))
}

// Expect begins to read a file that processes will map.
func (k *Keeper) Expect(file any, open func() (*os.File, error)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.file(&Mapped{File: file, Open: open})
	}
}

// Await waits until all files have been read that are known by now, or for a time.
func (k *Keeper) Await(most time.Duration) {
	over := time.After(most)
	for {
		k.mu.Lock()
		reading, read := k.reading, k.read
		k.mu.Unlock()
		if reading == 0 {
			return
		}
		select {
		case <-read:
		case <-over:
			return
		}
	}
}

// mostWaiting is how many open files may wait to be read before what can wait should.
const mostWaiting = 32

// Busy reports whether many files wait to be read, each of which is open.
func (k *Keeper) Busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reading > mostWaiting
}

// ReadingSize is about how many bytes are taken while the rows of large files are made.
const ReadingSize = mostAtOnce * largeFile

// largeFile is that of one, which takes about half of what a smaller file has.
const largeFile = 8 << 20

// Reading reports whether files are being read.
func (k *Keeper) Reading() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reading > 0
}

// Trouble gives what is to be told, each thing once. What has panicked on another goroutine panics here.
func (k *Keeper) Trouble() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.panicked != nil {
		panic(k.panicked)
	}
	out := k.trouble
	k.trouble = nil
	return out
}

// Close ends what goes on. The maps are not used any more.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.settling.Lock()
	defer k.settling.Unlock()
	k.growing.Lock()
	defer k.growing.Unlock()
	return k.close()
}

// process gives one, and makes room for it if it is new.
func (k *Keeper) process(pid int) *traced {
	p := k.processes[pid]
	if p == nil {
		if len(k.processes) >= wire.UnwindProcesses {
			k.evictProcesses(0)
		}
		p = &traced{}
		k.processes[pid] = p
	}
	return p
}

// drop forgets a process.
func (k *Keeper) drop(pid int) {
	p := k.processes[pid]
	if p == nil {
		return
	}
	if p.shown != nil {
		k.check(k.kernel.forget(pid))
		k.leaveSlot(p.shown)
	}
	k.leave(p, pid)
	delete(k.processes, pid)
}

// show lets walks of a process use a table.
func (k *Keeper) show(p *traced, pid int, s *slot) {
	if p.shown == s && p.shownImage == p.image {
		return
	}
	if err := k.kernel.process(pid, s.number, p.image); err != nil {
		k.check(err)
		return
	}
	s.refs++
	if p.shown != nil {
		k.leaveSlot(p.shown)
	}
	p.shown, p.shownImage = s, p.image
}

// check keeps an error of the kernel's.
func (k *Keeper) check(err error) {
	if err != nil && !k.closed {
		k.note("tables for stacks of programs: " + err.Error())
	}
}

// checked is check for who does not hold mu. It reports whether all went well.
func (k *Keeper) checked(err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.check(err)
	return err == nil
}

// tell is note for who does not hold mu.
func (k *Keeper) tell(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.note(text)
}

// note keeps a text, once.
func (k *Keeper) note(text string) {
	if !k.told[text] {
		k.told[text] = true
		k.trouble = append(k.trouble, text)
	}
}

// evictProcesses drops a quarter of the processes, those that were asked for longest ago, but none that was younger
// than an age. It reports whether there were any.
func (k *Keeper) evictProcesses(age time.Duration) bool {
	pids := slices.Collect(maps.Keys(k.processes))
	slices.SortFunc(pids, func(a, b int) int { return k.processes[a].fed.Compare(k.processes[b].fed) })
	dropped := false
	for _, pid := range pids[:(len(pids)+3)/4] {
		if time.Since(k.processes[pid].fed) < age {
			break
		}
		k.drop(pid)
		dropped = true
	}
	if dropped {
		k.note("there is no room for the tables of all processes: stacks of those that were not seen for longest are " +
			"short until theirs are made again")
	}
	return dropped
}
