package accept

import (
	"fmt"
	"regexp"
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

// A file that is opened into the ring's own table is opened, and what only sets how long a file is changes it.
func TestRingFiles(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fatrace", "--classic", "--exact"}, "ringways", dir)
	line := fmt.Sprintf("wl-ringways(%d): ", d.PID)
	checkAccount(t, e, len(linesWith(e.stdout, line+"CRWO "+dir+"/direct")), d.FDs["direct"])
	checkAccount(t, e, len(linesWith(e.stdout, line+"W "+dir+"/sized")), d.FDs["ftruncate"]+d.FDs["fallocate"])

	if d.FDs["direct"] != 0 {
		e, _ := tool(t, []string{"opensnoop", "--full", "--exact"}, "ringways", dir)
		e.has(t, `(?m)^\d+ +wl-ringways +0 +0 \S+/direct$`)
	}
}

// The attributes that io_uring asks for are lines, those that it does not get, too.
func TestRingStats(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"statsnoop", "--exact"}, "ringways", dir)
	if d.FDs["statx"] == 0 {
		t.Skip("needs a kernel with io_uring")
	}
	for name, failed := range map[string]int{"from": 0, "gone": 2} {
		e.has(t, fmt.Sprintf(`(?m)^%d +wl-ringways +io_uring +%d %s/%s$`, d.PID, failed, regexp.QuoteMeta(dir), name))
	}
}

// Connections that io_uring accepts have a line, each of those that one request accepts, too, and so has its listening.
func TestRingNet(t *testing.T) {
	e, d := tool(t, []string{"tcpaccept", "--exact"}, "ringnet")
	port := d.FDs["port"]
	if port == 0 {
		t.Skip("needs a kernel with io_uring")
	}
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +\S+ +127\.0\.0\.1 +\d+ +127\.0\.0\.1 +%d$`, d.PID, port))
	checkAccount(t, e, len(line.FindAllString(e.stdout, -1)), d.Calls)

	e, d = tool(t, []string{"solisten", "--exact"}, "ringnet")
	e.has(t, fmt.Sprintf(`(?m)^%d +wl-ringnet +TCP +7 127\.0\.0\.1 +%d +0$`, d.PID, d.FDs["port"]))
}
