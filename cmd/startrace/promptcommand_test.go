package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The command of -c waits for go(), so that all of it is seen by probes that
// were typed one after the other; what it prints stands above the line. go()
// runs it again, and the probes follow that, too.
func TestPromptCommand(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	p := &promptTest{T: t, dir: t.TempDir(), columns: columns}
	p.with(nil, "-c", `sh -c "echo from the command; cat; (exit 3); printf partial; exit 4"`)
	if !strings.Contains(p.Screen(), "leaves\nsh waits; go() lets it run, once its probes are attached\n1>") {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.enter(`n = count()`)
	p.want(p.enter(`probe("tracepoint:syscalls:sys_enter_exit_group", lambda e: n[e.comm, e.args.error_code].add())`),
		"Attached 1 probe\n")
	p.want(p.enter(`probe("tracepoint:sched:sched_process_exec", lambda e: print("runs", e.comm), where = lambda e: `+
		`e.comm == "sh")`), "Attached 1 probe\n")
	p.press("go()\r")
	p.await("5>")
	p.press("1 + ")
	p.awaitText("sh has ended with status 4")
	p.awaitText("runs sh\n") // events come on their own way, which may take longer
	p.press("1\r")
	p.await("6>")
	_, ran, _ := strings.Cut(p.Screen(), "4> go()\n")
	for _, want := range []string{"from the command\n", "runs sh\n", "5> 1 + 1\n2\n6>"} {
		if strings.Count(ran, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, p.Screen())
		}
	}
	p.want(p.enter(`sorted(n.items())`), "[((\"cat\", 0), 1), ((\"sh\", 3), 1), ((\"sh\", 4), 1)]\n")
	p.enter(`go()`)
	p.enter(`wait()`)
	_, ran, _ = strings.Cut(p.Screen(), "7> go()\n")
	p.want(lines(ran, `^runs|^from|^sh has|partial`),
		"from the command\npartial\nruns sh\nsh has ended with status 4\n")
	p.want(p.enter(`n["sh", 4].value`), "2\n")
	p.leave()
}

// lines are those of a text that match, sorted.
func lines(text, pattern string) string {
	var out []string
	for line := range strings.Lines(text) {
		if regexp.MustCompile(pattern).MatchString(line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// Who leaves before go() is told that nothing ran; what runs ends with the
// prompt.
func TestPromptCommandLeft(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	p := &promptTest{T: t, dir: t.TempDir(), columns: columns}
	p.with(nil, "-c", "touch it-ran")
	p.leave()
	if !strings.Contains(p.Screen(), "touch was not run: go() lets it run") || p.exists("it-ran") {
		t.Errorf("it ran: %v, screen\n%s", p.exists("it-ran"), p.Screen())
	}
	p.with(nil, "-c", `sh -c "trap 'touch it-ended; exit' TERM; echo set; while :; do sleep 0.01; done"`)
	p.press("go()\r")
	p.awaitText("\nset\n")
	p.leave()
	p.awaitFile("it-ended")
}

func (p *promptTest) awaitText(text string) {
	p.Helper()
	if err := p.Await(text, func(screen string) bool { return strings.Contains(screen, text) }); err != nil {
		p.Fatal(err)
	}
}

func (p *promptTest) awaitFile(file string) {
	p.Helper()
	for end := time.Now().Add(time.Minute); !p.exists(file); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("there is no %s", file)
		}
	}
}

func (p *promptTest) exists(file string) bool {
	_, err := os.Stat(filepath.Join(p.dir, file))
	return err == nil
}

// -p traces one process, with -f also what it starts, by probes of any age.
func TestPromptFollows(t *testing.T) {
	p := newPromptTest(t)
	const exits = `probe("tracepoint:syscalls:sys_enter_exit_group", lambda e: n[e.comm].add())`
	pid := strconv.Itoa(p.load.Process.Pid)
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"-p", pid}, "0\n"}, {[]string{"-f", "-p", pid}, "True\n"}} {
		p.with(nil, c.args...)
		p.enter(`n = count()`)
		p.enter(exits)
		p.enter(`m = count()`)
		p.enter(strings.ReplaceAll(exits, "n[", "m["))
		p.round()
		p.round() // the shell sleeps in children
		const seen = `n["sleep"].value > 0 and m["sleep"].value > 0 if len(n) else len(n)`
		got := p.enter(seen)
		for range 100 { // a signal that comes before the next sleep begins makes a round without one
			if got == c.want {
				break
			}
			p.round()
			got = p.enter(seen)
		}
		p.want(got, c.want)
		p.leave()
	}
}

// What a followed process starts while no probe is attached is followed, too.
func TestPromptFollowsBetweenProbes(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	p := &promptTest{T: t, dir: t.TempDir(), columns: columns}
	p.with(nil, "-c", `sh -c "until [ -e fork ]; do sleep 0.01; done; (touch forked; until [ -e exit ]; do sleep `+
		`0.01; done; exit 7) & wait"`)
	p.enter(`a = probe("syscall:sync")`)
	p.enter(`go()`)
	p.want(p.enter(`a = None`), "Detached syscall:sync\n")
	p.touch("fork")
	p.awaitFile("forked")
	p.enter(`n = count()`)
	p.enter(`probe("tracepoint:syscalls:sys_enter_exit_group", lambda e: n[e.args.error_code].add())`)
	p.touch("exit")
	p.awaitText("sh has ended with status 0")
	p.want(p.enter(`n[7].value`), "1\n")
	p.leave()
}

func (p *promptTest) touch(file string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, file), nil, 0o644); err != nil {
		p.Fatal(err)
	}
}

// Ctrl-C ends what a pipe has begun, with the command, in order.
func TestPromptCommandInterrupted(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &promptTest{T: t, dir: t.TempDir()}
	cmd := exec.Command(program, "-c",
		`sh -c "trap 'touch ended; exit' TERM; touch begun; while :; do sleep 0.01; done"`)
	cmd.Args[0], cmd.Dir = "startrace", p.dir
	cmd.Stdin = strings.NewReader("n = count()\nprobe(\"tracepoint:sched:sched_process_exec\", lambda e: n.add())\n")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	p.awaitFile("begun")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.HasPrefix(out.String(), "n: ") {
		t.Errorf("it ended with %v and printed %q", err, out.String())
	}
	p.awaitFile("ended")
}

// On a terminal that cannot move its cursor the command's output comes with
// Enter, too.
func TestPromptCommandDumbTerminal(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	p := &promptTest{T: t, dir: t.TempDir(), columns: columns}
	p.with([]string{"TERM=dumb"}, "-c", `sh -c "echo out; touch printed"`)
	p.press("go()\r")
	p.await("2>")
	p.awaitFile("printed")
	p.press("wait()\r")
	p.await("3>")
	p.press("2 + 2\r")
	p.await("4>")
	if _, ran, _ := strings.Cut(p.Screen(), "1> go()\n"); lines(ran,
		`^out|^sh has|^4`) != "4\n4>\nout\nsh has ended with status 0\n" || strings.Contains(p.Raw(), "\x1b") {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.leave()
}
