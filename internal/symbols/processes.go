package symbols

import (
	"fmt"
	"maps"
	"slices"
)

// The processes that are remembered.

// processes are those that were seen, up to a number.
type processes struct {
	byPID map[int]*Process
	clock uint64
	most  int    // 0 is maxProcesses
	proc  string // "" is /proc
}

// maxProcesses bounds those that are remembered.
const maxProcesses = 8192

// maxBefore is how many programs of one number are remembered: a number is asked
// for soon after it was seen.
const maxBefore = 32

// get gives the process that has a number, a new one if it is not known.
func (ps *processes) get(pid int) *Process {
	p := ps.byPID[pid]
	if p == nil {
		p = ps.begin(pid, 0)
	}
	ps.clock++
	p.used = ps.clock
	return p
}

// begin makes a process that has the number from a time on.
func (ps *processes) begin(pid int, since uint64) *Process {
	if ps.byPID == nil {
		ps.byPID = make(map[int]*Process)
	}
	before := ps.byPID[pid]
	if before == nil {
		ps.makeRoom()
	} else {
		before.over = true
		before.forget(maxBefore - 1)
	}
	ps.clock++
	p := &Process{pid: pid, proc: ps.folder(), since: since, before: before, used: ps.clock}
	ps.byPID[pid] = p
	return p
}

// renew makes a process that is, from a time on, what p is, whose code is about to be replaced: addresses of stacks
// that were taken before have the names of what was there.
func (ps *processes) renew(p *Process, since uint64) *Process {
	over := p.over
	next := ps.begin(p.pid, since)
	before, used := next.before, next.used
	*next = *p
	next.since, next.before, next.used, next.over = since, before, used, over
	next.forgotten = false
	p.over, p.replaced = over, true
	return next
}

// forget keeps n, of p and what had its number before.
func (p *Process) forget(n int) {
	for ; p != nil; p = p.before {
		if n--; n == 0 {
			p.forgotten, p.before = p.forgotten || p.before != nil, nil
		}
	}
}

// at gives the process that had a number at a time, 0 for now. Of one that was forgotten nothing is known: another one
// of its number would have other names for its addresses.
func (ps *processes) at(pid int, time uint64) *Process {
	p := ps.get(pid)
	for time != 0 && p.since > time && p.before != nil {
		p = p.before
	}
	if time != 0 && p.since > time && p.forgotten {
		return &Process{pid: pid, proc: ps.folder(), over: true, told: true}
	}
	return p
}

// makeRoom drops those that were not asked for longest if there are too many:
// half of those that are over or, if these are few, half of all.
func (ps *processes) makeRoom() {
	if len(ps.byPID) < ps.limit() {
		return
	}
	var over, all []uint64 // their last uses, each another number
	for _, p := range ps.byPID {
		all = append(all, p.used)
		if p.over {
			over = append(over, p.used)
		}
	}
	every := len(over) <= len(all)/4
	if every {
		over = all
	}
	slices.Sort(over)
	until := over[len(over)/2]
	maps.DeleteFunc(ps.byPID, func(_ int, p *Process) bool { return p.used <= until && (every || p.over) })
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

// String says how much is kept, for -v.
func (t *Namer) String() string {
	return fmt.Sprintf("%d processes, %d files of %d bytes", len(t.processes.byPID), len(t.files.byID), t.files.bytes)
}
