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
// where it fails before it has read them, each string that could not be read is FAULT, and the list is whole.
//
// > What execve was given is read when it begins.
// > Where the call succeeds, it is read from the new program's memory, as the kernel took it.
// > That is not so for a 32-bit program.
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
	failed := func(list string) string {
		return fmt.Sprintf(`cold -2 30 /nonexistent/cold (%s) "%s"`, list,
			strings.NewReplacer(",", "", `"`, "").Replace(list))
	}
	read := failed(strings.ReplaceAll(thirty, "<fault>", `"missing"`)) // kernels before 6.8 read them first
	want[failed(thirty)] = n
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
		got[strings.Replace(strings.TrimSpace(line), read, failed(thirty), 1)]++
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
	e := startrace(t, "-e", `probe("syscall:execve", lambda e: print(", ".join(e.args.argv)),
		where = lambda e: e.ret == 0 and e.start.comm == "wl-execs")`,
		"-c", program(t, "workload")+" -exec-cold-scripts /nonexistent/cold "+executable(t, "#!/bin/true\n"))
	if e.skipped(t) == 0 && (e.status != failedBeside ||
		!strings.Contains(e.stderr, "join: in list, want string, got fault")) {
		t.Errorf("status %d, want 1; stderr: %s", e.status, excerpt(e.stderr))
	}
}

// A script's arguments lie behind those of its interpreter. Of a call that failed after it read them, they are read
// when it ends. What only asks whether a program could be started is no start.
//
// > A script whose strings could not all be read when it began has the rest from its interpreter's memory, the first as
// > FAULT.
// > Of a call that fails, the strings that could not be read are read when it ends.
// > They are FAULT still if the call failed before it came to them.
func TestColdScripts(t *testing.T) {
	needTracing(t)
	fails, starts := executable(t, "#!/nonexistent/interpreter\n"), executable(t, "#!/bin/sh -f\nexit 0\n")
	command := program(t, "workload") + " -exec-cold-scripts " + fails + " " + starts
	shows(t, fmt.Sprintf(`-2 %s ("first", "--option", "")
first --option 
0 %s (<fault>, "--option", "")
<fault> --option 
`, fails, starts), "-q", "-e", `
probe("syscall:execve", lambda e: printf("%d %s %s\n", e.ret, e.args.filename, e.args.argv),
      where = lambda e: e.start.comm == "wl-execs")
probe("syscall:execve", lambda e: print(" ".join(e.args.argv)), where = lambda e: e.start.comm == "wl-execs")`,
		"-c", command)
	e := startrace(t, "-q", "execsnoop", "--quote", "-c", command).ok(t)
	var got []string
	for line := range strings.Lines(e.stdout) {
		if f := strings.Fields(line); strings.HasSuffix(line, "\"--option\" \"\"\n") {
			got = append(got, strings.Join(f[3:], " "))
		}
	}
	e.hasLines(t, got, []string{fmt.Sprintf("-2 %q \"--option\" \"\"", fails),
		fmt.Sprintf("0 %q \"--option\" \"\"", starts)})
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
