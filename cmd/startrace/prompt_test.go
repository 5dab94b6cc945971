package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/pty"
)

// A promptTest is a prompt at a terminal that traces a workload of the test's.
type promptTest struct {
	*testing.T
	*pty.Terminal
	load *exec.Cmd
	dir  string
	// columns is how wide the terminal is.
	columns int
	// short is by how many events at least a count was too small, where the kernel
	// skips some: it must have said so at the end.
	short int
}

// columns is the usual width: narrow, so that lines do not fit.
const columns = 80

// The workload writes the numbers 1 to 1000 into /dev/null when it gets a
// signal, one call of write(2) each, and waits for the next.
const numbersScript = `n=0; trap 'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; done >/dev/null
n=$((n+1)); echo $n >"$0"' USR1
echo 0 >"$0"; while :; do sleep 0.05; done`

func startPrompt(t *testing.T, env ...string) *promptTest {
	t.Helper()
	p := newPromptTest(t)
	p.again(env...)
	return p
}

func newPromptTest(t *testing.T) *promptTest {
	t.Helper()
	if !canTrace() {
		t.Skip(needsTypes)
	}
	p := &promptTest{T: t, dir: t.TempDir(), columns: columns}
	p.load = exec.Command("sh", "-c", numbersScript, filepath.Join(p.dir, "rounds"))
	if err := p.load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.load.Process.Kill() // it runs until then
		_ = p.load.Wait()
	})
	for p.rounds() < 0 { // its trap is not yet set
		time.Sleep(time.Millisecond)
	}
	return p
}

// again starts a prompt for the same workload.
func (p *promptTest) again(env ...string) {
	p.Helper()
	p.with(env, "-p", strconv.Itoa(p.load.Process.Pid))
}

// with starts a prompt with arguments.
func (p *promptTest) with(env []string, args ...string) {
	p.Helper()
	program, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Args[0] = "startrace"
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "XDG_STATE_HOME="+p.dir), env...)
	if p.Terminal, err = pty.Start(cmd, p.columns); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	p.await("1> ")
}

func (p *promptTest) rounds() int {
	text, err := os.ReadFile(filepath.Join(p.dir, "rounds"))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return n
}

// round lets the workload do its 1000 calls.
func (p *promptTest) round() {
	p.Helper()
	before := p.rounds()
	if err := p.load.Process.Signal(unix.SIGUSR1); err != nil {
		p.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); p.rounds() <= before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.Fatal("the workload did nothing")
		}
	}
}

func (p *promptTest) press(keys string) {
	p.Helper()
	if err := p.Type(keys); err != nil {
		p.Fatal(err)
	}
}

// await waits until the last row begins with a text.
func (p *promptTest) await(last string) {
	p.Helper()
	if err := p.Await("a last row "+last, func(screen string) bool {
		return strings.HasPrefix(lastRow(screen), strings.TrimRight(last, " "))
	}); err != nil {
		p.Fatal(err)
	}
}

// awaitEmpty waits until the last row is a prompt and nothing else.
func (p *promptTest) awaitEmpty(prompt string) {
	p.Helper()
	if err := p.Await("an empty "+prompt, func(screen string) bool { return lastRow(screen) == prompt }); err != nil {
		p.Fatal(err)
	}
}

func lastRow(screen string) string {
	rows := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	return rows[len(rows)-1]
}

// enter types a line, waits for the next prompt and gives what came between.
func (p *promptTest) enter(line string) string {
	p.Helper()
	n := 0
	// What is printed above the line takes it away for a moment.
	if err := p.Await("a prompt in the last row", func(screen string) bool {
		number, _, found := strings.Cut(strings.Trim(lastRow(screen), " "), ">")
		var err error
		n, err = strconv.Atoi(number)
		return found && err == nil
	}); err != nil {
		p.Fatal(err)
	}
	p.press(line + "\r")
	p.await(fmt.Sprintf("%d>", n+1))
	_, out, _ := strings.Cut(p.Screen(), fmt.Sprintf("\n%d> ", n))
	out = out[:strings.LastIndex(out, fmt.Sprintf("%d>", n+1))]
	for range (len(fmt.Sprintf("%d> ", n)+line)-1)/columns + 1 {
		_, out, _ = strings.Cut(out, "\n")
	}
	return missed.ReplaceAllString(out, "")
}

// missed is said when a probe goes, of kernels that do not run a program where
// another has been preempted (7.2); an upper bound, of events of all processes.
// The terminal wraps it anywhere.
var missed = regexp.MustCompile(`startrace: up to (\d+) events?(?s:.*?)` +
	strings.Join(strings.Split("fentry: see what comes in interrupts", ""), `\n?`) + `\n`)

// enterWrapped is enter where a line that comes is longer than the terminal is
// wide.
func (p *promptTest) enterWrapped(line string) string {
	p.Helper()
	rows := strings.SplitAfter(p.enter(line), "\n")
	for i, row := range rows {
		if len(row) == columns+1 {
			rows[i] = row[:columns]
		}
	}
	return strings.Join(rows, "")
}

func (p *promptTest) leave() {
	p.Helper()
	p.press("\x04")
	if err := p.Wait(); err != nil {
		p.Errorf("the prompt ended with %v:\n%s", err, p.Screen())
	}
	said := 0
	for _, m := range missed.FindAllStringSubmatch(p.Screen()+"\n", -1) {
		n, _ := strconv.Atoi(m[1])
		said += n
	}
	if said < p.short {
		p.Errorf("%d events are missing, and the kernel is said to have skipped %d:\n%s", p.short, said, p.Screen())
	}
}

func (p *promptTest) want(got, want string) {
	p.Helper()
	if got == want {
		return
	}
	n, ok := fewer(got, want)
	switch {
	case ok && skips(p.T):
		p.short = max(p.short, n)
	default:
		p.Errorf("got  %q\nwant %q\non the screen\n%s", got, want, p.Screen())
	}
}

var integer = regexp.MustCompile(`\d+`)

// fewer reports whether got is want but for smaller numbers, and by how much.
func fewer(got, want string) (n int, ok bool) {
	have, should := integer.FindAllString(got, -1), integer.FindAllString(want, -1)
	if integer.ReplaceAllString(got, "") != integer.ReplaceAllString(want, "") || len(have) != len(should) {
		return 0, false
	}
	for i := range have {
		less, _ := strconv.Atoi(have[i])
		more, _ := strconv.Atoi(should[i])
		if less > more {
			return 0, false
		}
		n += more - less
	}
	return n, true
}

// Attach, see live values, err, redefine, save, and run what was saved.
//
// > `startrace` without a script reads Starlark, a statement at a time, and attaches probes while you type ([the
// > tutorial](tutorial.md) has a session).
// > All that holds for scripts holds for the prompt.
// > Beyond that:
func TestPrompt(t *testing.T) {
	p := startPrompt(t)
	p.want(p.enter(`n = count()`), "")
	p.want(p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", kernel = lambda e: n[e.comm].add())`),
		"Attached 1 probe\n")
	p.round()
	p.want(p.enter(`n["sh"].value`), "1001\n")
	p.round()
	p.want(p.enter(`[k for k, v in n.items() if v > 900]`), "[\"sh\"]\n")
	p.want(p.enter(`n`), "n:\nsh  2002\n")

	p.want(p.enter(`1 // 0`), "prompt:6:3: division by zero\n")
	clash := p.enterWrapped(`probe("tracepoint:syscalls:sys_enter_read", kernel = lambda e: n[e.pid].add())`)
	p.want(clash, "prompt:7:76: the key of count n is an int here, but a string at prompt:2:82: "+
		"one count holds one kind, so use a second one\n")
	p.want(p.enter(`len(n)`), "1\n")

	p.want(p.enter(`lines = total()`), "")
	p.want(p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", kernel = lambda e: lines.add(e.args.count))`),
		"Replaced the probe w of prompt:2:5\nAttached 1 probe\n")
	p.round()
	p.want(p.enter(`n["sh"].value`), "2002\n")
	p.want(p.enter(`lines.value >= 3893 - 5 * (probes[0].stats().missed or 0)`), "True\n")
	p.want(p.enter(`[(p.stats().lost, p.stats().hits + (p.stats().missed or 0) >= 1001) for p in probes]`),
		"[(0, True)]\n")

	p.want(p.enter(`save("saved.star")`), "Saved 3 statements: startrace saved.star\n")
	p.leave()
	saved, err := os.ReadFile(filepath.Join(p.dir, "saved.star"))
	if err != nil {
		t.Fatal(err)
	}
	p.want(string(saved), `# Saved from the prompt of startrace.
n = count()
lines = total()
w = probe("tracepoint:syscalls:sys_enter_write", kernel = lambda e: lines.add(e.args.count))
`)
	p.want(p.runSaved(), "four\nn: 0\nlines: 5\n")
}

// runSaved runs the script that was saved, for a command that writes 5 bytes.
func (p *promptTest) runSaved() string {
	p.Helper()
	cmd := exec.Command(p.Cmd.Path, "-q", "saved.star", "-c", "echo four")
	cmd.Args[0], cmd.Dir = "startrace", p.dir
	out, err := cmd.Output()
	if err != nil {
		p.Fatal(err)
	}
	return string(out)
}

// Events that come while a line is typed stand above it, each once, and the
// line stays as it is.
func TestPromptEventsAboveLine(t *testing.T) {
	p := startPrompt(t)
	p.enter(`seen = [0]`)
	p.press("def note(e):\r    seen[0] += 1\r    printf(\"event %d of %s\\n\", seen[0], e.comm)\r\r")
	p.await("6>")
	p.enter(`w = probe("tracepoint:syscalls:sys_enter_write", note, where = lambda e: e.args.count < 6)`)
	line := `x = "` + strings.Repeat("a line that is longer than the terminal is wide, ", 4) + `"`
	half := len(line) / 2
	p.press(line[:half])
	p.round()
	p.press(line[half:])
	p.round()
	shown := p.shownEvents()
	p.press("\r")
	p.await("8>")
	_, rest, _ := strings.Cut(p.Screen(), "Attached 1 probe\n")
	var want strings.Builder
	for i := range shown {
		fmt.Fprintf(&want, "event %d of sh\n", i+1)
	}
	for row := "7> " + line; row != ""; {
		n := min(len(row), columns)
		want.WriteString(strings.TrimRight(row[:n], " ") + "\n")
		row = row[n:]
	}
	want.WriteString("8>\n")
	p.want(rest, want.String())
	p.want(p.enter(`len(x)`), fmt.Sprintln(len(line)-6))
	p.want(p.enter(`seen[0]`), fmt.Sprintln(shown))
	p.leave()
	if shown != 2002 && !strings.Contains(p.Screen(), "not seen") {
		t.Errorf("%d of 2002 events, and no word of what was lost:\n%s", shown, p.Screen())
	}
}

// shownEvents waits until all events are on the screen, on kernels that skip
// some until no more come for a while.
func (p *promptTest) shownEvents() (n int) {
	p.Helper()
	if !skips(p.T) {
		if err := p.Await("2002 events", func(screen string) bool {
			return strings.Count(screen, " of sh\n") >= 2002
		}); err != nil {
			p.Fatal(err)
		}
		return strings.Count(p.Screen(), " of sh\n")
	}
	for still := 0; n < 2002 && still < 200; still++ {
		time.Sleep(10 * time.Millisecond)
		if now := strings.Count(p.Screen(), " of sh\n"); now != n {
			n, still = now, 0
		}
	}
	return n
}

func TestPromptInterrupts(t *testing.T) {
	p := startPrompt(t)
	p.press("for x in range(1 << 40): print(\"runs\") if x == 0 else None\r")
	p.await("runs")
	p.press("\x03")
	p.await("2>")
	if !regexp.MustCompile(`\nruns\nprompt:1:\d+: interrupted\n2>`).MatchString(p.Screen()) {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.press("def f(x):\r    return x\x03")
	p.await("3>")
	p.want(p.enter("1 + 1"), "2\n")
	p.press("wait(\"1h\")\r")
	p.press("\x03")
	p.await("5>")
	p.press("\x1b[A\x1b[A") // the history
	p.await("5> 1 + 1")
	p.press("\r")
	p.await("6>")
	p.leave()
	p.again()
	p.press("\x12+ 1\r") // of the run before
	p.await("2>")
	if !strings.HasSuffix(p.Screen(), "\n1> 1 + 1\n2\n2>\n") {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.leave()
}

// A callback that does not end is ended by Ctrl-C pressed twice: the first one
// would end what was typed, and nothing was.
func TestPromptInterruptsCallback(t *testing.T) {
	p := newPromptTest(t)
	p.with(nil, "--allow-write", p.dir)
	// The file is there before write_file returns: all that can be interrupted stands in line 3.
	p.press("def busy():\r    first = 0\r    for x in range(1 << 40): x == first and write_file(\"begun\", \"\")\r\r")
	p.await("5>")
	p.enter(`after("1ms", busy)`)
	p.awaitFile("begun")
	p.press("\x03")
	p.press("\x03")
	p.awaitText("startrace: timer: prompt:3:")
	p.awaitText(": interrupted\n")
	p.press("2 + 2\r")
	p.awaitText("\n6> 2 + 2\n4\n7>")
	p.press("\x04")
	if err := p.Wait(); err == nil || p.Cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("a callback failed, and the prompt ended with %v", err)
	}
}

// What is typed, and what comes meanwhile, on a terminal that cannot move its
// cursor: it waits for Enter.
func TestPromptDumbTerminal(t *testing.T) {
	p := startPrompt(t, "TERM=dumb")
	p.press("1 + 1\r") // nothing sends events, which would wake the prompt
	p.await("2>")
	p.enter(`probe("tracepoint:syscalls:sys_enter_write", lambda e: print("wrote", e.args.count), where = lambda e: ` +
		`e.args.count == 5)`)
	p.press("2 + ")
	p.round()
	p.press("2\r")
	p.await("4>")
	p.press("wait(\"100ms\")\r")
	p.await("5>")
	if !strings.Contains(p.Screen(), "\n3> 2 + 2\n") || strings.Count(p.Screen(), "wrote 5\n") != 1 {
		t.Errorf("screen\n%s", p.Screen())
	}
	p.press("1 +")
	p.await("5> 1 +")
	p.press("\x03")
	p.awaitText("5> 1 +^C\n5>")
	p.press("2\r")
	p.awaitText("5> 2\n2\n6>")
	if strings.Contains(p.Raw(), "\x1b") {
		t.Errorf("a dumb terminal got %q", p.Raw())
	}
	p.leave()
}

// The session in the tutorial is what is on the screen. `-update-docs` writes
// what stands there now.
func TestTutorialPrompt(t *testing.T) {
	const file = "../../docs/tutorial.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), "```prompt\n")
	session, after, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("no session in the tutorial")
	}
	screen, err := typeSession(t, session)
	for tries := 1; err != nil && missed.MatchString(screen) && tries < 3; tries++ {
		t.Log("the kernel has skipped events, and startrace says so; once more:", err)
		screen, err = typeSession(t, session)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *updateDocs {
		_, screen, _ = strings.Cut(screen, "leaves\n")
		screen = screen[:strings.LastIndex(strings.TrimRight(screen, "\n"), "\n")+1] // but the last prompt
		if err := os.WriteFile(file, []byte(before+"```prompt\n"+screen+"```\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var typedLine = regexp.MustCompile(`(?m)^\d+[>.] ?.*\n`)

// typeSession types what is typed in a session, waits for what the session has
// as its answer, and gives the screen, also if that does not come.
func typeSession(t *testing.T, session string) (screen string, err error) {
	t.Helper()
	p := newPromptTest(t)
	p.columns = 200
	p.again()
	steps := typedLine.FindAllStringIndex(session, -1)
	for i, step := range steps {
		_, typed, _ := strings.Cut(strings.TrimSuffix(session[step[0]:step[1]], "\n"), " ")
		p.press(typed + "\r")
		end, next := len(session), fmt.Sprintf("%d>", i+2)
		if i+1 < len(steps) {
			end = steps[i+1][0]
			next = regexp.MustCompile(`^\d+[>.]`).FindString(session[end:])
		}
		p.awaitEmpty(next)
		if typed == "# the shell counts" {
			p.round()
		}
		if *updateDocs {
			time.Sleep(300 * time.Millisecond) // there is nothing to wait for
			continue
		}
		want := unmeasured(session[:end] + next)
		if err = p.Await("what the tutorial has:\n"+want+"\n", func(s string) bool {
			return sessionOf(s) == want
		}); err != nil {
			break
		}
	}
	screen = p.Screen()
	p.leave()
	if err != nil {
		screen = p.Screen() // with what was missed
	}
	return screen, err
}

// measured are the columns of the probes from the hits on, which count the calls
// of all processes, and are as wide as their numbers.
var measured = regexp.MustCompile(`(prompt:\d+:\d+ +1|points) +(?:\d+ +0 +\S+ +\d+|hits +lost +missed +ns/hit) *`)

// sessionOf is the screen without the greeting and what was missed; what is
// measured is left out.
func sessionOf(screen string) string {
	_, screen, _ = strings.Cut(screen, "leaves\n")
	return unmeasured(missed.ReplaceAllString(screen, ""))
}

func unmeasured(session string) string {
	return strings.TrimSpace(measured.ReplaceAllString(session, "$1 measured"))
}
