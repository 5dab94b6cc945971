package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// openNumbered makes files f1 … fn and last in a folder, and gives the folder, and a command that opens them in this
// order.
func openNumbered(t *testing.T, n int) (dir, command string) {
	t.Helper()
	dir = t.TempDir()
	lines := ""
	for _, name := range append(numbered("f", 1, n), "last") {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		lines += ": < " + path + "\n"
	}
	file := filepath.Join(t.TempDir(), "open.sh")
	if err := os.WriteFile(file, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, "sh " + file
}

func numbered(prefix string, from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, prefix+strconv.Itoa(i))
	}
	return out
}

// keeping is a script that keeps the last opens of f1, f2 … and shows them when asked; %s are the folder, keep= and
// what asks.
const keeping = `
DIR = "%s/"
p = probe("syscall:openat", lambda e: print(e.args.filename.removeprefix(DIR), e.ret >= 0), keep = %s,
          where = lambda e: e.args.filename.startswith(DIR + "f"))
%s
`

// The last events are those that are shown, each once, in their order, when the script asks for them. (S4-09)
func TestKeep(t *testing.T) {
	needTracing(t)
	for _, c := range []struct {
		name, keep, ask string
		want            []string
	}{
		{"the last of many", "5", `at_exit(lambda: print("shown", p.dump(), p.dump()))`,
			append(opens(16, 20), "shown 5 0")},
		{"fewer than there is room for", "50", `at_exit(lambda: print("shown", p.dump()))`,
			append(opens(1, 20), "shown 20")},
		{"one", "1", `at_exit(lambda: print("shown", p.dump()))`, append(opens(20, 20), "shown 1")},
		{"for another event", "3", `probe("syscall:openat",
			lambda e: print("at", e.args.filename.removeprefix(DIR), p.dump(), e.args.filename.removeprefix(DIR)),
			where = lambda e: e.args.filename == DIR + "last")`, append(opens(18, 20), "at last 3 last")},
		{"for nobody", "2", "", opens(19, 20)},
		{"nested", "2", `
def again(e):
    p.dump()
q = probe("syscall:openat", again, keep = 1, where = lambda e: e.args.filename == DIR + "last")
at_exit(lambda: print("shown", q.dump()))`, append(opens(19, 20), "shown 1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, command := openNumbered(t, 20)
			e := startrace(t, "-q", script(t, fmt.Sprintf(keeping, dir, c.keep, c.ask)), "-c", command).ok(t)
			if want := strings.Join(c.want, "\n") + "\n"; e.stdout != want {
				t.Errorf("got\n%s\nwant\n%s", e.stdout, want)
			}
			if e.lost(t) != 0 && e.skipped(t) == 0 {
				t.Errorf("losses: %s", e.stderr)
			}
		})
	}
}

func opens(from, to int) (out []string) {
	for _, f := range numbered("f", from, to) {
		out = append(out, f+" True")
	}
	return out
}

// exit() in the handler that dump() runs ends the callback that has called dump(), whichever that is, and the run.
func TestKeepExit(t *testing.T) {
	needTracing(t)
	for name, ask := range map[string]string{
		"a handler": `probe("syscall:openat", ask, where = lambda e: e.args.filename == DIR + "last")`,
		"a timer": `
n = count()
probe("syscall:openat", lambda e: n.add(), where = lambda e: e.args.filename == DIR + "last")
asked = []
def tick(): # is called once more at the end
    if n.value and not asked:
        asked.append(True)
        ask(None)
every("10ms", tick)`,
		"the exit": `at_exit(lambda: ask(None))`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, command := openNumbered(t, 20)
			e := startrace(t, "-q", script(t, fmt.Sprintf(`
DIR = "%s/"
def shown(e):
    print(e.args.filename.removeprefix(DIR))
    if e.args.filename.endswith("19"):
        exit(7)
p = probe("syscall:openat", shown, keep = 3, where = lambda e: e.args.filename.startswith(DIR + "f"))
def ask(e):
    p.dump()
    print("went on")
%s
at_exit(lambda: print("end"))
`, dir, ask)), "-c", command)
			if want := "f18\nf19\nend\n"; e.status != 7 || e.stdout != want {
				t.Errorf("exit code %d, got\n%s\nwant 7 and\n%s", e.status, e.stdout, want)
			}
		})
	}
}

// Without a handler lines are printed.
func TestKeepLines(t *testing.T) {
	needTracing(t)
	dir, command := openNumbered(t, 9)
	text := fmt.Sprintf(`probe("syscall:openat", keep = 2, where = lambda e: e.args.filename.startswith(%q))`, dir)
	e := startrace(t, "-q", script(t, text), "-c", command).ok(t)
	want := regexp.MustCompile(`^.*filename=` + dir + `/f9 .*\n.*filename=` + dir + `/last .*\n$`)
	if !want.MatchString(e.stdout) {
		t.Errorf("got\n%s", e.stdout)
	}
}

// Threads on all CPUs keep their events in one queue: what is shown is as many as there is room for, in order.
func TestKeepThreads(t *testing.T) {
	needTracing(t)
	n := scaled(20000)
	const room = 25
	e, _ := traced(t, fmt.Sprintf(`
times = []
p = probe("syscall:getppid", lambda e: times.append(e.time), keep = %d, where = lambda e: e.comm == "wl-getppid")
hits = count()
probe("syscall:getppid", lambda e: hits.add(), where = lambda e: e.comm == "wl-getppid")
def end():
    n = p.dump()
    print("shown", n, len(times), sorted(times) == times, hits.value >= n)
at_exit(end)
`, room), nil, "getppid", strconv.Itoa(n), "4")
	if want := fmt.Sprintf("shown %d %d True True\n", room, room); !strings.HasSuffix(e.stdout, want) {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
}

// What cannot be kept is refused with what to do.
func TestKeepMistakes(t *testing.T) {
	needTracing(t)
	for text, want := range map[string]string{
		`probe("syscall:read", keep = 0)`:   `probe: got keep = 0, want a number of events from 1 to 1048576`,
		`probe("syscall:read", keep = "5")`: `probe: got keep = "5", want a number of events from 1 to 1048576`,
		`p = probe("syscall:read", keep = 1)` + "\n" +
			`p.dump()`: `the probe is not loaded yet: this works in callbacks`,
		`p = probe("syscall:read", lambda e: 0)` + "\n" + `at_exit(lambda: p.dump())`: `dump: this probe sends its ` +
			`events as they happen; keep = N keeps the last N for dump()`,
	} {
		e := startrace(t, script(t, text), "-c", "true")
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: status %d, got %s, want %s", text, e.status, e.stderr, want)
		}
	}
}
