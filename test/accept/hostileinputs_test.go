package accept

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// A script that comes from a pipe is waited for until it is written, and it is said why nothing happens.
func TestScriptFromPipe(t *testing.T) {
	for command, want := range map[string]string{"": "read\n", "explain": "", "audit": "",
		"verify": "1 work on this kernel\n"} {
		t.Run(command, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "script.star")
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			words := append(strings.Fields(command), pipe)
			r := interact(t, exec.Command("sh", append([]string{"-c", `exec "$0" "$@" 2>&1`, program(t, "startrace")},
				words...)...))
			r.await(t, pipe+": warning: it is a pipe that nobody writes yet, and is waited for")
			if err := os.WriteFile(pipe, []byte("print(\"read\")\nexit()\n"), 0); err != nil {
				t.Fatal(err)
			}
			if e := r.end(t).ok(t); !strings.HasSuffix(e.stdout, want) {
				t.Errorf("got %q", e.stdout)
			}
		})
	}
}

// A script that comes from a pipe is waited for until a signal comes: one is enough.
func TestSignalWhileTheScriptIsRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "script.star")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "startrace"), pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, want exit code 1", err)
	}
}

// What has no end is not read as the types of a kernel, and a pipe that nobody writes is not waited for.
func TestTypesFromOddFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "types")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(file, want string) {
		t.Helper()
		e := startrace(t, "verify", "--btf", file, "opensnoop")
		if want = file + want; e.status != 1 || !strings.Contains(e.stderr, want) {
			t.Errorf("exit code %d, want 1 and %s: %s", e.status, want, excerpt(e.stderr))
		}
	}
	refused("/dev/zero", " has more than 256 MB: that is no BTF")
	refused(pipe, ": nobody writes this pipe: start what writes it first")
	w, err := os.OpenFile(pipe, os.O_RDWR, 0) // does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer w.Close()
		_, _ = w.Write(make([]byte, 1<<20))
	}()
	refused(pipe, ": bad BTF: wrong magic number")
	tried.Many(t, "%d files", 3)
}

// What folded stacks have no place for is counted: rows, events, and rows of tables without a number.
func TestLeftOutOfFoldedStacks(t *testing.T) {
	needTracing(t)
	for _, script := range []string{
		`out = columns(a = "%d")` + "\n" + `probe("syscall:getppid", lambda e: out(1))`,
		`probe("syscall:getppid")`,
		`t = table()` + "\n" + `probe("syscall:getppid", lambda e: t.set(0, 1))` + "\n" +
			`at_exit(lambda: show({i: "x" for i in range(7)}))`,
	} {
		e, _ := traced(t, script, []string{"--format", "folded"}, "getppid", "7")
		const want = "7 lines of the output left out: --format folded has tables of numbers only"
		if e.stdout != "" || !strings.Contains(e.stderr, want) && e.skipped(t) == 0 {
			t.Errorf("%s\n%s%s, want %s", script, e.stdout, excerpt(e.stderr), want)
		}
	}
}

// A function of C++ is found by the name that its source has, without the tags of its ABI.
func TestFunctionsWithTagsOfTheABI(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "g++ -g", "shop.cpp", `#include <string>
namespace shop { __attribute__((noipa)) std::string make(int n) { return std::string(n, 'x'); } }
int main() { return shop::make(3).size() != 3; }`)
	e := startrace(t, "-q", "-e", `probe("ufunc:`+binary+`:shop::make", lambda e: print(e.func, e.args.n))`, "-c",
		binary).ok(t)
	if e.stdout != "shop::make 3\n" {
		t.Errorf("%s", e.stdout)
	}
}
