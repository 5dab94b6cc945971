package procs

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A signal is sent to the command of -c and all its descendants.

// holdTime is how long SignalFamily waits for processes to stop.
const holdTime = 200 * time.Millisecond

// SignalFamily sends a signal to the command and to all processes that descend from it; os.ErrProcessDone if the
// command has ended. What has left its parents, as daemons do, is on its own.
//
// A process that makes others while the family is looked for would have children that nobody finds: once it has ended,
// nothing tells whose they were. So each is stopped first (SIGSTOP), before its children are looked for, and goes on
// (SIGCONT) with the signal. One that cannot be stopped soon, as one that waits for a disk, is not waited for.
//
// It gives those that descend from the command, which are to be closed.
func (c *Child) SignalFamily(s syscall.Signal) (Family, error) {
	h := &hold{known: map[int]bool{c.process.pid: true}, until: time.Now().Add(holdTime)}
	err := c.Signal(unix.SIGSTOP)
	if err == nil {
		h.await(c.process.pid)
		h.descendants()
		err = c.Signal(s)
	}
	for _, d := range h.family {
		d.signal(s)
	}
	_ = c.Signal(unix.SIGCONT) // it may have ended
	for _, d := range h.family {
		d.signal(unix.SIGCONT)
	}
	return h.family, err
}

// A Family are processes that descend from a command.
type Family []descendant

// Alive gives the numbers of those that have not ended.
func (f Family) Alive() (pids []int) {
	for _, d := range f {
		ended := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ended, 0); err != nil || n == 0 {
			pids = append(pids, d.pid)
		}
	}
	return pids
}

// Close forgets them.
func (f Family) Close() {
	for _, d := range f {
		unix.Close(d.fd)
	}
}

// A descendant is a process that descends from another one. The descriptor means that process, even if its number is
// another's by now.
type descendant struct{ pid, fd int }

// A hold stops the processes that descend from one.
type hold struct {
	known  map[int]bool // the numbers of the family
	family Family
	// until is when it no longer waits.
	until time.Time
}

// descendants finds and stops all. Those that are made while it looks are found in the next round: once all are
// stopped, none is.
func (h *hold) descendants() {
	for more := true; more; {
		more = false
		for pid, parent := range parents() {
			if !h.known[parent] || h.known[pid] {
				continue
			}
			h.known[pid] = true
			if d, ok := newDescendant(pid, h.known); ok {
				d.signal(unix.SIGSTOP)
				h.family, more = append(h.family, d), true
			}
		}
		for _, d := range h.family {
			h.await(d.pid)
		}
	}
}

// await returns once a process does nothing any more.
func (h *hold) await(pid int) {
	for doesSomething(pid) && time.Now().Before(h.until) {
		time.Sleep(100 * time.Microsecond)
	}
}

// doesSomething reports whether a process is neither stopped nor has ended.
func doesSomething(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && !bytes.ContainsAny(fields[0], "TtZX")
}

// newDescendant opens a process, if it still has a parent of the family.
func newDescendant(pid int, family map[int]bool) (descendant, bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return descendant{}, false // it has ended
	}
	if parent, ok := parentOf(pid); !ok || !family[parent] {
		unix.Close(fd)
		return descendant{}, false
	}
	return descendant{pid, fd}, true
}

// signal sends a signal.
func (d descendant) signal(s syscall.Signal) {
	_ = unix.PidfdSendSignal(d.fd, s, nil, 0) // it may have ended, or have got other rights
}

// parents are the parents of all processes.
func parents() map[int]int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	out := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			out[pid] = parent
		}
	}
	return out
}
