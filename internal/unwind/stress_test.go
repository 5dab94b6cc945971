package unwind

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/wire"
)

// A model is maps in memory. What is written comes there in pieces, so that who reads meanwhile sees halves.
type model struct {
	mu       sync.Mutex
	segments map[int]bool
	memory   []byte
	tables   [][]byte
	shown    map[int]int
	// files are those that are found by what is mapped.
	files map[fileKey][]byte
	// wrong is what nobody may do.
	wrong []string
}

func newModel(tables int) *model {
	m := &model{segments: map[int]bool{}, memory: make([]byte, wire.UnwindSegments*wire.UnwindSegment*wire.UnwindChunk),
		shown: map[int]int{}, files: map[fileKey][]byte{}}
	for range tables {
		m.tables = append(m.tables, make([]byte, wire.UnwindTable))
	}
	return m
}

func (m *model) segment(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segments[n] {
		m.wrong = append(m.wrong, fmt.Sprintf("segment %d is made twice", n))
	}
	m.segments[n] = true
	return nil
}

func (m *model) chunks(first int, b []byte) error {
	for at := 0; at < len(b); at += wire.UnwindChunk {
		m.mu.Lock()
		if n := first + at/wire.UnwindChunk; !m.segments[n/wire.UnwindSegment] {
			m.wrong = append(m.wrong, fmt.Sprintf("there is no segment for chunk %d", n))
		}
		copy(m.memory[first*wire.UnwindChunk+at:], b[at:at+wire.UnwindChunk])
		m.mu.Unlock()
		runtime.Gosched()
	}
	return nil
}

func (m *model) table(slot int, b []byte) error {
	for at := 0; at < len(b); at += len(b) / 4 {
		m.mu.Lock()
		copy(m.tables[slot][at:], b[at:at+len(b)/4])
		m.mu.Unlock()
		runtime.Gosched()
	}
	return nil
}

func (m *model) process(pid, slot int, _ uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown[pid] = slot
	return nil
}

func (m *model) forget(pid int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.shown[pid]; !ok {
		m.wrong = append(m.wrong, fmt.Sprintf("process %d is forgotten twice", pid))
	}
	delete(m.shown, pid)
	return nil
}

func (m *model) file(key fileKey, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[key] = value
	return nil
}

func (m *model) forgetFile(key fileKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, key)
	return nil
}

// found reads what is found of a file, as walk does.
func (m *model) found(n numbered, rw *sync.RWMutex) (problem string) {
	rw.RLock()
	defer rw.RUnlock()
	key, _ := keyOf(n)
	m.mu.Lock()
	value := m.files[key]
	m.mu.Unlock()
	runtime.Gosched()
	if value == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	chunk := binary.NativeEndian.Uint32(value[wire.UnwindFileChunk:])
	if rule := ruleIn(m.memory[chunk*wire.UnwindChunk:], 0); int(rule>>11) != n.number {
		return fmt.Sprintf("file %d is found with rule %#x", n.number, rule)
	}
	return ""
}

// walk reads what a process has, in as many steps as programs do.
func (m *model) walk(pid int, rw *sync.RWMutex) (problem string, seen int) {
	rw.RLock()
	defer rw.RUnlock()
	m.mu.Lock()
	slot, ok := m.shown[pid]
	m.mu.Unlock()
	if !ok {
		return "", 0
	}
	for i := 1; i < wire.UnwindMappings; i++ {
		m.mu.Lock()
		start := binary.NativeEndian.Uint64(m.tables[slot][8*i:])
		m.mu.Unlock()
		if start == wire.UnwindBehind {
			break
		}
		runtime.Gosched()
		m.mu.Lock()
		e, ok := entryIn(m.tables[slot], start)
		var rule uint32
		if e.chunk == wire.UnwindPending {
			e.chunk = 0
		}
		if e.chunk != 0 {
			rule = ruleIn(m.memory[e.chunk*wire.UnwindChunk:], uint32(start-e.base))
		}
		m.mu.Unlock()
		if want := start >> fileShift; !ok || e.chunk != 0 && uint64(rule>>11) != want {
			return fmt.Sprintf("process %d has file %d at %#x: %+v %v, rule %#x", pid, want, start, e, ok, rule), seen
		}
		if e.chunk != 0 {
			seen++
		}
	}
	return "", seen
}

// fileShift: the file of an address is what lies above.
const fileShift = 32

// settled is a model whose settle waits for the walks under a lock.
type settled struct {
	*model
	rw sync.RWMutex
}

func (m *settled) settle() error {
	m.rw.Lock()
	defer m.rw.Unlock()
	return nil
}

// A numbered file has one rule, whose operand is its number, in as many chunks as are asked for.
type numbered struct{ number, chunks int }

func (numbered) Close() error { return nil }

func (n numbered) Stamp() (device string, inode uint64, size int64, changed time.Time) {
	return "fe:01", uint64(n.number), int64(n.chunks), time.Time{}
}

func (numbered) open() (*elffile.File, error) { return &elffile.File{}, nil }

func (n numbered) pack(*elffile.File) (packedFile, []byte) {
	p := packedFile{code: []elffile.Segment{{Size: 16 * wire.UnwindPage, Code: true}}}
	p.extent = extentOf(p.code)
	rows := []cfi.Row{{Rule: uint32(wire.UnwindSP | n.number<<11)}}
	b := pack(rows, p.extent)
	return p, append(b, make([]byte, (n.chunks-2)*wire.UnwindChunk)...)
}

func sourceOfNumber(c *Mapped) (any, func() (contents, error)) {
	return c.File, func() (contents, error) { return c.File.(numbered), nil }
}

func codeOf(files ...numbered) (list []Mapped) {
	for _, n := range files {
		start := uint64(n.number) << fileShift
		list = append(list, Mapped{File: n,
			Mapping: mapping.Mapping{Start: start, End: start + 16*wire.UnwindPage, Inode: 1, Code: true}})
	}
	return list
}

// settledTables are tables on a model, beside that without mappings.
func settledTables(tables int, o Options) (*settled, *Keeper) {
	tables++
	m := &settled{model: newModel(tables)}
	t := newKeeper(m, tables, o)
	t.source = sourceOfNumber
	return m, t
}

// Processes come, map, fork and go, files that are too many for the budget are made and go, and walks see the rules of
// the files that processes have mapped, or none.
func TestStress(t *testing.T) {
	for _, c := range []struct{ tables, chunks, files, processes int }{
		{8, 40, 30, 20}, {200, 500, 60, 100}, {3, 400, 20, 5}, {64, 9, 40, 30},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { stress(t, c.tables, c.chunks, c.files, c.processes) })
	}
}

func stress(t *testing.T, places, chunks, files, processes int) {
	m, tables := settledTables(places, Options{Chunks: chunks})
	var over atomic.Bool
	var walks sync.WaitGroup
	for w := range 2 {
		walks.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(w)))
			for !over.Load() {
				problem, _ := m.walk(1+r.IntN(processes), &m.rw)
				n := 1 + r.IntN(files)
				problem = cmp.Or(problem, m.found(numbered{n, 2 + n%4}, &m.rw))
				if problem != "" {
					t.Error(problem)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, uint64(places)))
	for range 1000 {
		change(r, tables, files, processes)
	}
	over.Store(true)
	walks.Wait()
	quiesce(t, tables)
	for pid := range 200 {
		tables.Drop(pid)
	}
	tables.Set(1, 0, codeOf(numbered{7, 2}, numbered{8, 3}))
	quiesce(t, tables)
	if problem, n := m.walk(1, &m.rw); problem != "" || n != 2 {
		t.Errorf("%d files have rules in the end, want 2: %s", n, problem)
	}
	checkCounts(t, m.model, tables, chunks)
	if err := tables.Close(); err != nil {
		t.Error(err)
	}
}

// change lets something happen to a process.
func change(r *rand.Rand, tables *Keeper, files, processes int) {
	pid := 1 + r.IntN(processes)
	switch r.IntN(10) {
	case 0:
		tables.Drop(pid)
	case 1, 2:
		tables.Copy(pid, 1+r.IntN(processes))
	default:
		var list []numbered
		for range 1 + r.IntN(6) {
			n := 1 + r.IntN(files)
			if one := (numbered{n, 2 + n%4}); !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
		tables.Set(pid, 0, codeOf(list...))
	}
	if r.IntN(20) == 0 {
		tables.Await(1 << 40)
	}
}

// quiesce waits until nothing goes on.
func quiesce(t *testing.T, tables *Keeper) {
	t.Helper()
	tables.Await(1 << 40)
	for busy := true; busy; {
		tables.mu.Lock()
		busy = tables.reclaiming
		for _, f := range tables.byID {
			busy = busy || f.reading
		}
		tables.mu.Unlock()
		runtime.Gosched()
	}
}

// checkCounts forgets all processes and files: then all is free again.
func checkCounts(t *testing.T, m *model, tables *Keeper, chunks int) {
	t.Helper()
	for pid := range 200 {
		tables.Drop(pid)
	}
	tables.mu.Lock()
	for pid := range m.shown {
		t.Errorf("process %d has a table still", pid)
	}
	tables.evict(chunks)
	if n := len(tables.byID); n > 0 {
		t.Errorf("%d files are in use still", n)
	}
	tables.mu.Unlock()
	for tables.reclaim() {
	}
	if n := tables.space.free; n != chunks-1 {
		t.Errorf("%d chunks of %d are free", n, chunks-1)
	}
	if n := len(tables.slots.free); n != tables.slots.all {
		t.Errorf("%d slots of %d are free", n, tables.slots.all)
	}
	for _, wrong := range m.wrong {
		t.Error(wrong)
	}
}
