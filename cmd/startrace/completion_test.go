package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/pty"
)

// standIn is the startrace that the shells find: it completes, but does not run what was typed. It writes down the
// words as they came out of the shell, so that a test sees the line that would have been run.
const standIn = `#!/bin/sh
case $1 in complete) exec "$STARTRACE" "$@" ;; esac
for word; do printf '%s\n' "$word"; done >"$TYPED.new" && mv "$TYPED.new" "$TYPED"
`

// A shellKind is a shell with its completion in the place where the manual says.
type shellKind struct {
	name string
	args []string
	// setup makes it complete as the manual page says: SOURCE for this shell only, FILE for all.
	setup map[string]string
}

var shells = []shellKind{
	{"bash", []string{"--norc", "--noprofile", "-i"}, map[string]string{
		"source": `source <($STARTRACE completion bash)`,
		"file":   `$STARTRACE completion bash >"$HOME/startrace"; source "$HOME/startrace"`,
	}},
	{"zsh", []string{"-f", "-i"}, map[string]string{
		"source": `autoload -U compinit; compinit -u -D; source <($STARTRACE completion zsh)`,
		"file": `$STARTRACE completion zsh >"$HOME/_startrace"; fpath=("$HOME" $fpath); autoload -U compinit; ` +
			`compinit -u -D`,
	}},
	{"fish", []string{"--interactive"}, map[string]string{
		"source": `$STARTRACE completion fish | source`,
		"file": `mkdir -p "$HOME/.config/fish/completions"; $STARTRACE completion fish ` +
			`>"$HOME/.config/fish/completions/startrace.fish"`,
	}},
}

// completions are lines with a Tab in them, and the words that the shell then runs.
var completions = []struct {
	typed string
	want  []string
}{
	{"startrace opens\t", []string{"opensnoop"}},
	{"startrace doct\t", []string{"doctor"}},
	{"startrace completion z\t", []string{"completion", "zsh"}},
	{"startrace opensnoop --fai\t", []string{"opensnoop", "--failed"}},
	{"startrace --quiet opensnoop --dur\t5s", []string{"--quiet", "opensnoop", "--duration", "5s"}},
	{"startrace --format j\t", []string{"--format", "json"}},
	{"startrace --format=j\t", []string{"--format=json"}},
	{"startrace hist syscall:read --uni\tm\t", []string{"hist", "syscall:read", "--unit", "ms"}},
	{"startrace count tracepoint:raw_sy\tsys_ex\t", []string{"count", "tracepoint:raw_syscalls:sys_exit"}},
	{"startrace count t:sched:sched_process_exe\t", []string{"count", "t:sched:sched_process_exec"}},
	{"startrace count 't:sched:sched_process_exe\t", []string{"count", "t:sched:sched_process_exec"}},
	{"startrace list uprobe:./own-pro\truntime.rt0_\t", []string{"list", "uprobe:./own-program:runtime.rt0_go"}},
	{"startrace list syscall:getcw\t", []string{"list", "syscall:getcwd"}},
	{"startrace trace syscall:openat e.args.filen\t", []string{"trace", "syscall:openat", "e.args.filename"}},
	{"startrace trace syscall:openat 'e.pid, e.args.filen\t",
		[]string{"trace", "syscall:openat", "e.pid, e.args.filename"}},
	{"startrace count syscall:openat --by e.args.filen\t", []string{"count", "syscall:openat", "--by",
		"e.args.filename"}},
	{"startrace own-scr\t --least 3", []string{"own-script.star", "--least", "3"}},
	{"startrace explain own-scr\t", []string{"explain", "own-script.star"}},
	{"startrace own-script.star --lea\t3", []string{"own-script.star", "--least", "3"}},
	{"startrace opensnoop -o 'a fi\t", []string{"opensnoop", "-o", "a file"}},
}

// The completion works in the shells themselves: what Tab makes of a line is what the shell then runs. The short form
// tries one way of setting it up for each shell.
func TestShellsComplete(t *testing.T) {
	if !canTrace() {
		t.Skip("needs root and BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux), " +
			"for points and their fields")
	}
	if _, err := os.Stat("/sys/kernel/tracing/events"); err != nil {
		t.Skip("needs tracefs at /sys/kernel/tracing, for the list of tracepoints")
	}
	for _, kind := range shells {
		t.Run(kind.name, func(t *testing.T) {
			need.Program(t, kind.name)
			for way, setup := range kind.setup {
				if testing.Short() && way == "file" {
					continue
				}
				t.Run(way, func(t *testing.T) {
					s := startShell(t, kind, setup)
					for _, c := range completions {
						s.complete(c.typed, c.want)
						if way == "file" {
							break // it is the same text
						}
					}
					s.offers("startrace o\t\t", "offcputime", "opensnoop")
				})
			}
		})
	}
}

// A shellTest is a shell at a terminal.
type shellTest struct {
	*testing.T
	*pty.Terminal
	typed string // the file of the stand-in
}

func startShell(t *testing.T, kind shellKind, setup string) *shellTest {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(bin, "startrace"):        standIn,
		filepath.Join(home, "own-script.star"): "least = flag(\"least\", 1, \"how many\")\n",
		filepath.Join(home, "a file"):          "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	real, _, _ := strings.Cut(binFolder(t), ":")
	if err := os.Symlink(filepath.Join(real, "startrace"), filepath.Join(home, "own-program")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(kind.name, kind.args...)
	cmd.Dir = home
	s := &shellTest{T: t, typed: filepath.Join(home, "typed")}
	cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8", "PS1=> ",
		"STARTRACE=" + filepath.Join(real, "startrace"), "TYPED=" + s.typed}
	var err error
	if s.Terminal, err = pty.Start(cmd, 200); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it runs until then
		_ = s.Wait()
	})
	s.line(setup)
	return s
}

// line runs a line and waits until the shell has done so.
func (s *shellTest) line(text string) {
	s.Helper()
	if err := s.Type(text + "; startrace ready\r"); err != nil {
		s.Fatal(err)
	}
	s.ran(text, []string{"ready"})
}

// complete types a line, with Tabs, and Enter.
func (s *shellTest) complete(typed string, want []string) {
	s.Helper()
	if strings.Count(typed, "'")%2 != 0 && !strings.HasSuffix(typed, "\t") {
		s.Fatalf("%q leaves a quote open", typed)
	}
	if err := s.Type(typed + "\r"); err != nil {
		s.Fatal(err)
	}
	s.ran(typed, want)
}

// ran waits for the words that the stand-in got.
func (s *shellTest) ran(typed string, want []string) {
	s.Helper()
	var got string
	err := s.Await("run what was typed", func(string) bool {
		text, err := os.ReadFile(s.typed)
		got = string(text)
		return err == nil
	})
	if err != nil {
		s.Fatalf("%q: %v", typed, err)
	}
	if err := os.Remove(s.typed); err != nil {
		s.Fatal(err)
	}
	if want := strings.Join(want, "\n") + "\n"; got != want {
		s.Errorf("%q ran\n%swant\n%s", typed, got, want)
	}
}

// offers types a line that is not unique, and looks for the words on the screen.
func (s *shellTest) offers(typed string, words ...string) {
	s.Helper()
	if err := s.Type(typed); err != nil {
		s.Fatal(err)
	}
	for _, w := range words {
		if err := s.Await(w, func(screen string) bool { return strings.Contains(screen, w) }); err != nil {
			s.Errorf("%q: %v", typed, err)
		}
	}
}
