package procs

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalFamily sends a signal to the command and to all processes that descend from it; os.ErrProcessDone if the
// command has ended. What has left its parents, as daemons do, is on its own.
func (c *Child) SignalFamily(s syscall.Signal) error {
	family := familyOf(c.process.pid)
	err := c.Signal(s)
	for _, d := range family {
		d.signal(s)
	}
	return err
}

// A descendant is a process that descends from another one. The descriptor means that process, even if its number is
// another's by now.
type descendant struct{ pid, fd int }

// familyOf finds the processes that descend from one of this process's children. Those that are started while it
// looks are found in the next round.
func familyOf(root int) (family []descendant) {
	known := map[int]bool{root: true}
	for more := true; more; {
		more = false
		for pid, parent := range parents() {
			if !known[parent] || known[pid] {
				continue
			}
			known[pid] = true
			if d, ok := newDescendant(pid, known); ok {
				family, more = append(family, d), true
			}
		}
	}
	return family
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

// signal sends a signal and gives up the descriptor.
func (d descendant) signal(s syscall.Signal) {
	_ = unix.PidfdSendSignal(d.fd, s, nil, 0) // it may have ended, or have got other rights
	unix.Close(d.fd)
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
