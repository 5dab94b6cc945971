package symbols

import (
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/python"
)

// Which process had a number at a time, and what it had mapped.

// A Process is one while it runs one program: after exec the same number is
// another. It is kept by whoever wants to name addresses of it later.
type Process struct {
	// pid is its number as startrace sees it.
	pid    int
	parent int // 0: not known
	// copied: it began as a copy of its parent and runs the same program.
	copied bool
	// proc is the folder of all processes: /proc, but in tests.
	proc   string
	since  uint64   // from when on it runs the program, CLOCK_MONOTONIC in ns; 0 if that was not seen
	before *Process // what had the number before; nil if that was not seen
	// forgotten: the process that had the number before was seen, and is not kept any more.
	forgotten bool
	// told: all that it maps comes by events, so /proc need not be read.
	told bool
	// over: it has ended, or runs another program.
	over bool
	// replaced: other code was mapped over code of it since. Another Process has what is mapped now.
	replaced bool
	// ran is from when on it or the process of which it is a copy runs the program; 0 if that was not seen.
	ran uint64
	// is says which process it is, so that the next one of the same number is another, and so is another program in it.
	is identity
	// foreign: its mount namespace is not ours, so its files are out of reach when it has ended. looked: that has been
	// found out.
	foreign, looked bool
	// jail is the root of the process where that is not ours, held open; nil: it is ours, or not known.
	jail    *jail
	maps    []area    // by address; its copies share them
	program string    // its executable, in its mount namespace
	read    time.Time // when maps were read from /proc
	// used is the time of the last use on the clock of processes, by which the oldest are forgotten.
	used uint64
	// fruitless is how often mappings were read for an address that none has.
	fruitless int
	// perf has the functions that the program has compiled itself and tells of in a file.
	perf perfMap
	// scripts has the functions of Python of which frames were seen.
	scripts python.Seen
}

// An identity changes when a process ends and another gets its number, and
// when it becomes another program.
type identity struct{ started, code, end, stack string }

// maxAge is how old mappings may be before they are read anew, where no events
// tell of new ones: a library may have been replaced by another at its addresses.
const maxAge = time.Second

// minAge is how old they must be before an address that they lack makes them
// be read anew: stacks of code without frame pointers end in numbers that are no
// addresses.
const minAge = 20 * time.Millisecond

// patience is how often an address that no mapping has makes the mappings be read
// at once: a program that has just begun maps its libraries.
const patience = 8

// SeeStack finds the process that had a number at a time, of which some addresses
// will be asked for: call it as soon as possible, while it lives. A time of 0 is
// now.
func (t *Namer) SeeStack(pid int, at uint64, addrs []uint64) *Process {
	p := t.processes.at(pid, at)
	if !p.told && !p.replaced {
		p = t.update(p, 0)
	}
	if slices.ContainsFunc(addrs, python.IsFrame) {
		if !p.over {
			p.scripts.See(p.dir(), addrs)
		}
		addrs = slices.DeleteFunc(slices.Clone(addrs), python.IsFrame)
	}
	if !p.over && !p.replaced && !p.covers(addrs) && (p.fruitless < patience || time.Since(p.read) >= minAge) {
		t.reread(p)
		if !p.covers(addrs) {
			p.fruitless++
		}
	}
	if len(p.maps) == 0 {
		t.inherit(p)
	}
	t.secure(p, addrs)
	return p
}

// Process is the process that has a number, or had it last.
func (t *Namer) Process(pid int) *Process { return t.process(pid, 0) }

// Seen reports whether the mappings of the process were seen.
func (p *Process) Seen() bool { return len(p.maps) > 0 }

// Narrow reports whether the process runs a program of 32 bits: then the kernel's code in it lies below 4 GB.
func (p *Process) Narrow() bool {
	return slices.ContainsFunc(p.maps, func(a area) bool { return a.Path == vdsoName && a.End <= 1<<32 })
}

// Program is the path of the process's program in its mount namespace, "" if it
// was not seen.
func (p *Process) Program() string { return p.program }

// Code gives the addresses of a stack up to the first one behind which no code is mapped: a walk by frame pointers
// takes for addresses what code without them has in the register. The first address is that of the instruction itself.
func (p *Process) Code(addrs []uint64) []uint64 {
	if !p.Seen() {
		return addrs
	}
	for i, addr := range addrs {
		if i > 0 && !python.IsFrame(addr) && p.mapping(addr-1) == nil && p.mapping(addr) == nil {
			return addrs[:i]
		}
	}
	return addrs
}

func (p *Process) covers(addrs []uint64) bool {
	return !slices.ContainsFunc(addrs, func(addr uint64) bool { return p.mapping(addr) == nil })
}

// process gives what is known of a process, read anew if it is another
// program now, or if no mapping has the address.
func (t *Namer) process(pid int, addr uint64) *Process {
	p := t.processes.get(pid)
	if p.told && (addr == 0 || p.mapping(addr) != nil) {
		return p
	}
	return t.update(p, addr)
}

// update reads what a process has mapped, if it is not known well enough for
// an address, 0 for none; it gives another one if that has the number now.
func (t *Namer) update(p *Process, addr uint64) *Process {
	if p.over && t.listening {
		return p
	}
	is, alive := readIdentity(p.dir())
	switch {
	case !alive || is.ended() && is.started == p.is.started:
		p.over = true
		return p // what is remembered is all there is
	case is == p.is && p.fresh(addr):
		return p
	}
	list, err := readCode(p.dir())
	if err != nil || len(list) == 0 && is.started == p.is.started {
		return p
	}
	if p.is != (identity{}) && is != p.is || p.lacks(list) {
		p = t.processes.begin(p.pid, 0)
	}
	t.remember(p, is, list)
	return p
}

// reread reads the mappings of a process once more.
func (t *Namer) reread(p *Process) {
	is, alive := readIdentity(p.dir())
	list, err := readCode(p.dir())
	if !alive || err != nil || len(list) == 0 || p.is != (identity{}) && is != p.is {
		return // it has ended, or is another program by now
	}
	if p.lacks(list) {
		return
	}
	for i := range p.maps { // what has gone since had code when stacks were taken
		if a := &p.maps[i]; p.told && !slices.ContainsFunc(list, a.overlaps) {
			list = append(list, *a)
		}
	}
	t.remember(p, is, list)
}

// lacks reports whether mappings are those of another program, where p is known by events only: its own code is not
// there. Another file can lie at the same address.
func (p *Process) lacks(list []area) bool {
	if p.is != (identity{}) || !p.Seen() {
		return false
	}
	first := &p.maps[0]
	return !slices.ContainsFunc(list, func(a area) bool { return a.Start == first.Start && a.id() == first.id() })
}

// fresh says whether the mappings serve for an address, 0 for none.
func (p *Process) fresh(addr uint64) bool {
	age := time.Since(p.read)
	return age < minAge || age < maxAge && (addr == 0 || p.mapping(addr) != nil)
}

func (t *Namer) remember(p *Process, is identity, list []area) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Start < list[j].Start })
	known := map[uint64]*area{}
	for i := range p.maps {
		known[p.maps[i].Start] = &p.maps[i]
	}
	for i := range list {
		if m := known[list[i].Start]; m != nil && m.Mapping == list[i].Mapping {
			list[i].version, list[i].unreadable, list[i].loaded = m.version, m.unreadable, m.loaded
		} else {
			list[i].loaded = p.Seen()
		}
	}
	p.is, p.maps, p.read = is, list, time.Now()
	p.told = t.listening
	if exe, err := os.Readlink(p.dir() + "/exe"); err == nil {
		var program mapping.Mapping
		program.SetPath(exe)
		p.program = program.Path
	}
	t.refresh(p)
}

// inherit takes the mappings of the process of which p is a copy, if that was
// not known when p began.
func (t *Namer) inherit(p *Process) {
	if p.copied {
		p.take(t.process(p.parent, 0))
	}
}

func (p *Process) take(parent *Process) {
	p.maps, p.program, p.ran = parent.maps, parent.program, parent.ran
	p.foreign, p.looked, p.jail = parent.foreign, parent.looked, parent.jail
}

// mapping gives that of an address, nil if there is none.
func (p *Process) mapping(addr uint64) *area {
	i := sort.Search(len(p.maps), func(i int) bool { return p.maps[i].End > addr })
	if i == len(p.maps) || p.maps[i].Start > addr {
		return nil
	}
	return &p.maps[i]
}

func (p *Process) dir() string { return p.proc + "/" + strconv.Itoa(p.pid) }

func (p *Process) root() string { return p.dir() + "/root" }

// readIdentity reads /proc/PID/stat: the second column is the name in
// brackets, which may hold anything; then 22 is when it started, 26 and 27 where its
// code begins and ends, 28 its stack (proc_pid_stat(5)). The places are random for each
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
	return identity{columns[22-3], columns[26-3], columns[27-3], columns[28-3]}, true
}

// An Image says what runs in a process. All is 0 where that may not be seen.
type Image struct {
	// Code is where its code begins, End where that ends, and Stack where its stack begins.
	Code, End, Stack uint64
}

// Image gives what runs in a process now, by which programs are told apart that run in it before and after exec; false
// where there is no such process.
func (t *Namer) Image(pid int) (out Image, known bool) {
	is, known := readIdentity(t.processes.folder() + "/" + strconv.Itoa(pid))
	for text, to := range map[string]*uint64{is.code: &out.Code, is.end: &out.End, is.stack: &out.Stack} {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n <= 1 { // as /proc says where it does not tell (proc_pid_stat(5))
			return Image{}, known
		}
		*to = n
	}
	return out, known
}

func (is identity) ended() bool { return is.code == "0" && is.stack == "0" }

// A jail is the root of processes that have another one than ours: in a container, or by chroot(2). It is held open, so
// that files of a process are found when it has ended.
type jail struct{ *os.File }

// path is the folder by which the jail is reached.
func (j *jail) path() string { return "/proc/self/fd/" + strconv.Itoa(int(j.Fd())) }

// jails are those that were seen, by their folders.
type jails map[rootID]*jail

// A rootID tells roots apart.
type rootID struct{ dev, inode uint64 }

// maxJails bounds the roots that are held. What is in others is read while the process lives, or not at all.
const maxJails = 64

// openPath opens a folder to reach files by it, which needs no right to read it (O_PATH, open(2)).
const openPath = 0x200000

// look compares mount namespaces (namespaces(7)) and roots, once; what cannot be seen counts as ours.
func (t *Namer) look(p *Process) {
	if p.looked || p.over {
		return
	}
	p.looked = true
	theirs, err := os.Readlink(p.dir() + "/ns/mnt")
	if err != nil {
		return
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	p.foreign = err == nil && ours != theirs
	p.jail = t.jailAt(p.root())
}

// jailAt gives the jail that a root is, nil where it is ours.
func (t *Namer) jailAt(root string) *jail {
	theirs, ok := rootOf(root)
	ours, known := rootOf("/")
	if !ok || !known || theirs == ours {
		return nil
	}
	if j := t.jails[theirs]; j != nil || len(t.jails) >= maxJails {
		return j
	}
	f, err := os.OpenFile(root, openPath|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	if t.jails == nil {
		t.jails = jails{}
	}
	t.jails[theirs] = &jail{f}
	return t.jails[theirs]
}

func rootOf(path string) (rootID, bool) {
	st, err := os.Stat(path)
	if err != nil {
		return rootID{}, false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return rootID{}, false
	}
	return rootID{sys.Dev, sys.Ino}, true
}

// jailed are the places of a file in jails: in that of its process, or, of a process that had ended before that was
// seen, in any. Another file can have the name there, so its inode is compared.
func (t *Namer) jailed(p *Process, a *area) (out []candidate) {
	if p.jail != nil {
		return []candidate{{p.jail.path() + a.Path, p.jail.path(), true}}
	}
	if p.looked && !p.over {
		return nil
	}
	for _, j := range t.jails {
		out = append(out, candidate{j.path() + a.Path, j.path(), true})
	}
	return out
}
