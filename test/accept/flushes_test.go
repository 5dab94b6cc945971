package accept

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// alarms are the losses that a run may report, of which there is no cause in the runs below.
var alarms = regexp.MustCompile(`(?m)^.*(?:never ended|did not return|had no start|lost).*$`)

// wholeSystem runs a tool of the library on all processes, and a workload when everything is attached. More is text of
// a script that is run beside the tool.
func wholeSystem(t *testing.T, words []string, more string, work ...string) (ended, done) {
	t.Helper()
	needGuest(t)
	report := filepath.Join(t.TempDir(), "report.json")
	cmd, in := readied(t, exec.Command(program(t, "workload"),
		append([]string{"-wait", "-report", report}, work...)...))
	text := fmt.Sprintf("load(%q, tool = \"main\")\ntool()\n%s\n%s\n", "std/"+words[0]+".star", more, attached)
	r := start(t, append([]string{script(t, text)}, words[1:]...)...)
	r.await(t, "attached")
	goOn(t, cmd, in)
	return tracedBy(t, r.interrupt(t).ok(t), report)
}

// A flush is a request of its own, by whatever program it was caused, and no start or end of it is taken for one of
// another request: a write that has to be on the disk is a write, and then a flush.
func TestFlushRequests(t *testing.T) {
	needGuest(t)
	needTracing(t)
	disk := loopDevice(t, 4<<20)
	name := strings.TrimPrefix(disk, "/dev/")
	t.Run("issued", func(t *testing.T) { checkFlushes(t, disk, "biosnoop", "-d", name) })
	t.Run("queued", func(t *testing.T) {
		withScheduler(t, name)
		checkFlushes(t, disk, "biosnoop", "-d", name, "-Q")
	})
}

// checkFlushes: the kernel flushes twice for each write, once for the write's flag and once at the end of the call.
func checkFlushes(t *testing.T, disk string, words ...string) {
	t.Helper()
	e, d := wholeSystem(t, words, "", "flushes", "30", disk)
	name := strings.TrimPrefix(disk, "/dev/")
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`\S+ \d+ %s F?WF?S? \d+ 4096 \d+\.\d{3}`, name)), d.Calls)
	checkAccount(t, e, rowsLike(e, fmt.Sprintf(`\S+ \d+ %s FF 0 0 \d+\.\d{3}`, name)), 3*d.Calls)
	checkAccount(t, e, len(linesWith(e.stdout, name)), 4*d.Calls)
	if found := alarms.FindString(e.stderr); found != "" && e.skipped(t) == 0 {
		t.Errorf("%v: nothing was lost: %s", words, found)
	}
}

// withScheduler gives a disk a queue of its own, or skips the rest where the kernel has none.
func withScheduler(t *testing.T, name string) {
	t.Helper()
	file := "/sys/block/" + name + "/queue/scheduler"
	if err := os.WriteFile(file, []byte("mq-deadline"), 0); err != nil {
		t.Skipf("needs a scheduler of requests (modprobe mq-deadline): %v", err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(file, []byte("none"), 0); err != nil {
			t.Error(err)
		}
	})
}
