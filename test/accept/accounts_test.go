package accept

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// notEndedLine is what -v says of calls that have begun and not ended.
var notEndedLine = regexp.MustCompile(`(?m)^startrace: (\d+) calls? of .* had begun and not ended$`)

// What was made is what was seen and what was reported, to the last call, however they begin and end: in threads,
// across fork, vfork and exec, under ptrace, in another pid namespace, and where all threads are killed in their calls.
func TestAccounts(t *testing.T) {
	path := traceable(t, "accounts")
	const byThread = `span("uprobe:BIN:mid", "uretprobe:BIN:mid")`
	const byKey = `span("uprobe:BIN:mid", "uretprobe:BIN:mid", key = lambda e: e.tid)`
	for _, tt := range []struct {
		point, work string
		made        int
	}{
		{`"ufunc:BIN:mid"`, "threads 100", 800}, {`"ufunc:BIN:mid"`, "executes 1", 11},
		{`"ufunc:BIN:mid"`, "stopped 100", 100},
		{`"ufunc:BIN:mid"`, "apart 100", 100}, {`"uretprobe:BIN:mid"`, "executes 1", 11},
		{`"uretprobe:BIN:mid"`, "apart 100", 100}, {byThread, "threads 100", 800}, {byKey, "threads 100", 800},
		{`"ufunc:BIN:{forks,leaf}"`, "forks 20", 60}, {`"ufunc:BIN:{vforks,leaf}"`, "vforks 20", 60},
		{`"uretprobe:BIN:{forks,leaf}"`, "forks 20", 60}, {`"ufunc:BIN:{stuck,leaf}"`, "killed 5", 40},
		{strings.ReplaceAll(byThread, "mid", "stuck"), "killed 5", 20}, {`"ufunc:BIN:executes"`, "executes 1", 1},
	} {
		e := startrace(t, "-v", script(t, fmt.Sprintf(`
n = count()
probe(%s, lambda e: n.add())
at_exit(lambda: print("seen", n.value))
`, strings.ReplaceAll(tt.point, "BIN", path))), "-c", path+" "+tt.work).ok(t)
		var seen int
		if _, err := fmt.Sscanf(e.stdout, "seen %d", &seen); err != nil {
			t.Fatalf("%v: %s", err, e.stdout)
		}
		starts, ends := e.unended(t)
		told := e.lost(t) + starts + ends + e.sum(t, notEndedLine)
		if missing := tt.made - seen - told; missing < 0 || missing > e.skipped(t) {
			t.Errorf("%s, %s: made %d, saw %d, told of %d\nstderr: %s", tt.point, tt.work, tt.made, seen, told,
				e.stderr)
		}
	}
}
