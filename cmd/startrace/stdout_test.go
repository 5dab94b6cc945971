package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// printing are command lines that print something, one of each command.
var printing = []string{"-e 'print(1)'", "-e 'n = count()' -e 'n.add()'", "opensnoop --help", "--help", "--version",
	"explain -e 'print(1)'", "explain --help", "audit -e 'print(1)'", "verify opensnoop", "list -q",
	"list --help", "tools", "doc", "doc printf", "doc --man",
	"help",
	"help printf", "completion bash", "complete bash star"}

// TestUnwritten prints what cannot be written: to a full disk, which is said, and
// to a reader that has gone, which is not. Neither is success.
func TestUnwritten(t *testing.T) {
	program := asStartrace(t)
	missing := map[string]bool{}
	for name := range commands {
		missing[name] = name != "doctor" // which needs a machine where all can be looked at
	}
	for _, args := range printing {
		delete(missing, strings.Fields(args)[0])
		for how, want := range map[string]string{
			"%s > /dev/full; echo $?": "startrace: write /dev/stdout: no space left on device\n1\n",
			// The reader of a pipe has gone.
			"mkfifo gone; exec 3<> gone 4> gone 3<&-; %s >&4; echo $?": "1\n",
		} {
			line := strings.Replace(how, "%s", program+" "+args, 1)
			if got := shell(t, line); got != want {
				t.Errorf("%s: got %q, want %q", line, got, want)
			}
		}
	}
	for name, is := range missing {
		if is {
			t.Errorf("nothing prints by the command %s", name)
		}
	}
}

// TestClosed prints where there is no standard output. Only a program that is
// linked as the Makefile does it sees that.
func TestClosed(t *testing.T) {
	need.Program(t, "go")
	need.Long(t)
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^LDFLAGS = (.*) -X main\.version`).FindStringSubmatch(string(makefile))
	if flags == nil {
		t.Fatal("the Makefile has no flags for the linker")
	}
	program := filepath.Join(t.TempDir(), "startrace")
	build := exec.Command("go", "build", "-ldflags", flags[1], "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+runtime.GOARCH)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range printing {
		for how, want := range map[string]string{
			" >&-": "startrace: write /dev/stdout: bad file descriptor\n1\n", " > /dev/null": "0\n",
			" 1<> /dev/null":   "0\n",
			" <&- | grep -q .": "0\n",
		} {
			line := program + " " + args + how + "; echo $?"
			if got := shell(t, line); got != want {
				t.Errorf("%s: got %q, want %q", line, got, want)
			}
		}
	}
	if got := shell(t, program+" -e 'x = 1' >&-; echo $?"); got != "0\n" {
		t.Errorf("a script that prints nothing: %q", got)
	}
}

// asStartrace gives the word for this test's program as startrace.
func asStartrace(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "startrace")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// shell runs a line and gives what it printed and said.
func shell(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
