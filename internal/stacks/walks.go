package stacks

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/startrace/startrace/internal/mapping"
	"github.com/startrace/startrace/internal/symbols"
	"github.com/startrace/startrace/internal/unwind"
	"github.com/startrace/startrace/internal/wire"
)

// When a process gets the table by which programs walk along its stacks.

// Walks tell programs in the kernel what they need to walk along the stacks of processes: what these have mapped, as
// the band tells it, or /proc.
type Walks struct {
	// processes are those that are known.
	processes *Processes
	// keeper has the tables; nil where no program walks.
	keeper *unwind.Keeper
	// changed are the processes that have mapped something since their tables were made.
	changed map[int]bool
	// backlog are processes that began before and wait for their tables.
	backlog []int
}

// On reports whether programs walk.
func (w *Walks) On() bool { return w.keeper != nil }

// Begin lets programs walk by the tables of a keeper.
func (w *Walks) Begin(keeper *unwind.Keeper) { w.keeper, w.changed = keeper, map[int]bool{} }

// Ready makes the tables of processes, and waits until they are there, and until what is expected has been read, or for
// a time.
func (w *Walks) Ready(pids []int, most time.Duration) {
	if !w.On() {
		return
	}
	for _, pid := range pids {
		w.feed(pid)
	}
	w.keeper.Await(most)
}

// Expect reads a file that processes will map, by its path in our own mount namespace.
func (w *Walks) Expect(path string) {
	if file, ok := w.processes.File(path); ok && w.On() {
		w.keeper.Expect(file, func() (*os.File, error) { return os.Open(path) })
	}
}

// ReadyAll makes the tables of all processes that there are, for so long at most. Those that are left get theirs later,
// some in each turn. Processes that began last come first: threads of the kernel and what idles have low numbers.
func (w *Walks) ReadyAll(most time.Duration) {
	entries, err := os.ReadDir("/proc")
	if !w.On() || err != nil {
		return // each gets its table when its first stack comes
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			w.backlog = append(w.backlog, pid)
		}
	}
	slices.SortFunc(w.backlog, func(a, b int) int { return cmp.Compare(b, a) })
	for end := time.Now().Add(most); time.Now().Before(end); {
		switch {
		case len(w.backlog) > 0 && !w.keeper.Busy():
			w.feed(w.backlog[0])
			w.backlog = w.backlog[1:]
		case !w.keeper.Reading() || w.processes.hearAll() != nil: // See says what is wrong
			return
		default:
			w.keeper.Await(min(time.Until(end), hearing))
		}
	}
}

// hearing is how long at most nobody hears what processes map.
const hearing = 20 * time.Millisecond

// Trouble gives what is to be told.
func (w *Walks) Trouble() []string {
	if !w.On() {
		return nil
	}
	return w.keeper.Trouble()
}

// Close ends them, before the maps are closed.
func (w *Walks) Close() error {
	if !w.On() {
		return nil
	}
	keeper := w.keeper
	w.keeper = nil
	return keeper.Close()
}

// tell takes an event that the processes have been told.
func (w *Walks) tell(e *mapping.Change) {
	if !w.On() {
		return
	}
	switch e.Kind {
	case mapping.Forked:
		if e.Parent != e.PID { // else a thread
			w.keeper.Copy(e.PID, e.Parent)
			w.change(e.PID, w.changed[e.Parent])
		}
	case mapping.Executed, mapping.Ended:
		w.keeper.Drop(e.PID)
		w.change(e.PID, false)
	case mapping.Mapped:
		if e.Mapping.Code {
			w.change(e.PID, true)
		}
	}
}

func (w *Walks) change(pid int, changed bool) {
	if changed {
		w.changed[pid] = true
	} else {
		delete(w.changed, pid)
	}
}

// lost says that events were lost: any process can have mapped what nobody knows.
func (w *Walks) lost() {
	if w.On() {
		w.backlog = append(w.backlog, w.keeper.Processes()...)
	}
}

// backlogTime is for how long processes of the backlog get their tables in one turn.
const backlogTime = time.Millisecond

// follow makes the tables of those that have changed, of those that have a stack and no table, and of some of the
// backlog.
func (w *Walks) follow(news []processNews) {
	if !w.On() {
		return
	}
	for _, n := range news {
		if n.pid != 0 && (w.processes.band == nil || !w.keeper.Knows(n.pid)) {
			w.changed[n.pid] = true
		}
	}
	for range mostTurns {
		changed := w.changed
		w.changed = map[int]bool{} // what is heard meanwhile
		for pid := range changed {
			w.feed(pid)
		}
		if len(w.changed) == 0 {
			break
		}
	}
	for end := time.Now().Add(backlogTime); len(w.backlog) > 0 && !w.keeper.Busy() && time.Now().Before(end); {
		w.feed(w.backlog[0])
		w.backlog = slices.Delete(w.backlog, 0, 1)
	}
}

// mostTurns bounds how often what has changed meanwhile is looked at, too.
const mostTurns = 8

// feed gives the keeper what a process has mapped. That and the image that runs must belong together. So all is heard
// that had happened when the image was read, and the image is still the same behind that: an exec in between is seen,
// or heard of.
func (w *Walks) feed(pid int) {
	image, known := w.processes.Image(pid)
	if !known || w.processes.hearAll() != nil {
		return // See says what is wrong
	}
	var list []unwind.Mapped
	w.processes.Code(pid, func(m symbols.Mapped) { list = append(list, unwind.Mapped(m)) })
	again, known := w.processes.Image(pid)
	// Else it is a thread of the kernel, or another program by now.
	if len(list) > 0 && known && again == image {
		w.keeper.Set(pid, wire.UnwindImage(image.Code, image.End, image.Stack), list)
	}
}
