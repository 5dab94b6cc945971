package line

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/pty"
)

// asProgram makes the test's executable a program at a console.
const asProgram = "LINE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if rate := os.Getenv(asProgram); rate != "" {
		os.Exit(program(rate))
	}
	os.Exit(m.Run())
}

// program says what it got, line by line, and prints events at a rate.
func program(rate string) int {
	bell := make(chan bool, 1)
	c := New(os.Stdin, os.Stdout)
	defer c.Restore()
	o := Options{Cancel: func(string) {}, Complete: func(before string) Completion {
		from := strings.LastIndexAny(before, " (\n") + 1
		words := []string{"print", "probe", "probes"}
		return Completion{From: from, Words: slices.DeleteFunc(words, func(w string) bool {
			return !strings.HasPrefix(w, before[from:])
		})}
	}, Wake: func() {
		select {
		case bell <- true:
		default:
		}
	}}
	if rate == "hidden" {
		hidePseudoTerminals()
	}
	if err := c.Start(o); err != nil {
		fmt.Fprintln(c, "plain:", err)
	}
	var tick <-chan time.Time
	if every, err := time.ParseDuration(rate); err == nil {
		tick = time.Tick(every)
	}
	number := 1
	for event := 0; ; {
		c.Ask(Prompt{Number: number})
		switch in := c.Take(); in.Kind {
		case Line:
			fmt.Fprintf(c, "got %q %v\n", in.Text, in.Pasted)
			c.Remember(in.Text)
			number++
			continue
		case Abandoned:
			number++
			continue
		case Ended:
			c.Leave()
			if err := c.SaveHistory(); err != nil {
				fmt.Fprintln(c, err)
				return 1
			}
			return 0
		}
		select {
		case <-bell:
		case <-tick:
			event++
			fmt.Fprintf(c, "event %d\n", event)
		}
	}
}

// hidePseudoTerminals takes the file away by which they are made, for the
// thread of the caller, which keeps it.
func hidePseudoTerminals() {
	runtime.LockOSThread()
	if err := errors.Join(unix.Unshare(unix.CLONE_NEWNS),
		unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("/dev/null", "/dev/ptmx", "", unix.MS_BIND, "")); err != nil {
		panic(err)
	}
}

// A session is a program at a terminal of the test's.
type session struct {
	*testing.T
	*pty.Terminal
	number, columns int
}

const testColumns = 40

// start starts the program, with events at a rate unless that is "none".
func start(t *testing.T, rate, state string) *session {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"="+rate, "TERM=xterm", "XDG_STATE_HOME="+state)
	terminal, err := pty.Start(cmd, testColumns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	s := &session{t, terminal, 1, testColumns}
	s.await("1> ")
	return s
}

func (s *session) press(keys string) {
	s.Helper()
	if err := s.Type(keys); err != nil {
		s.Fatal(err)
	}
}

// await waits until the screen ends in a text; the blanks at its end are not
// seen. What is printed above the line takes it away for a moment.
func (s *session) await(end string) {
	s.Helper()
	if err := s.Await(fmt.Sprintf("the end %q", end), func(screen string) bool {
		return strings.HasSuffix("\n"+strings.TrimRight(screen, "\n"), strings.TrimRight(end, " "))
	}); err != nil {
		s.Fatal(err)
	}
}

// enter presses keys and Enter, and gives what the program got.
func (s *session) enter(keys string) string {
	s.Helper()
	s.press(keys + "\r")
	s.number++
	next := fmt.Sprintf("\n%d>", s.number)
	s.await(next)
	screen := s.Screen()
	rows := strings.Split(screen[strings.LastIndex(screen, "\ngot ")+1:], "\n")
	got := ""
	for _, row := range rows {
		got += row
		if runewidth.StringWidth(row) < s.columns-1 { // else it goes on in the next
			break
		}
	}
	return strings.TrimPrefix(got, "got ")
}

func (s *session) leave() {
	s.Helper()
	s.press("\x05\x15\x04") // which only ends where nothing is typed
	if err := s.Wait(); err != nil {
		s.Errorf("the program ended with %v:\n%s", err, s.Screen())
	}
}
