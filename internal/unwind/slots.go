package unwind

import (
	"crypto/sha256"

	"github.com/startrace/startrace/internal/wire"
)

// Places for tables, given back when no program uses them.

// slots are the places for tables.
type slots struct {
	// byContent has those that are in use by their bytes.
	byContent map[[sha256.Size]byte]*slot
	// free are the numbers of those that nothing in the kernel uses. The one of wire.UnwindNoMappings is never free.
	free []int
	// all is how many there are, without that one.
	all int
}

// A slot is a place with a table in it.
type slot struct {
	number  int
	content [sha256.Size]byte
	// refs counts the layouts and the processes that have it.
	refs int
	// runs are the chunks that the table speaks of.
	runs []*run
}

func newSlots(n int) slots {
	s := slots{byContent: map[[sha256.Size]byte]*slot{}, all: n - 1}
	for i := n - 1; i > wire.UnwindNoMappings; i-- {
		s.free = append(s.free, i)
	}
	return s
}

// slotOf gives the place of a table, where it is written if no other process has the same; nil where there is none, for
// all are full or for an error that has been noted.
func (k *Keeper) slotOf(table []byte, runs []*run) (s *slot, full bool) {
	content := sha256.Sum256(table)
	if s := k.byContent[content]; s != nil {
		return s, false
	}
	last := len(k.slots.free) - 1
	if last < 0 {
		return nil, true
	}
	s = &slot{number: k.slots.free[last], content: content, runs: runs}
	if err := k.kernel.table(s.number, table); err != nil {
		k.check(err)
		return nil, false
	}
	k.slots.free = k.slots.free[:last]
	k.byContent[content] = s
	for _, r := range runs {
		r.refs++
	}
	return s, false
}

// leaveSlot is called for each reference that ends.
func (k *Keeper) leaveSlot(s *slot) {
	if s.refs--; s.refs > 0 {
		return
	}
	delete(k.byContent, s.content)
	k.limbo.slots = append(k.limbo.slots, s.number)
	for _, r := range s.runs {
		k.leaveRun(r)
	}
	if len(k.limbo.slots) > k.slots.all/8 {
		k.reclaimSoon()
	}
}

// A limbo has what nobody refers to any more, but programs in the kernel that have begun before.
type limbo struct {
	slots []int
	runs  []*run
}

func (l *limbo) empty() bool { return len(l.slots) == 0 && len(l.runs) == 0 }

// reclaimSoon lets a goroutine reclaim what is in limbo. Where there is nothing, tables of processes go.
func (k *Keeper) reclaimSoon() {
	if k.reclaiming || k.closed {
		return
	}
	if k.limbo.empty() {
		k.evictProcesses(0)
	}
	k.reclaiming = true
	go func() {
		for k.reclaim() {
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.reclaiming = false; len(k.unplaced) > 0 {
			k.reclaimSoon()
		}
	}()
}

// reclaim waits for all programs that may see what is in limbo, and makes it free. It reports whether there was
// anything. Of several calls at the same time each returns when what was in limbo before is free.
func (k *Keeper) reclaim() bool {
	k.settling.Lock()
	defer k.settling.Unlock()
	k.mu.Lock()
	old := k.limbo
	k.limbo = limbo{}
	k.mu.Unlock()
	if old.empty() || !k.grow(1) || !k.checked(k.kernel.settle()) {
		return false // what is lost for that is not used again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slots.free = append(k.slots.free, old.slots...)
	for _, r := range old.runs {
		k.space.give(r.first, r.n)
	}
	for l := range k.unplaced {
		k.publish(l)
	}
	return true
}

func (k *Keeper) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}
