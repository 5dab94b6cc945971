package memory

import (
	"fmt"
	"runtime/debug"
	"time"
)

// The warning, and the end of a run, when a control group leaves nearly nothing.

// scarce is what is left of a control group where the kernel soon ends the run without a word.
const scarce = 4 << 20

// share is which part of its control group a run takes at least that is ended for want of memory, and small is the
// largest limit of one: else it is another process of the group that takes it, or the kernel for that one, which gives
// back some of what it takes.
const (
	share = 4
	small = 2 * tight
)

// Warn makes last be called, on another goroutine, when the control group leaves nearly nothing, though all that can be
// given back has been. It is to end the run, with what text says.
func (b *Budget) Warn(last func(text string)) { b.last = last }

// A small control group is looked at beside each collection, too, since values can grow by MBs in one: often where
// little is left, else seldom.
const (
	often  = 3 * time.Millisecond
	seldom = 20 * time.Millisecond
	little = 16 << 20
)

// watch looks at a small control group until Close.
func (b *Budget) watch() {
	if b.last == nil || group().limit > small {
		return
	}
	go func() {
		for !b.closed.Load() {
			pause := seldom
			if InGroup() < little {
				pause = often
			}
			time.Sleep(pause)
			b.watchGroup()
		}
	}()
}

// watchGroup looks at what the control group leaves.
func (b *Budget) watchGroup() {
	if b.last == nil || !b.isScarce(scarce) {
		return
	}
	if !b.isScarce(scarce / 2) {
		debug.FreeOSMemory()
	}
	if b.isScarce(scarce) && !b.closed.Swap(true) {
		b.last(fmt.Sprintf("the control group (cgroup) of startrace leaves no memory, and takes all of %s: the run "+
			"ends here, since the kernel would end it without a word; raise its limit", inMB(group().limit)))
	}
}

// isScarce: less than so much is left, of which this process takes a good part.
func (b *Budget) isScarce(least uint64) bool {
	g := group()
	return g.left < least && g.limit <= small && taken() >= g.limit/share
}
