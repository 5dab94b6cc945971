package accept

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// waysSeen are the ways of workload openways that were there.
func waysSeen(d done) (ways []string) {
	for _, way := range []string{"openat", "openat2", "handle", "ring", "ring2"} {
		if _, ok := d.FDs[way]; ok {
			ways = append(ways, way)
		}
	}
	return ways
}

// Each way to open a file is a line of opensnoop, of failedopens where it fails, and of fatrace: with what the program
// gave, and what it got.
func TestOpenWays(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"opensnoop", "--exact", "-n", "wl-openways"}, "openways", dir)
	for _, way := range waysSeen(d) {
		gone := filepath.Join(dir, "gone-"+way)
		row := fmt.Sprintf(`(?m)^%d +wl-openways +`, d.PID)
		if way == "handle" {
			e.has(t, row+`-1 +9 +<handle>$`)
		} else {
			e.has(t, row+`-1 +2 +`+regexp.QuoteMeta(gone)+`$`)
		}
		e.has(t, fmt.Sprintf(`%s%d +0 +%s$`, row, d.FDs[way], regexp.QuoteMeta(filepath.Join(dir, "by-"+way))))
	}
	checkAccount(t, e, len(linesWith(e.stdout, filepath.Join(dir, "by-"))), len(waysSeen(d)))
	unnamed := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +wl-openways +-1 +2 +$`, d.PID)).FindAllString(e.stdout, -1)
	checkAccount(t, e, len(unnamed), 2) // by openat and openat2

	e, d = tool(t, []string{"failedopens", "--exact", "-n", "wl-openways"}, "openways", t.TempDir())
	for _, way := range waysSeen(d) {
		name := map[string]string{"handle": "EBADF +<handle>"}[way]
		if name == "" {
			name = `ENOENT +\S*/gone-` + way
		}
		e.has(t, fmt.Sprintf(`(?m)^wl-openways +%d +%s$`, d.PID, name))
	}
	e.has(t, fmt.Sprintf(`(?m)^wl-openways +%d +ENOENT +$`, d.PID))
}

// fatrace has the flags of each open, too, and a mark for a handle that opens nothing.
func TestFatraceOpens(t *testing.T) {
	dir := t.TempDir()
	e, d := tool(t, []string{"fatrace", "--exact"}, "openways", dir)
	if slices.Contains(waysSeen(d), "handle") {
		e.has(t, `(?m)^\S+ open_by_handle_at: <handle> flags \S+ mode 0 = -9$`)
	}
	calls := map[string]string{
		"openat":  `openat: %s/%s flags 1 mode 0 = %d`,
		"openat2": `openat2: %s/%s flags 2 mode 0 = %d`,
		"handle":  `open_by_handle_at: %s/%s flags 0 mode 0 = %d`,
		"ring":    `io_uring open: %s/%s flags 0 mode 0 = %d`,
		"ring2":   `io_uring open: %s/%s flags 42 mode 600 = %d`,
	}
	for _, way := range waysSeen(d) {
		line := fmt.Sprintf(calls[way], regexp.QuoteMeta(dir), "by-"+way, d.FDs[way])
		e.has(t, fmt.Sprintf(`(?m)^\S+\(%d\) %s$`, d.PID, line))
	}
}

// Each open that succeeds counts in the histogram of fsdist.
func TestFsdistOpens(t *testing.T) {
	script := script(t, `
load("std/fsdist.star", "called")
n = count(by = ("kind",))
probe(called(), kernel = lambda e: n[e.kind].add(), where = lambda e: e.comm == "wl-openways")
`)
	e, d := tool(t, []string{script, "--exact"}, "openways", t.TempDir())
	checkAccount(t, e, number(t, e.stdout, `(?m)^open +(\d+)$`), len(waysSeen(d)))
}
