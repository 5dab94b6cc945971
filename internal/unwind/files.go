package unwind

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/internal/wire"
)

// The files whose rows are kept, read, shared and given up; the message that there is no room for the rules of all
// programs.

// A shelf is the files of which rows are kept, with the chunks that these are in.
type shelf struct {
	byID  map[any]*file
	space *space
	clock uint64 // of uses
	// reading is how many are being read, or wait for that.
	reading int
}

// A file is one that processes have mapped.
type file struct {
	packedFile
	id    any
	build string
	// run is where its rows are; nil: it has none.
	run *run
	// reading: its rows are not there yet. waiting are the layouts that are told when they are.
	reading bool
	waiting map[*layout]bool
	// told: walks find it by what is mapped.
	told bool
	// refs counts the places in layouts that have it, used is when it was asked for last.
	refs int
	used uint64
}

// A run is chunks in a row. Files of one build share theirs.
type run struct {
	first, n int
	// refs counts the files and the tables that have it.
	refs int
}

func newShelf(chunks int) shelf { return shelf{byID: map[any]*file{}, space: newSpace(chunks)} }

// file gives the one of some code, and begins to read it if it is not known; nil: it has none.
func (k *Keeper) file(c *Mapped) *file {
	id, open := k.source(c)
	if id == nil {
		return nil
	}
	k.clock++
	if f := k.byID[id]; f != nil {
		f.used = k.clock
		return f
	}
	from, err := open()
	if err != nil {
		return nil // it is looked for again when it is mapped again
	}
	if len(k.byID) >= mostFiles {
		k.evict(len(k.space.taken))
	}
	f := &file{id: id, reading: true, waiting: map[*layout]bool{}, used: k.clock}
	k.byID[id] = f
	k.reading++
	go k.guarded(func() { k.readFile(f, from) })
	return f
}

// guarded keeps a panic for Trouble.
func (k *Keeper) guarded(work func()) {
	defer func() {
		if p := recover(); p != nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.panicked = &until.Panic{What: p, Stack: debug.Stack()}
		}
	}()
	work()
}

// mostFiles bounds those that are remembered though no process has them, as those without rules.
const mostFiles = 1 << 14

// packingBytes is about how many bytes it takes to read the rules of a file: of tables of 5 MB (libLLVM) 44 MB, of 7 MB
// of Go's table, in which there is much else, 20 MB.
func packingBytes(elf *elffile.File) uint64 {
	const least, each, eachOfGo = 1 << 20, 12, 3
	bytes := uint64(least)
	if elf.Size() == 0 { // it is no file, as the code of uprobes
		return bytes
	}
	sizes := map[string]uint64{}
	for _, name := range []string{".eh_frame", ".debug_frame", ".gopclntab", ".data.rel.ro.gopclntab"} {
		if _, size, err := elf.SectionReader(name); err == nil {
			sizes[name] = uint64(size)
		}
	}
	bytes += each * (sizes[".eh_frame"] + sizes[".debug_frame"])
	if sizes[".debug_frame"] == 0 {
		bytes += eachOfGo * (sizes[".gopclntab"] + sizes[".data.rel.ro.gopclntab"])
	}
	return bytes
}

// readFile reads a file and lets those know who wait for it. What is wrong with the file leaves it without rules.
func (k *Keeper) readFile(f *file, from contents) {
	elf, end, err := k.begin(from)
	defer end()
	if k.isClosed() {
		return
	}
	switch {
	case err != nil:
		k.done(f, packedFile{}, nil)
		return
	case k.shares(f, buildOf(elf)):
		return
	}
	leave, err := k.room.Enter(k.packing(elf))
	if err != nil {
		k.unread(err)
		k.done(f, packedFile{}, nil)
		return
	}
	packed, chunks := from.pack(elf)
	leave()
	var r *run
	if len(chunks) > 0 {
		r = k.write(chunks)
	}
	if r != nil {
		packed.chunk = uint32(r.first)
	}
	k.done(f, packed, r)
	k.growAhead()
}

// begin opens a file when it is its turn, and gives what ends that. Of large files one is read at a time: small ones do
// not wait behind them.
func (k *Keeper) begin(from contents) (elf *elffile.File, end func(), err error) {
	k.turn <- struct{}{}
	small := func() {
		_ = from.Close()
		<-k.turn
	}
	if elf, err = from.open(); err != nil || k.packing(elf) < largeFile {
		return elf, small, err
	}
	<-k.turn
	k.large <- struct{}{}
	k.turn <- struct{}{}
	return elf, func() {
		small()
		<-k.large
	}, nil
}

// unread says why there was no room for the rules of a file.
func (k *Keeper) unread(why error) {
	k.tell("the rules of some programs are not read, so stacks can be short or wrong in their code without frame " +
		"pointers: " + why.Error())
}

// buildOf tells builds apart, "" where it is not known: by the id and, since anyone can write one, by what the file
// maps.
func buildOf(elf *elffile.File) string {
	if elf.BuildID == "" {
		return ""
	}
	return fmt.Sprint(elf.BuildID, elf.Segments())
}

// shares gives a file the rows of another one of the same build, if there is one.
func (k *Keeper) shares(f *file, build string) bool {
	same, ok := k.ofBuild(f, build)
	if ok {
		k.done(f, same.packedFile, same.run)
	}
	return ok
}

// ofBuild gives what another file of a build has, and counts that as taken.
func (k *Keeper) ofBuild(f *file, build string) (same file, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.build = build
	for _, other := range k.byID {
		if build == "" || other.build != build || other == f || other.reading {
			continue
		}
		if other.run != nil {
			other.run.refs++
		}
		return *other, true
	}
	return file{}, false
}

// write puts chunks into the kernel; nil where that cannot be.
func (k *Keeper) write(chunks []byte) *run {
	n := len(chunks) / wire.UnwindChunk
	first, ok := k.take(n)
	if !ok {
		k.tell("there is no room for the rules of all programs: stacks can be short or wrong in code without frame " +
			"pointers")
		return nil
	}
	segments := 1 + (first+n-1)/wire.UnwindSegment
	leave, err := k.room.Enter(uint64(len(chunks)) + k.growth(segments))
	if err != nil {
		k.unread(err)
		k.mu.Lock()
		k.space.give(first, n)
		k.mu.Unlock()
		return nil
	}
	defer leave()
	if !k.grow(segments) || !k.put(first, chunks) {
		return nil // what may be half written is not used again
	}
	return &run{first: first, n: n, refs: 1}
}

// put writes chunks, unless the maps are closed.
func (k *Keeper) put(first int, chunks []byte) bool {
	k.growing.Lock()
	defer k.growing.Unlock()
	return !k.isClosed() && k.checked(k.kernel.chunks(first, chunks))
}

// done notes what a file has.
func (k *Keeper) done(f *file, packed packedFile, r *run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.packedFile, f.run, f.reading = packed, r, false
	k.reading--
	waiting := f.waiting
	f.waiting = nil
	if !k.closed {
		k.tellFound(f)
		for l := range waiting {
			k.publish(l)
		}
	}
	close(k.read)
	k.read = make(chan struct{})
}

// youth is how long a process keeps its table whoever wants its room.
const youth = time.Second

// take takes chunks; others that were not used for longest go if there are too few.
func (k *Keeper) take(n int) (first int, ok bool) {
	for last := false; ; {
		k.mu.Lock()
		first, ok = k.space.take(n)
		evicted := !ok && n < len(k.space.taken) && (k.evict(n) || k.evictProcesses(youth))
		k.mu.Unlock()
		if ok || last {
			return first, ok
		}
		// Where nothing can go, and nobody has given anything back, another goroutine may have done so meanwhile.
		last = !k.reclaim() && !evicted
	}
}

// evict forgets files that no process has mapped, those that were used longest ago first, until they have so many
// chunks. It reports whether there were any.
func (k *Keeper) evict(n int) bool {
	var idle []*file
	for _, f := range k.byID {
		if f.refs == 0 && !f.reading {
			idle = append(idle, f)
		}
	}
	slices.SortFunc(idle, func(a, b *file) int { return cmp.Compare(a.used, b.used) })
	for _, f := range idle {
		if n <= 0 {
			break
		}
		delete(k.byID, f.id)
		k.forgetFound(f)
		if f.run != nil {
			n -= f.run.n
			k.leaveRun(f.run)
		}
	}
	return len(idle) > 0
}

// leaveRun is called for each reference that ends.
func (k *Keeper) leaveRun(r *run) {
	if r.refs--; r.refs == 0 {
		k.limbo.runs = append(k.limbo.runs, r)
	}
}

// grow makes segments until there are n.
func (k *Keeper) grow(n int) bool {
	k.growing.Lock()
	defer k.growing.Unlock()
	if k.isClosed() {
		return false
	}
	errs := make(chan error)
	for i := k.made; i < n; i++ {
		go func() { errs <- k.kernel.segment(i) }() // each waits until the programs of the moment have ended
	}
	var failed error
	for i := k.made; i < n; i++ {
		failed = errors.Join(failed, <-errs)
	}
	if failed == nil {
		k.made = max(k.made, n)
	}
	return k.checked(failed)
}

// growth is how many bytes the kernel takes for the segments that are missing of n.
func (k *Keeper) growth(n int) uint64 {
	k.growing.Lock()
	defer k.growing.Unlock()
	return uint64(max(0, n-k.made)) * wire.UnwindSegment * wire.UnwindChunk
}

// growAhead makes a segment before it is needed, if there is memory for it.
func (k *Keeper) growAhead() {
	k.mu.Lock()
	last := len(k.space.taken)
	for !k.space.taken[last-1] {
		last--
	}
	most := (len(k.space.taken) + wire.UnwindSegment - 1) / wire.UnwindSegment
	k.mu.Unlock()
	n := min(most, 1+(last+ahead)/wire.UnwindSegment)
	if leave, err := k.room.Enter(k.growth(n)); err == nil {
		defer leave()
		k.grow(n)
	}
}

// ahead is how many chunks are to be there for the next files.
const ahead = wire.UnwindSegment / 2
