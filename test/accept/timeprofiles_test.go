package accept

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A thread that sleeps was off the CPU about as long, where it sleeps. (issue 5)
func TestOffcputime(t *testing.T) {
	needTracing(t)
	e := startrace(t, "offcputime", "--min", "50ms", "--format", "folded", "-c", "sleep 0.4").ok(t)
	slept := 0
	for _, line := range linesWith(e.stdout, "nanosleep") {
		m := regexp.MustCompile(`^sleep;.*nanosleep;.*schedule (\d+)$`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %q", line)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		slept += n
	}
	if slept < 200_000 { // the sleep begins before the thread leaves the CPU
		t.Errorf("off the CPU for %d us, want most of 400000\n%s\n%s", slept, excerpt(e.stdout), excerpt(e.stderr))
	}
	e = startrace(t, "offcputime", "--min", "50ms", "-K", "-c", "sleep 0.2").ok(t)
	e.has(t, `(?m)^off\[sleep,\n( .*\n)+\]: \d+ us \([\d.]+%\)$`)
}

// startrace holds its command for some milliseconds when that begins. This is not the time of the command.
func TestOffCPUNotHeld(t *testing.T) {
	needTracing(t)
	for _, tool := range []string{"offcputime", "offwaketime", "wakeuptime"} {
		e := startrace(t, tool, "--format", "folded", "-c", "sleep 0.1").ok(t)
		if len(linesWith(e.stdout, "sleep;")) == 0 && e.skipped(t) == 0 {
			t.Errorf("%s: no line of the command: %s", tool, excerpt(e.stdout))
		}
		for _, line := range linesWith(e.stdout, "ptrace_stop;schedule;__schedule") {
			t.Errorf("%s: %s", tool, line)
		}
	}
}

// Samples of a busy loop are in the loop, and come as often as was asked for.
func TestProfile(t *testing.T) {
	e, _ := tool(t, []string{"profile", "-F", "200", "-U", "--format", "folded"}, "spin", "1", "2s")
	loop, all := 0, 0
	for _, line := range linesWith(e.stdout, "wl-spin;") {
		if !strings.Contains(line, ";main.onThreads") {
			continue // Go's scheduler, which interrupts the loop, has a stack of its own
		}
		n := number(t, line, ` (\d+)$`)
		all += n
		if strings.Contains(line, "main.spin.func1") || strings.Contains(line, "time.Now") {
			loop += n
		}
	}
	if all < 20 || loop < all*9/10 {
		t.Errorf("%d samples in the loop of %d\n%s", loop, all, excerpt(e.stdout))
	}
}

// The table of functions has rows of their own for each value of --by, and none for what runs no function.
func TestProfileFunctionsBy(t *testing.T) {
	flags := []string{"profile", "-F", "200", "--functions", "--format", "csv"}
	e, _ := tool(t, append(flags, "--by", "e.comm, e.pid"), "spin", "1", "1s")
	e.has(t, `(?m)^name,comm,pid,function,value,percent$`)
	e.has(t, `(?m)^samples,wl-spin,\d+,[^,]+,\d+,[\d.]+$`)
	if strings.Contains(e.stdout, ",,") {
		t.Errorf("a row lacks a part of its key:\n%s", e.stdout)
	}
	if e := startrace(t, append(flags, "--by", "e.nosuch", "-c", "true")...); e.status == 0 ||
		!strings.Contains(e.stderr, "an event has no field nosuch") {
		t.Errorf("--by e.nosuch ends with %d: %s", e.status, e.stderr)
	}
}
