package accept

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A relay is two processes, each of which gives on what it reads: what the test writes goes to the first, from there to
// the second, and back to the test. So each write is one process's doing and the read that answers it another's.
type relay struct {
	first, second *exec.Cmd
	in            io.Writer
	out           io.Reader
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	between, into, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{first: exec.Command("cat"), second: exec.Command("cat")}
	r.first.Stdout, r.second.Stdin = into, between
	in, err := r.first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.second.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{r.first, r.second} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	r.in, r.out = in, bufio.NewReader(out)
	into.Close()
	between.Close()
	return r
}

// relayed is how many bytes go through at a time.
const relayed = 777

func (r *relay) send(t *testing.T, times int) {
	t.Helper()
	for range times {
		if _, err := r.in.Write(make([]byte, relayed)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r.out, make([]byte, relayed)); err != nil {
			t.Fatal(err)
		}
	}
}

// spanTargets are spans from a write to a read of another process, and what is shown of them with -p FIRST and with
// -p SECOND for each of the three times that something goes through.
var spanTargets = []struct{ name, probe, first, second string }{
	{"key", `probe(passed, line)`, "FIRST from TEST\n", "SECOND from FIRST\n"},
	{"pid of the start", `probe(event((passed, lambda e: record(pid = e.start.pid))), line)`, "FIRST from FIRST\n",
		"SECOND from SECOND\n"},
	{"pid of the start's event", `probe(span(event((WRITE, lambda e: record(pid = 1))), READ, key = KEYS), line)`,
		"FIRST from 1\n", "SECOND from 1\n"},
	{"pid of the end's event", `probe(span(WRITE, event((READ, lambda e: record(pid = PID))), key = KEYS), line,
    where = lambda e: e.args.ret == 777)`, "PID from TEST\nPID from FIRST\nPID from SECOND\n",
		"PID from TEST\nPID from FIRST\nPID from SECOND\n"},
	{"thread", `probe(event((span(WRITE, DONE), lambda e: record(pid = PID))), line,
    where = lambda e: e.args.ret == 777 and e.start.comm == "cat")`, "PID from FIRST\nPID from SECOND\n",
		"PID from FIRST\nPID from SECOND\n"},
	{"handler of the start", `probe(passed, line, start = lambda e: print(e.pid, "writes"))`,
		"FIRST from TEST\nFIRST writes\n", "SECOND from FIRST\nSECOND writes\n"},
	{"open", `p = probe(passed, lambda e: None)
at_exit(lambda: [print(began.pid, "is open") for key, began in p.items() if key == 777] and None)`, "", ""},
}

const spanTarget = `
WRITE, READ, DONE = "t:syscalls:sys_enter_write", "t:syscalls:sys_exit_read", "t:syscalls:sys_exit_write"
KEYS = (lambda e: e.args.count, lambda e: e.args.ret)
passed = span(WRITE, READ, key = KEYS)

def line(e):
    print(e.pid, "from", e.start.pid)
`

// With -p it is e.pid of an event that counts, wherever the span began: nothing of the process is missing, nothing of
// others is shown, and what others do is no loss.
//
// > The starts of a span with a key are recorded whoever makes them, with `-c` and `-p` too.
// > So are all starts of a span whose events have a pid of their own.
// > The end decides, by its `e.pid`.
// > So with `-p R` a span from `signal_generate` to `signal_deliver` is what R gets, whoever sends it.
// > A handler of `start =` runs for starts of traced processes.
// > What `items()` shows as open is of a traced process, and so is each start that is counted as lost.
// > Where no end without a start is counted, each start that finds no room is counted.
func TestSpanTarget(t *testing.T) {
	needTracing(t)
	for _, c := range spanTargets {
		t.Run(c.name, func(t *testing.T) {
			r := newRelay(t)
			r.send(t, 1) // both have begun
			for _, side := range []struct {
				of   *exec.Cmd
				want string
			}{{r.first, c.first}, {r.second, c.second}} {
				unskipped(t, func() int { return r.checkTarget(t, c.probe, side.of.Process.Pid, side.want) })
			}
		})
	}
}

// checkTarget traces one of the two while three times something goes through. It gives how many events were skipped.
func (r *relay) checkTarget(t *testing.T, probe string, pid int, want string) (skipped int) {
	t.Helper()
	pids := strings.NewReplacer("PID", fmt.Sprint(pid), "TEST", fmt.Sprint(os.Getpid()),
		"FIRST", fmt.Sprint(r.first.Process.Pid), "SECOND", fmt.Sprint(r.second.Process.Pid))
	text := spanTarget + pids.Replace(probe) + "\n" + attached
	run := start(t, script(t, text), "-p", fmt.Sprint(pid))
	run.await(t, "attached")
	r.send(t, 3)
	e := run.interrupt(t).ok(t)
	if skipped := e.skipped(t); skipped > 0 {
		return skipped
	}
	counts := map[string]int{}
	for line := range strings.Lines(e.stdout) {
		if line != "attached\n" && line != "\n" {
			counts[line]++
		}
	}
	wanted := map[string]int{}
	for line := range strings.Lines(pids.Replace(want)) {
		wanted[line] = 3
	}
	if fmt.Sprint(counts) != fmt.Sprint(wanted) {
		t.Errorf("-p %d: got %v, want %v\nstderr: %s", pid, counts, wanted, excerpt(e.stderr))
	}
	ownEnds := strings.Contains(probe, "pid = PID") // all ends are the process's, also those that have no start
	if strings.Contains(e.stderr, "had no start") && !ownEnds || strings.Contains(e.stderr, "never ended") {
		t.Errorf("-p %d: what others do is counted as a loss: %s", pid, excerpt(e.stderr))
	}
	return 0
}
