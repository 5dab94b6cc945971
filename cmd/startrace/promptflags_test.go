package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// flagValues has a value for each flag of a run that takes one, by what the flag calls it.
func flagValues(t *testing.T) map[string]string {
	return map[string]string{"CMD": "true", "PID": strconv.Itoa(os.Getpid()), "PATH": "/", "USER": "root", "10s": "20s",
		"5s": "2s", "SIZE": "128M", "FILE": filepath.Join(t.TempDir(), "out"), "FORMAT": "json", "N": "64",
		"FORM": "full", "DIR": t.TempDir()}
}

// noPrompt are the flags with which there is none, and that of a container, of which the machine may have none.
var noPrompt = []string{"code", "help", "version", "container"}

// A prompt takes each flag that a run takes: a probe is attached, and what is typed is done.
func TestPromptWithEachFlag(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	program, values := asStartrace(t), flagValues(t)
	for _, f := range flagList() {
		if slices.Contains(noPrompt, f.Long) {
			continue
		}
		args := []string{"--" + f.Long}
		if !f.Switch() {
			if values[f.Value] == "" {
				t.Errorf("--%s takes %s, and this test has no value for that", f.Long, f.Value)
			}
			args[0] += "=" + values[f.Value]
		}
		if f.Long != "pid" && f.Long != "command" {
			args = append(args, "-c", "true")
		}
		checkPrompt(t, program, args)
	}
}

// checkPrompt lets a prompt with some flags attach a probe, and print a number.
func checkPrompt(t *testing.T, program string, args []string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var messages strings.Builder
	cmd.Stderr = &messages
	cmd.Stdin = strings.NewReader("probe(\"rawtracepoint:sched_process_exit\", lambda e: None, where = lambda e: " +
		"e.pid == 0)\nprint(40 + 2)\n")
	out, err := cmd.Output()
	text := string(out)
	if file, ok := strings.CutPrefix(args[0], "--output="); ok {
		read, _ := os.ReadFile(file) // an empty text is told below
		text = string(read)
	}
	if err != nil || !strings.Contains(text, "42") || strings.Contains(messages.String(), "internal error") {
		t.Errorf("%s: %v, output %q, messages\n%s", args, err, text, messages.String())
	}
}
