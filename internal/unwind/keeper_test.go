package unwind

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// rulesOf is how many files of a process walks see.
func rulesOf(t *testing.T, m *settled, pid int) int {
	t.Helper()
	problem, n := m.walk(pid, &m.rw)
	if problem != "" {
		t.Error(problem)
	}
	return n
}

// A process gets a table at once, in which the files that are being read are pending. Here reading ends when the test
// says so.
func TestFirstTable(t *testing.T) {
	m, k := settledTables(8, Options{})
	var reading sync.Mutex
	k.source = func(c *Mapped) (any, func() (contents, error)) {
		id, open := sourceOfNumber(c)
		return id, func() (contents, error) {
			c, err := open()
			return waits{c, &reading}, err
		}
	}
	reading.Lock()
	k.Set(1, 0, codeOf(numbered{1, 2}, numbered{2, 2}))
	for _, c := range codeOf(numbered{1, 2}, numbered{2, 2}) {
		if e, ok := entryIn(m.tables[m.shown[1]], c.Start); !ok || e.chunk != wire.UnwindPending {
			t.Errorf("before the files have been read the table has %+v, %v", e, ok)
		}
	}
	reading.Unlock()
	k.Await(1 << 40)
	if n := rulesOf(t, m, 1); n != 2 {
		t.Errorf("%d files in the first table", n)
	}
	reading.Lock()
	k.Set(1, 0, codeOf(numbered{1, 2}, numbered{2, 2}, numbered{3, 2}))
	k.Copy(2, 1)
	if n := rulesOf(t, m, 1); n != 2 {
		t.Errorf("%d files in the table while the third is read", n)
	}
	reading.Unlock()
	k.Await(1 << 40)
	if a, b := rulesOf(t, m, 1), rulesOf(t, m, 2); a != 3 || b != 3 {
		t.Errorf("%d and %d files in the end", a, b)
	}
	if m.shown[1] != m.shown[2] {
		t.Error("a process and its copy have two tables")
	}
}

// Large files, which take long, do not hold up small ones. Here each large one takes until the test says so.
func TestLargeFilesWait(t *testing.T) {
	m, k := settledTables(8, Options{})
	k.packing = func(elf *elffile.File) uint64 { return uint64(len(elf.Path)) * largeFile }
	var reading sync.Mutex
	k.source = func(c *Mapped) (any, func() (contents, error)) {
		id, open := sourceOfNumber(c)
		return id, func() (contents, error) {
			c, err := open()
			if id.(numbered).number < 5 {
				c = largeContents{c, &reading}
			}
			return c, err
		}
	}
	reading.Lock()
	k.Set(1, 0, codeOf(numbered{1, 2}, numbered{2, 2}, numbered{3, 2}, numbered{4, 2}, numbered{5, 2}))
	k.mu.Lock()
	for k.reading > 4 {
		read := k.read
		k.mu.Unlock()
		<-read
		k.mu.Lock()
	}
	k.mu.Unlock()
	if entryAt(m, 1, 5) == wire.UnwindPending {
		t.Error("the small file waits")
	}
	reading.Unlock()
	k.Await(1 << 40)
	if n := rulesOf(t, m, 1); n != 5 {
		t.Errorf("%d files in the end", n)
	}
}

// largeContents are those of a large file, which cannot be read as long as a lock is held.
type largeContents struct {
	contents
	until *sync.Mutex
}

func (largeContents) open() (*elffile.File, error) { return &elffile.File{Path: "x"}, nil }

func (l largeContents) pack(elf *elffile.File) (packedFile, []byte) {
	l.until.Lock()
	defer l.until.Unlock()
	return l.contents.pack(elf)
}

// waits are contents that cannot be read as long as a lock is held.
type waits struct {
	contents
	until *sync.Mutex
}

func (w waits) Close() error {
	w.until.Lock()
	defer w.until.Unlock()
	return w.contents.Close()
}

// Processes with the same mappings share a table, also if they are no copies of each other.
func TestSharedTable(t *testing.T) {
	m, k := settledTables(2, Options{})
	for pid := range 50 {
		k.Set(pid, 0, codeOf(numbered{1, 2}, numbered{2, 2}))
	}
	quiesce(t, k)
	for pid := range 50 {
		if n := rulesOf(t, m, pid); n != 2 {
			t.Errorf("process %d has %d files", pid, n)
		}
	}
	if len(k.Trouble()) > 0 {
		t.Error("all of one layout found no room")
	}
}

// Without room the files that nobody has go first, the one that was used longest ago before others. One that all have
// stays, and who wants another one has none of it. That is told once.
func TestBudget(t *testing.T) {
	m, k := settledTables(8, Options{Chunks: 1 + 6})
	for i := range 3 {
		k.Set(1, 0, codeOf(numbered{i + 1, 2}))
		k.Await(1 << 40)
	}
	k.Set(1, 0, codeOf(numbered{1, 2}, numbered{4, 2})) // 2 goes
	k.Await(1 << 40)
	for _, kept := range []struct {
		n    int
		want bool
	}{{1, true}, {2, false}, {3, true}, {4, true}} {
		if _, ok := k.byID[numbered{kept.n, 2}]; ok != kept.want {
			t.Errorf("file %d is kept: %v", kept.n, ok)
		}
	}
	if n := rulesOf(t, m, 1); n != 2 || len(k.Trouble()) > 0 {
		t.Errorf("%d files have rules", n)
	}
	k.Set(1, 0, codeOf(numbered{1, 2}, numbered{4, 2}, numbered{5, 2}, numbered{6, 2}))
	k.Await(1 << 40)
	k.Set(2, 0, codeOf(numbered{7, 2}))
	k.Await(1 << 40)
	trouble := k.Trouble()
	if len(trouble) != 1 || !strings.Contains(trouble[0], "no room for the rules") || len(k.Trouble()) > 0 {
		t.Errorf("told %q", trouble)
	}
	if n := rulesOf(t, m, 1); n != 3 {
		t.Errorf("%d files have rules without room for the fourth", n)
	}
	k.Set(3, 0, codeOf(numbered{8, 4000}))
	k.Await(1 << 40)
	if n := rulesOf(t, m, 3); n != 0 {
		t.Error("a file that is larger than all room has rules")
	}
}

// Where all places for tables are taken, those of the processes that were told of longest ago go.
func TestTablesFull(t *testing.T) {
	m, k := settledTables(4, Options{})
	for pid := range 9 {
		k.Set(pid, 0, codeOf(numbered{pid + 1, 2}))
		quiesce(t, k)
	}
	if rulesOf(t, m, 8) != 1 || k.Knows(0) || len(m.shown) > 4 {
		t.Errorf("processes %v have tables", k.Processes())
	}
	if trouble := k.Trouble(); len(trouble) != 1 || !strings.Contains(trouble[0], "tables of all processes") {
		t.Errorf("told %q", trouble)
	}
}

// What a program in the kernel may still read is not written anew: a table that is left is used again only when walks
// that had begun have ended.
func TestLimbo(t *testing.T) {
	m, k := settledTables(2, Options{})
	k.Set(1, 0, codeOf(numbered{1, 2}))
	k.Await(1 << 40)
	m.rw.RLock() // a walk has begun
	first := m.shown[1]
	k.Set(1, 0, codeOf(numbered{2, 2}))
	k.Await(1 << 40)
	k.Set(1, 0, codeOf(numbered{3, 2}))
	k.Await(1 << 40)
	if e, ok := entryIn(m.tables[first], 1<<fileShift); !ok || e.chunk == 0 {
		t.Error("the table of a walk is gone")
	}
	m.rw.RUnlock()
	quiesce(t, k)
	if n := rulesOf(t, m, 1); n != 1 || entryAt(m, 1, 3) == 0 {
		t.Errorf("%d files, the last one at %d", n, entryAt(m, 1, 3))
	}
}

// entryAt is the first chunk of a file of a process.
func entryAt(m *settled, pid, file int) uint32 {
	e, _ := entryIn(m.tables[m.shown[pid]], uint64(file)<<fileShift)
	return e.chunk
}

// A file that cannot be opened, or is none of ELF, leaves code without rules; a panic comes where trouble is asked for.
func TestNoFile(t *testing.T) {
	m, k := settledTables(2, Options{})
	k.source = source
	code := codeOf(numbered{1, 2}, numbered{2, 2})
	code[0].Open = func() (*os.File, error) { return nil, os.ErrNotExist }
	code[1].Open = func() (*os.File, error) { return os.Open("/proc/self/status") }
	k.Set(1, 0, code)
	k.Await(1 << 40)
	if n := rulesOf(t, m, 1); n != 0 || len(m.shown) != 1 {
		t.Errorf("%d files have rules in %d tables", n, len(m.shown))
	}
	k.source = func(*Mapped) (any, func() (contents, error)) {
		return 7, func() (contents, error) { return nil, nil }
	}
	k.Expect(7, nil)
	for k.panic() == nil {
	}
	defer func() {
		if recover() == nil {
			t.Error("the panic is not told")
		}
	}()
	k.Trouble()
}

func (k *Keeper) panic() any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.panicked == nil {
		return nil
	}
	return k.panicked
}
