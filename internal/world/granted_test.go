package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

func TestWriteNeedsGrant(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	err := (&World{}).Write(name, "x", false)
	if err == nil || !strings.Contains(err.Error(), "--allow-write DIR grants it") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("the file was written all the same")
	}
}

// twoFolders are a granted folder, with a link that leads out of it, and the one beside it that it leads to.
func twoFolders(t *testing.T) (granted, other string) {
	t.Helper()
	top := t.TempDir()
	granted, other = filepath.Join(top, "granted"), filepath.Join(top, "granted-not")
	for _, dir := range []string{granted, other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, filepath.Join(granted, "out")); err != nil {
		t.Fatal(err)
	}
	return granted, other
}

func TestWriteStaysBelow(t *testing.T) {
	granted, other := twoFolders(t)
	w := &World{Granted: Granted{AllowWrite: []string{granted}}}
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"f", true},
		{filepath.Join(granted, "g"), true},
		{"../granted-not/f", false},
		{granted + "/../granted-not/f", false},
		{"out/f", false},
		{filepath.Join(granted, "out", "f"), false},
		{filepath.Join(other, "f"), false},
	} {
		err := w.Write(c.name, "x", false)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v, want success: %v", c.name, err, c.ok)
		}
		if err != nil && !strings.Contains(err.Error(), "(--allow-write)") {
			t.Errorf("%s: %v does not say what keeps it from that", c.name, err)
		}
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 0 {
		t.Errorf("outside of the granted folder: %v, %v", left, err)
	}
}

func TestWriteAgain(t *testing.T) {
	dir := t.TempDir()
	w := &World{Granted: Granted{AllowWrite: []string{"/nowhere", dir}}} // the second holds the file
	name := filepath.Join(dir, "f")
	for _, step := range []struct {
		text string
		add  bool
		want string
	}{{"one", false, "one"}, {"two", true, "onetwo"}, {"x", false, "x"}} {
		if err := w.Write(name, step.text, step.add); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != step.want {
			t.Errorf("got %q, %v, want %q", got, err, step.want)
		}
	}
}

func TestRun(t *testing.T) {
	argv := []string{"sh", "-c", "echo out; echo err >&2; exit 3"}
	if _, _, _, err := (&World{}).Run(t.Context(), argv, time.Minute); err == nil ||
		!strings.Contains(err.Error(), "--allow-run grants it") {
		t.Errorf("without the flag: %v", err)
	}
	w := &World{Granted: Granted{AllowRun: true}}
	status, out, errs, err := w.Run(t.Context(), argv, time.Minute)
	if status != 3 || out != "out\n" || errs != "err\n" || err != nil {
		t.Errorf("got %d, %q, %q, %v", status, out, errs, err)
	}
	if _, _, _, err := w.Run(t.Context(), []string{"/no/such/command"}, time.Minute); err == nil {
		t.Error("a command that is not there has run")
	}
	over, end := context.WithCancel(t.Context())
	end()
	if status, _, _, err := w.Run(over, []string{"true"}, time.Minute); status != -1 || err != nil {
		t.Errorf("of a script that is stopped: %d, %v", status, err)
	}
	sleep := []string{"sleep", "1000"}
	if status, _, _, err := w.Run(t.Context(), sleep, time.Millisecond); status != -1 || err != nil {
		t.Errorf("beyond its limit: %d, %v", status, err)
	}
}

func TestProc(t *testing.T) {
	w := &World{}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Proc(os.Getpid(), "exe"); err != nil || got != starlark.String(exe) {
		t.Errorf("exe: got %v, %v, want %s", got, err, exe)
	}
	got, err := w.Proc(os.Getpid(), "cmdline")
	if list, ok := got.(*starlark.List); err != nil || !ok || list.Len() != len(os.Args) {
		t.Errorf("cmdline: got %v, %v, want %q", got, err, os.Args)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fds, err := w.Proc(os.Getpid(), "fds")
	if err != nil {
		t.Fatal(err)
	}
	to, ok, err := fds.(*starlark.Dict).Get(starlark.MakeInt(int(f.Fd())))
	if !ok || err != nil || to != starlark.String(f.Name()) {
		t.Errorf("fds: got %v, %v, want %s", to, err, f.Name())
	}
}

// A process that has ended has nothing, which is no error.
func TestProcEnded(t *testing.T) {
	const above = 1 << 23 // the largest number of a process is 1 << 22 (PID_MAX_LIMIT of include/linux/threads.h)
	for _, word := range []string{"exe", "cwd", "cmdline", "fds", "cgroup", "container"} {
		if got, err := (&World{}).Proc(above, word); got != starlark.None || err != nil {
			t.Errorf("%s: got %v, %v, want None", word, got, err)
		}
	}
}

// A script that is only looked at gets no more than that its commands ended well, and is refused what was not granted
// all the same.
func TestIdle(t *testing.T) {
	dir := t.TempDir()
	said := ""
	w := &World{Granted: Granted{AllowWrite: []string{dir}, AllowRun: true}, Idle: true,
		Say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
	status, out, errs, err := w.Run(t.Context(), []string{"false"}, time.Second)
	if status != 0 || out+errs != "" || err != nil || !strings.Contains(said, "false is not run here") {
		t.Errorf("run: got %d, %q, %q, %v; said %q", status, out, errs, err, said)
	}
	if err := w.Write("file", "text", false); err != nil {
		t.Error(err)
	}
	if err := w.Write("/elsewhere/file", "text", false); err == nil {
		t.Error("a file elsewhere is no mistake")
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
}
