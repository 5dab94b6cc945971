package session

import (
	"testing"

	"github.com/startrace/startrace/internal/stream"
)

// A ring that is ahead of one that could not be emptied waits for it, and is read again once that one has come as far.
func TestRingsKeepStep(t *testing.T) {
	const interval = uint64(stream.DrainInterval)
	slow := &part{progress: progress{latest: 2 * interval, reach: interval, behind: true}}
	quick := &part{progress: progress{latest: 9 * interval, reach: 9 * interval}}
	d := &delivery{parts: &parts{list: []*part{slow, quick}}}
	if d.ahead(slow) || !d.ahead(quick) || !d.behind() {
		t.Errorf("ahead %v and %v, behind %v", d.ahead(slow), d.ahead(quick), d.behind())
	}
	slow.latest, slow.reach = 9*interval, 8*interval
	if d.ahead(slow) || d.ahead(quick) {
		t.Errorf("ahead %v and %v although both are as far", d.ahead(slow), d.ahead(quick))
	}
	slow.behind = false
	if slow.latest = 0; d.ahead(quick) || d.behind() {
		t.Errorf("ahead %v, behind %v of a ring that is empty", d.ahead(quick), d.behind())
	}
}
