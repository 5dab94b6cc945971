package accept

import (
	"fmt"
	"testing"
)

// Requests of io_uring that have all the same number, of which no two that differ are under way at one time: all count,
// also where the kernel does not say which one ends, and one side of the pairs goes on while the other does.
func TestRingRounds(t *testing.T) {
	const n = 100
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "rounds", fmt.Sprint(n), t.TempDir())
	if d.Calls == 0 {
		t.Skip("needs io_uring (CONFIG_IO_URING, sysctl kernel.io_uring_disabled)")
	}
	reads, writes := 10*n, 11*n
	row := fmt.Sprintf(`(?m)^ *%d +wl-rounds +mix +\S+ +\d+ +`, d.PID)
	if e.skipped(t) == 0 {
		e.has(t, fmt.Sprintf(`%s%d +%d +%d +%d +%d$`, row, reads, writes, 500*reads, 10100*n, 500*reads+10100*n))
		return
	}
	checkAccount(t, e, number(t, e.stdout, row+`(\d+) `)+number(t, e.stdout, row+`\d+ +(\d+) `), reads+writes)
}

// ringMoves are the bytes that workload ringways reads and writes of its files, and the way by which it does so.
var ringMoves = []struct {
	file, way   string
	read, wrote int
}{{"from", "splice", 701, 0}, {"to", "splice", 0, 701}, {"fixed", "fixed", 30, 31}}

// Requests that move bytes by other ways than to read or write have their rows and lines. One that is to have no end is
// not seen, and spoils nothing else.
func TestRingMoves(t *testing.T) {
	e, d := tool(t, []string{"filetop", "-i", "1h", "-r", "100"}, "ringways", t.TempDir())
	for _, m := range ringMoves {
		if d.FDs[m.way] == 0 {
			continue
		}
		e.has(t, fmt.Sprintf(`(?m)^ *%d +wl-ringways +%s +\S+ +\d+ +%d +%d +%d +%d +%d$`, d.PID, m.file, min(m.read, 1),
			min(m.wrote, 1), m.read, m.wrote, m.read+m.wrote))
	}
	if e.skipped(t) == 0 {
		checkAccount(t, e, len(linesWith(e.stdout, "wl-ringways")), 2+d.FDs["fixed"])
	}
}
