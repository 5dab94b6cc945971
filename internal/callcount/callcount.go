// Package callcount counts system calls by bare perf events, beside programs that the kernel can skip.
//
// A perf event without a program is counted in the kernel's own code, with preemption off. So it counts also the calls
// for which the kernel did not run a program, as it does where another task of the CPU is in one (6.19 and later).
// What was counted, less what a program has seen, is what that program has missed.
//
//	calls              events, each of all CPUs, or of the threads of processes
//	some, by name      syscalls:sys_enter_NAME and syscalls:sys_exit_NAME
//	all                raw_syscalls:sys_enter and raw_syscalls:sys_exit
//
// The kernel counts no event of a tracepoint at which programs are attached as well (perf_syscall_enter,
// kernel/trace/trace_syscalls.c), so this is for programs at raw tracepoints.
package callcount

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// System calls counted by perf events beside programs.

// A Call is a system call that is counted. Name is the kernel's; "" stands for all.
type Call struct {
	Name string
	// OneEnd: it does not return once: never, or in two processes. Its ends are counted where it begins.
	OneEnd bool
	// Execs: it replaces the program.
	Execs bool
}

// A Scope says of which processes calls are counted.
type Scope struct {
	// PIDs are the processes. If there are none, calls of all processes are counted but those of Self.
	PIDs []int
	Self int
	// Follow counts the calls of processes that those of PIDs start from now on, too.
	Follow bool
	// Held: the process of PIDs waits to run a command. Its calls are counted from then on that it has run it.
	Held bool
}

// Counts are how many calls began and how many ended. An end can be that of a call that began before.
type Counts struct {
	// Begun is how many began.
	Begun uint64
	// Ended is how many ended.
	Ended uint64
}

// A Counter counts calls until it is closed.
type Counter struct {
	events []event
	// cpus are the CPUs that have events, where these are of CPUs.
	cpus []int
}

// An event is counted into Begun, Ended, or both.
type event struct {
	*bpf.PerfCount
	begun, ended bool
	// minus: the count is taken off, as one of startrace's own calls.
	minus bool
}

// maxEvents is how many events a Counter has at most. Each of them is a descriptor, and programs take some, too.
func maxEvents() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0
	}
	return int(min(files.Cur/4, 8192))
}

// maxInherited is how many events a process hands on to those that it starts, which takes time of each of them.
const maxInherited = 32

// ErrTooMany says that the calls would take too many events.
var ErrTooMany = errors.New("too many system calls to count each of them")

// Open begins to count. id gives the number of a tracepoint.
func Open(calls []Call, of Scope, id func(group, name string) (uint64, error)) (_ *Counter, err error) {
	kinds, err := kindsOf(calls, of, id)
	if err != nil {
		return nil, err
	}
	c := &Counter{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if len(of.PIDs) > 0 {
		return c, c.ofProcesses(kinds, of)
	}
	return c, c.ofAll(kinds, of.Self)
}

// A kind is an event of one tracepoint, for each CPU or thread.
type kind struct {
	id           uint64
	begun, ended bool
}

// kindsOf are the events that count calls. What an exec in a held process ends has begun before it was counted.
func kindsOf(calls []Call, of Scope, id func(group, name string) (uint64, error)) (kinds []kind, err error) {
	add := func(side string, c Call, begun, ended bool) {
		group, name := "syscalls", side+"_"+c.Name
		if c.Name == "" {
			group, name = "raw_syscalls", side
		}
		n, failed := id(group, name)
		err = errors.Join(err, failed)
		kinds = append(kinds, kind{n, begun, ended})
	}
	for _, c := range calls {
		switch {
		case c.OneEnd:
			add("sys_enter", c, true, true)
		case c.Execs && of.Held:
			add("sys_exit", c, true, true)
		default:
			add("sys_enter", c, true, false)
			add("sys_exit", c, false, true)
		}
	}
	return kinds, err
}

// ofAll counts calls of all processes, and of startrace itself, to take them off.
func (c *Counter) ofAll(kinds []kind, self int) (err error) {
	if c.cpus, err = kernel.OnlineCPUs(); err != nil {
		return err
	}
	if len(kinds)*len(c.cpus) > maxEvents() {
		return ErrTooMany
	}
	if self > 0 {
		if err := c.ofThreads(kinds, self, inheritThread, true); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		for _, cpu := range c.cpus {
			if err := c.open(k, 0, -1, cpu, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// The bits of attributes by which new threads, and by the first also new processes, are counted with who starts them.
// The second one is from 5.13 on.
const (
	inheritAll    = unix.PerfBitInherit
	inheritThread = unix.PerfBitInherit | 1<<35
)

func (c *Counter) ofProcesses(kinds []kind, of Scope) error {
	if len(kinds) > maxInherited {
		return ErrTooMany
	}
	bits := uint64(inheritThread)
	if of.Follow {
		bits = inheritAll
	}
	if of.Held {
		bits |= unix.PerfBitDisabled | unix.PerfBitEnableOnExec
	}
	for _, pid := range of.PIDs {
		if err := c.ofThreads(kinds, pid, bits, false); err != nil {
			return err
		}
	}
	return nil
}

// ofThreads counts what the threads of a process do. It begins anew where one was started meanwhile, as it cannot tell
// whether that has inherited the events.
func (c *Counter) ofThreads(kinds []kind, pid int, bits uint64, minus bool) error {
	before := len(c.events)
	for range 5 {
		threads, err := threadsOf(pid)
		if err != nil {
			return err
		}
		if len(kinds)*len(threads) > maxEvents() {
			return ErrTooMany
		}
		for _, tid := range threads {
			for _, k := range kinds {
				if err := c.open(k, bits, tid, -1, minus); err != nil {
					return err
				}
			}
		}
		now, err := threadsOf(pid)
		if err != nil {
			return err
		}
		if slices.Equal(threads, now) {
			return nil
		}
		if err := c.closeFrom(before); err != nil {
			return err
		}
	}
	return fmt.Errorf("process %d starts threads all the time", pid)
}

func threadsOf(pid int) (tids []int, err error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, entry := range list {
		tid, failed := strconv.Atoi(entry.Name())
		tids, err = append(tids, tid), errors.Join(err, failed)
	}
	slices.Sort(tids)
	return tids, err
}

func (c *Counter) open(k kind, bits uint64, tid, cpu int, minus bool) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: k.id, Bits: bits}
	count, err := bpf.OpenPerfCount(&attr, tid, cpu)
	if err == nil {
		c.events = append(c.events, event{count, k.begun, k.ended, minus})
	}
	return err
}

// Read gives what was counted so far. It fails if CPUs have come or gone.
func (c *Counter) Read() (n Counts, err error) {
	if c.cpus != nil {
		now, err := kernel.OnlineCPUs()
		if err != nil || !slices.Equal(now, c.cpus) {
			return n, errors.Join(err, errors.New("CPUs have come or gone"))
		}
	}
	for _, e := range c.events {
		count, err := e.Read()
		if err != nil {
			return n, err
		}
		if e.minus {
			count = -count
		}
		if e.begun {
			n.Begun += count
		}
		if e.ended {
			n.Ended += count
		}
	}
	return n, nil
}

// Close ends the counting.
func (c *Counter) Close() error { return c.closeFrom(0) }

func (c *Counter) closeFrom(first int) error {
	var errs []error
	for _, e := range c.events[first:] {
		errs = append(errs, e.Close())
	}
	c.events = c.events[:first]
	return errors.Join(errs...)
}
