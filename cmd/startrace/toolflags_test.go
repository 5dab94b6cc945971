package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/stdlib"
)

// A toolFlag is a flag of a tool that takes a value, of the kind that its help says.
type toolFlag struct{ name, kind string }

var flagLine = regexp.MustCompile(`(?m)^ +(?:-\w, +)?--([\w-]+) ([A-Z]+) `)

// toolFlags reads a tool's own flags from its help.
func toolFlags(t *testing.T, tool string) (flags []toolFlag) {
	t.Helper()
	for _, m := range flagLine.FindAllStringSubmatch(ownHelp(t, tool), -1) {
		flags = append(flags, toolFlag{m[1], m[2]})
	}
	return flags
}

// ownHelp is what a tool's help says of its own flags.
func ownHelp(t *testing.T, tool string) string {
	t.Helper()
	var out bytes.Buffer
	o := session.Options{Own: behindFile, Args: []string{tool, "--help"}, Stdout: &out, Stderr: &out}
	if _, err := session.Run(o); err != nil {
		t.Fatal(err)
	}
	own, _, _ := strings.Cut(out.String(), "Flags of every script")
	return own
}

// mistaken are values that no flag of a kind takes. Some numbers and texts may be anything.
var mistaken = map[string][]string{
	"INT":      {"-1", "", "x", "1.5", "99999999999999999999"},
	"DURATION": {"-1s", "", "x", "5", "9999999999h"},
	"VALUE":    {""},
	"FSTYPE":   {"", strings.Repeat("n", 32)},
	"DISKNAME": {"", strings.Repeat("n", 32)},
}

// anyValue are the flags of which a negative number or an empty text means something.
var anyValue = map[string]bool{"lhist --lo -1": true, "lhist --hi -1": true, "killsnoop --target -1": true}

// Each flag of each tool refuses what it cannot use by its own name: no place of the library, where nobody has written
// anything, and no run that shows nothing. The short form tries a quarter of the tools.
func TestToolFlags(t *testing.T) {
	seen, least := 0, 200
	if testing.Short() {
		least /= 4
	}
	for i, m := range stdlib.Modules() {
		if !m.Tool || testing.Short() && i%4 != 0 {
			continue
		}
		for _, f := range toolFlags(t, m.Name) {
			for _, value := range mistaken[f.kind] {
				if !anyValue[fmt.Sprintf("%s --%s %s", m.Name, f.name, value)] {
					seen++
					checkRefusal(t, m.Name, f.name, value)
				}
			}
		}
	}
	if seen < least {
		t.Errorf("%d mistakes were tried: the help of tools is not as this test reads it", seen)
	}
}

// Values outside of what means something are refused, too: ports, rates, signals, names that no program can have.
func TestToolFlagRanges(t *testing.T) {
	long := strings.Repeat("n", 16)
	for _, words := range []string{
		"tcplife port 0", "tcpconnect port 65536", "profile rate 0", "runqlen rate 1000001", "biotop rows 0",
		"syscount top 0",
		"killsnoop signal 65", "sigsnoop signal 0", "opensnoop name " + long, "filetop interval 0",
		"biolatency interval 1us",
		"count every 0.1ns", "hist sub 7", "stack frames 128",
	} {
		w := strings.Fields(words)
		checkRefusal(t, w[0], w[1], w[2])
	}
}

func checkRefusal(t *testing.T, tool, flag, value string) {
	t.Helper()
	args := []string{tool}
	if m, _ := stdlib.Find(tool); m.Verb {
		args = append(args, "syscall:read")
	}
	if tool == "lhist" && flag != "hi" {
		args = append(args, "--hi=100")
	}
	args = append(args, "--"+flag+"="+value)
	var out bytes.Buffer
	o := session.Options{Own: behindFile, Args: args, Stdout: &out, Stderr: &out}
	_, err := session.Explain(o, &session.Stages{})
	var usage *mistake.Usage
	if want := "--" + flag + ": got "; !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("startrace %q: got %v, want %s…", args, err, want)
	}
}

// What a flag names and the machine does not have is said, and what it can never have is refused: every flag of a tool
// whose help says that it takes such a name is tried.
func TestToolFlagsOfNothing(t *testing.T) {
	names := map[string]string{
		"FSTYPE": "the kernel knows no file system nosuchname", "DISKNAME": "there is no disk nosuchname",
	}
	tried := map[string]bool{}
	for _, m := range stdlib.Modules() {
		if !m.Tool {
			continue
		}
		for _, f := range toolFlags(t, m.Name) {
			if want := names[f.kind]; want != "" {
				tried[f.kind] = true
				if got := explained(m.Name, f.name, "nosuchname"); !strings.Contains(got, want) {
					t.Errorf("%s --%s nosuchname: got %s, want %q", m.Name, f.name, got, want)
				}
			} else if f.name == "fs" || f.name == "disk" {
				t.Errorf("%s --%s takes any %s", m.Name, f.name, f.kind)
			}
		}
	}
	if len(tried) != len(names) {
		t.Errorf("tried %v", tried)
	}
	if testing.Short() {
		return // what follows traces
	}
	if got := explained("fsdist", "fs", "proc"); strings.Contains(got, "knows no") {
		t.Errorf("a file system of every kernel: %s", got)
	}
}

// explained is what is said when a tool starts with a flag; nothing is traced.
func explained(tool, flag, value string) string {
	var out bytes.Buffer
	o := session.Options{Own: behindFile,
		Args: []string{tool, "--" + flag, value, "--duration", "1ns"}, Stdout: &out, Stderr: &out}
	_, err := session.Run(o)
	return fmt.Sprint(out.String(), err)
}

// A signal is a number or a name, and what is none is refused in the words of the library, without those of Starlark.
func TestToolFlagOfSignals(t *testing.T) {
	for _, tool := range []string{"killsnoop", "sigsnoop"} {
		for value, want := range map[string]string{"9": "", "KILL": "", "sigkill": "", "SIGRTMAX": "", "FOO": "FOO",
			"-1": "-1", "": ""} {
			said := explained(tool, "signal", value)
			wrong := `--signal: got "` + want + `", want a signal: a number up to 64, or a name such as KILL`
			if strings.Contains(said, wrong) != (want != "" || value == "") || strings.Contains(said, "fail:") {
				t.Errorf("%s --signal %q: %s", tool, value, said)
			}
		}
	}
}

// Who types a flag that other tools have for a format is told of the own one.
func TestFlagOfFormat(t *testing.T) {
	for _, format := range []string{"json", "csv", "folded"} {
		want := "unknown flag --" + format + " (did you mean --format " + format + "?)"
		_, err := session.Run(session.Options{Own: behindFile, Args: []string{"exitsnoop", "--" + format},
			Stdout: io.Discard, Stderr: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Switches that mean the opposite of each other are not given together.
func TestToolSwitchesThatExclude(t *testing.T) {
	for _, line := range []string{"profile -K -U", "offcputime -K -U", "cpudist -P -L", "stack syscall:read -U --both",
		"memleak -K -l jemalloc", "klockstat --hold --type spin", "klockstat --stacks --by lock"} {
		var out bytes.Buffer
		_, err := session.Run(session.Options{Own: behindFile, Args: strings.Fields(line),
			Stdout: &out, Stderr: &out})
		var usage *mistake.Usage
		if !errors.As(err, &usage) {
			t.Errorf("%s: got %v, want a mistake in the command line", line, err)
		}
	}
}
