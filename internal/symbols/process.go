package symbols

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

// processes are those that were seen, up to a number.
type processes struct {
	byPID map[int]*process
	clock uint64
	most  int    // 0 is maxProcesses
	proc  string // "" is /proc
}

// maxProcesses bounds those that are remembered; one takes some 5 kB.
const maxProcesses = 8192

// A process is what is remembered of one.
type process struct {
	pid  int
	proc string
	is   identity
	// foreign: its mount namespace is not ours, so its files are out of reach
	// when it has ended.
	foreign bool
	maps    []area    // by address
	program string    // its executable, in its mount namespace
	read    time.Time // when maps were read
	used    uint64
	// fruitless is how often mappings were read for an address that none has.
	fruitless int
	perf      perfMap
}

// An identity changes when a process ends and another gets its number, and
// when it becomes another program.
type identity struct{ started, code, stack string }

// maxAge is how old mappings may be before they are read anew: a library may
// have been replaced by another at its addresses.
const maxAge = time.Second

// minAge is how old they must be before an address that they lack makes them
// be read anew: stacks of code without frame pointers end in numbers that are no
// addresses.
const minAge = 20 * time.Millisecond

// See remembers a process while it lives: call it as soon as there may be a
// question about it later. It costs some 20 µs if the process is known.
func (t *Table) See(pid int) { t.process(pid, 0) }

// patience is how often an address that no mapping has makes the mappings be read
// at once: a program that has just begun maps its libraries.
const patience = 8

// SeeStack is See for a process of which some addresses will be asked for.
func (t *Table) SeeStack(pid int, addrs []uint64) {
	p := t.process(pid, 0)
	if p.covers(addrs) || p.fruitless >= patience && time.Since(p.read) < minAge {
		return
	}
	is, alive := readIdentity(p.dir())
	list, err := readCode(p.dir())
	if !alive || is != p.is || err != nil || len(list) == 0 {
		return // it has ended, or is another program by now
	}
	t.remember(p, is, list)
	if !p.covers(addrs) {
		p.fruitless++
	}
}

func (p *process) covers(addrs []uint64) bool {
	for _, addr := range addrs {
		if p.mapping(addr) == nil {
			return false
		}
	}
	return true
}

// Seen reports whether the mappings of a process were seen while it lived.
func (t *Table) Seen(pid int) bool { return len(t.processes.get(pid).maps) > 0 }

// Program is the path of a process's program in its mount namespace, "" if it
// was not seen.
func (t *Table) Program(pid int) string { return t.processes.get(pid).program }

// process gives what is known of a process, read anew if it is another
// program now, or if no mapping has the address.
func (t *Table) process(pid int, addr uint64) *process {
	p := t.processes.get(pid)
	is, alive := readIdentity(p.dir())
	switch {
	case !alive || is.ended() && is.started == p.is.started:
		return p // what is remembered is all there is
	case is == p.is && p.fresh(addr):
		return p
	}
	list, err := readCode(p.dir())
	if err != nil || len(list) == 0 && is.started == p.is.started {
		return p
	}
	if is != p.is {
		p.perf = perfMap{}
	}
	t.remember(p, is, list)
	return p
}

// fresh says whether the mappings serve for an address, 0 for none.
func (p *process) fresh(addr uint64) bool {
	age := time.Since(p.read)
	return age < minAge || age < maxAge && (addr == 0 || p.mapping(addr) != nil)
}

func (t *Table) remember(p *process, is identity, list []area) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Start < list[j].Start })
	known := map[uint64]*area{}
	for i := range p.maps {
		known[p.maps[i].Start] = &p.maps[i]
	}
	for i := range list {
		if m := known[list[i].Start]; m != nil && m.same(&list[i]) && is == p.is {
			list[i].version, list[i].unreadable = m.version, m.unreadable
		}
	}
	p.is, p.maps, p.read = is, list, time.Now()
	p.foreign = p.otherMounts()
	if exe, err := os.Readlink(p.dir() + "/exe"); err == nil {
		p.program = exe
	}
	for i := range p.maps {
		if m := &p.maps[i]; m.version == (fileVersion{}) && (p.foreign || m.Deleted) && !m.anonymous() {
			t.mapped(p, m) // there will be no way later
		}
	}
	t.refresh(p)
}

func (m *area) same(other *area) bool {
	return m.Mapping == other.Mapping
}

// mapping gives that of an address, nil if there is none.
func (p *process) mapping(addr uint64) *area {
	i := sort.Search(len(p.maps), func(i int) bool { return p.maps[i].End > addr })
	if i == len(p.maps) || p.maps[i].Start > addr {
		return nil
	}
	return &p.maps[i]
}

func (p *process) dir() string { return p.proc + "/" + strconv.Itoa(p.pid) }

func (p *process) root() string { return p.dir() + "/root" }

// otherMounts compares mount namespaces (namespaces(7)); what cannot be seen
// counts as ours.
func (p *process) otherMounts() bool {
	theirs, err := os.Readlink(p.dir() + "/ns/mnt")
	if err != nil {
		return false
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	return err == nil && ours != theirs
}

// readIdentity reads /proc/PID/stat: the second column is the name in
// brackets, which may hold anything; then 22 is when it started, 26 where its
// code is, 28 its stack (proc_pid_stat(5)). Both places are random for each
// exec; they are 0 if we may not see them, and when the process has ended but
// was not waited for.
func readIdentity(dir string) (identity, bool) {
	text, err := readBounded(dir+"/stat", 1<<16)
	if err != nil {
		return identity{}, false
	}
	return parseIdentity(string(text))
}

func parseIdentity(text string) (identity, bool) {
	end := strings.LastIndex(text, ")")
	if end < 0 {
		return identity{}, false
	}
	columns := strings.Fields(text[end+1:]) // from the third on
	if len(columns) < 26 {
		return identity{}, false
	}
	return identity{columns[22-3], columns[26-3], columns[28-3]}, true
}

func (is identity) ended() bool { return is.code == "0" && is.stack == "0" }

// get gives a process, a new one if it is not known; the one that was not
// asked for longest goes if there are too many.
func (ps *processes) get(pid int) *process {
	p := ps.byPID[pid]
	if p == nil {
		if ps.byPID == nil {
			ps.byPID = make(map[int]*process)
		}
		if len(ps.byPID) >= ps.limit() {
			ps.dropOldest()
		}
		p = &process{pid: pid, proc: ps.folder()}
		ps.byPID[pid] = p
	}
	ps.clock++
	p.used = ps.clock
	return p
}

func (ps *processes) limit() int {
	if ps.most == 0 {
		return maxProcesses
	}
	return ps.most
}

func (ps *processes) folder() string {
	if ps.proc == "" {
		return "/proc"
	}
	return ps.proc
}

func (ps *processes) dropOldest() {
	oldest, at := 0, ps.clock+1
	for pid, p := range ps.byPID {
		if p.used < at {
			oldest, at = pid, p.used
		}
	}
	delete(ps.byPID, oldest)
}

// String says how much is kept, for -v.
func (t *Table) String() string {
	return fmt.Sprintf("%d processes, %d files of %d bytes", len(t.processes.byPID), len(t.files.byID), t.files.bytes)
}
