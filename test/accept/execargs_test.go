package accept

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What execve was given and the start of the call could not read is read from the new program where the call succeeds;
// where it fails, each string that could not be read is FAULT, and the list is whole.
//
// > What execve was given is read when it begins.
// > Where the call succeeds, it is read from the new program's memory, as the kernel took it.
// > That is not so for a script with an interpreter and for a 32-bit program.
// > A string of a `char **` that cannot be read is FAULT: `("sh", <fault>)`.
// > `" ".join(list)` has `<fault>` in the place of such a string.
func TestColdArguments(t *testing.T) {
	n := scaled(100)
	e, d := traced(t, `
def told(e):
    printf("cold %d %d %s %s %q\n", e.ret, len(e.args.argv), e.start.args.filename, e.start.args.argv,
           " ".join(e.args.argv))

probe("syscall:execve", told, where = lambda e: e.start.comm == "wl-execs")
probe("syscall:execve", lambda e: printf("environment %s\n", e.start.args.envp),
      where = lambda e: e.start.comm == "wl-execs")
joined = table()

def note(e):
    joined[e.pid] = " ".join(e.start.args.argv)

probe("syscall:execve", kernel = note, where = lambda e: e.start.comm == "wl-execs")
at_exit(lambda: [printf("kernel %d %s\n", pid, text) for pid, text in joined.items()])
probe("tracepoint:syscalls:sys_enter_execve", lambda e: print("tracepoint", e.args.filename, e.args.argv),
      where = lambda e: e.comm == "wl-execs")
`, nil, "coldexecs", strconv.Itoa(n))
	want := map[string]int{}
	thirty := strings.Join(slices.Repeat([]string{"<fault>"}, 30), ", ")
	want[fmt.Sprintf(`cold -2 30 /nonexistent/cold (%s) "%s"`, thirty, strings.ReplaceAll(thirty, ",", ""))] = n
	want["environment ()"], want[`environment ("COLD=1",)`] = n, n
	want[fmt.Sprintf(`tracepoint <fault> (%s)`, thirty)] = n
	want[`tracepoint <fault> (<fault>, <fault>, <fault>)`] = n
	for i := range n {
		want[fmt.Sprintf(`cold 0 3 %s ("wl-after", "-exit-as", "%d") "wl-after -exit-as %d"`,
			program(t, "workload"), i%256, i%256)]++
		want[fmt.Sprintf("kernel %d wl-after -exit-as %d", d.TIDs[i], i%256)]++
	}
	got := map[string]int{}
	for line := range strings.Lines(e.stdout) {
		got[strings.TrimSpace(line)]++
	}
	if e.skipped(t) > 0 {
		return
	}
	for line, times := range want {
		if got[line] != times {
			t.Errorf("%d times, want %d: %s", got[line], times, line)
		}
	}
	if t.Failed() {
		t.Logf("stdout: %s\nstderr: %s", excerpt(e.stdout), excerpt(e.stderr))
	}
}

// A join in user space, here one with two bytes between the strings, has no string for FAULT.
//
// > Other joins in user space take strings only.
func TestColdArgumentsJoined(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e",
		`probe("syscall:execve", lambda e: print(", ".join(e.args.argv)), where = lambda e: e.ret == -2)`,
		"-c", program(t, "workload")+" coldexecs 1")
	if e.skipped(t) == 0 && (e.status != failedBeside ||
		!strings.Contains(e.stderr, "join: in list, want string, got fault")) {
		t.Errorf("status %d, want 1; stderr: %s", e.status, excerpt(e.stderr))
	}
}

// The arguments of a script's interpreter are not those of the call.
func TestScriptArguments(t *testing.T) {
	needTracing(t)
	file := executable(t, "#!/bin/sh -f\nexit 0\n")
	shows(t, fmt.Sprintf("0 %s (%q, \"a\", \"b\")\n", file, file), "-q", "-e",
		`probe("syscall:execve", lambda e: print(e.ret, e.args.filename, e.args.argv))`, "-c", file+" a b")
}

func executable(t *testing.T, text string) string {
	t.Helper()
	name := script(t, text)
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}
