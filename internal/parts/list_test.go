package parts

import (
	"testing"

	"github.com/startrace/startrace/internal/stream"
)

// A ring that is ahead of one that could not be emptied waits for it, and is read again once that one has come as far.
func TestRingsKeepStep(t *testing.T) {
	const interval = uint64(stream.DrainInterval)
	slow := &Part{progress: progress{latest: 2 * interval, reach: interval, behind: true}}
	quick := &Part{progress: progress{latest: 9 * interval, reach: 9 * interval}}
	l := &Parts{All: []*Part{slow, quick}}
	if l.Ahead(slow) || !l.Ahead(quick) || !l.Behind() {
		t.Errorf("ahead %v and %v, behind %v", l.Ahead(slow), l.Ahead(quick), l.Behind())
	}
	slow.latest, slow.reach = 9*interval, 8*interval
	if l.Ahead(slow) || l.Ahead(quick) {
		t.Errorf("ahead %v and %v although both are as far", l.Ahead(slow), l.Ahead(quick))
	}
	slow.behind = false
	if slow.latest = 0; l.Ahead(quick) || l.Behind() {
		t.Errorf("ahead %v, behind %v of a ring that is empty", l.Ahead(quick), l.Behind())
	}
}
