package symbols

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// source tells addresses whose names are known, and waits.
const source = `
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>
__attribute__((noinline, noreturn)) void tell(void *inside) {
	printf("tell %p\nlast %p\nmalloc %p\nstack %p\nvdso %p\n",
		(void *)tell, __builtin_return_address(0), (void *)malloc, inside,
		(void *)getauxval(AT_SYSINFO_EHDR));
	fflush(stdout);
	for (;;) pause();
}
// The call is the last instruction: its return address is behind the function.
__attribute__((noinline)) void last(void *inside) { tell(inside); }
__attribute__((noinline, aligned(1))) int after(int a) { return a + 1; }
int main(int argc, char **argv) { int here = after(argc); last(&here); }
`

// target is a running program and the addresses that it told.
type target struct {
	cmd       *exec.Cmd
	pid       int
	path      string
	addresses map[string]uint64
}

func start(t *testing.T, flags ...string) *target {
	t.Helper()
	need.Program(t, "gcc")
	dir := t.TempDir()
	name, out := filepath.Join(dir, "main.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("gcc", append(flags, "-O1", "-o", out, name)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return run(t, out)
}

func run(t *testing.T, path string) *target {
	t.Helper()
	cmd := exec.Command(path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &target{cmd, cmd.Process.Pid, path, map[string]uint64{}}
	t.Cleanup(p.end)
	lines := bufio.NewScanner(stdout)
	for len(p.addresses) < 5 && lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		var addr uint64
		if _, err := fmt.Sscanf(number, "0x%x", &addr); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		p.addresses[name] = addr
	}
	if len(p.addresses) != 5 {
		t.Fatalf("the program told only %v", p.addresses)
	}
	return p
}

// end ends the program, if it has not ended yet.
func (p *target) end() {
	if p.cmd.ProcessState == nil {
		_ = errors.Join(p.cmd.Process.Kill(), p.cmd.Wait()) // killed: Wait says so
	}
}

func TestProgram(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-static"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			p := start(t, flags...)
			var table Namer
			stack := table.Stack(table.Process(p.pid), []uint64{p.addresses["tell"] + 4, p.addresses["last"],
				p.addresses["malloc"] + 8, p.addresses["stack"], 16}, nil)
			checkFrames(t, stack, p)
			p.end()
			checkFrames(t, table.Stack(table.Process(p.pid), []uint64{p.addresses["tell"] + 4, p.addresses["last"],
				p.addresses["malloc"] + 8, p.addresses["stack"], 16}, nil), p)
		})
	}
}

func checkFrames(t *testing.T, stack []Frame, p *target) {
	t.Helper()
	var got []string
	for _, f := range stack {
		got = append(got, f.String())
	}
	for i, want := range []string{"tell+0x4", "last+0x", "malloc+0x8", fmt.Sprintf("0x%x", p.addresses["stack"]),
		"0x10"} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("got %q, want %q at %d", got, want, i)
		}
	}
	if stack[0].Path != p.path || stack[0].Module() != "program" {
		t.Errorf("the file is %q, want %q", stack[0].Path, p.path)
	}
}

func TestVDSO(t *testing.T) {
	p := start(t)
	if p.addresses["vdso"] == 0 {
		t.Skip("needs a kernel with a vDSO")
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil && !strings.Contains(string(maps), vdsoName) {
		t.Skip("needs a vDSO of our own: an emulator of programs maps none")
	}
	var table Namer
	vdso, size := readVDSO()
	if len(vdso.functions) == 0 || size == 0 {
		t.Fatal("our own vDSO has no functions")
	}
	fn := vdso.functions[0]
	frame := table.Frame(p.pid, p.addresses["vdso"]+fn.offset)
	if frame.Function == "" || frame.Offset != 0 || frame.Path != "[vdso]" {
		t.Errorf("got %+v, want %s", frame, vdso.name(fn))
	}
}

// A program whose file is gone, and that has ended: seen before, it is known.
func TestDeleted(t *testing.T) {
	p := start(t)
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	var table Namer
	table.SeeStack(p.pid, 0, []uint64{p.addresses["tell"]})
	p.end()
	got := table.Frame(p.pid, p.addresses["tell"])
	if got.Name() != "tell" && os.Geteuid() != 0 {
		t.Skip("needs root to open files by their mappings")
	}
	if got.Name() != "tell" {
		t.Errorf("got %v", got)
	}
	if got := (&Namer{}).Name(p.pid, p.addresses["tell"]); got != fmt.Sprintf("0x%x", p.addresses["tell"]) {
		t.Errorf("a table that has not seen it: %s", got)
	}
}

// Only seen while it lived: its files are found as everybody finds them, but not
// another file that took the path.
//
// > What an older process has mapped is read when its first stack is seen.
// > If it has ended by then, its stacks have addresses only, which is said at the end.
// > That is so for all processes where the kernel tells nothing (without CAP_PERFMON; `-v` says so).
func TestEnded(t *testing.T) {
	p := start(t)
	var first, second Namer
	first.SeeStack(p.pid, 0, []uint64{p.addresses["tell"]})
	second.Process(p.pid)
	p.end()
	if got := first.Frame(p.pid, p.addresses["tell"]+2); got.String() != "tell+0x2" {
		t.Errorf("got %v", got)
	}
	whole, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(p.path, p.path+"2"), os.WriteFile(p.path, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := second.Frame(p.pid, p.addresses["tell"]); got.Function != "" || got.Module() != "program" {
		t.Errorf("another file at its path: got %v", got)
	}
}

// Another process with the number of one that has ended has mappings of its
// own.
func TestReusedNumber(t *testing.T) {
	proc := t.TempDir()
	fake(t, proc, "1", "7f0000001000-7f0000002000 r-xp 00000000 00:00 0 /old\n")
	table := Namer{processes: processes{proc: proc}}
	if got := table.Name(7, 0x7f0000001010); got != "old+0x10" {
		t.Errorf("got %s", got)
	}
	fake(t, proc, "2", "7f0000001000-7f0000002000 r-xp 00000000 00:00 0 /new\n")
	if got := table.Name(7, 0x7f0000001010); got != "new+0x10" {
		t.Errorf("got %s", got)
	}
	if err := os.RemoveAll(filepath.Join(proc, "7")); err != nil {
		t.Fatal(err)
	}
	if got := table.Name(7, 0x7f0000001010); got != "new+0x10" {
		t.Errorf("after its end: %s", got)
	}
}

// fake makes the folder in /proc of process 7.
func fake(t *testing.T, proc, started, maps string) string {
	t.Helper()
	dir := filepath.Join(proc, "7")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stat := "7 (a) b) S" + strings.Repeat(" 1", 18) + " " + started + " 1 1 1 4096 1 8192 1 1\n"
	for name, text := range map[string]string{"stat": stat, "maps": maps, "status": "Name:\ta\nNSpid:\t7\t3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A container's file is read at once, and known when all of it is gone.
func TestContainer(t *testing.T) {
	p := start(t)
	whole, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	proc, root := t.TempDir(), t.TempDir()
	inner := filepath.Join(root, "srv")
	if err := os.WriteFile(inner, whole, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	dir := fake(t, proc, "1", strings.ReplaceAll(string(f), p.path, "/srv"))
	for link, to := range map[string]string{"root": root, "ns/mnt": "mnt:[1]"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700),
			os.Symlink(to, filepath.Join(dir, link))); err != nil {
			t.Fatal(err)
		}
	}
	table := Namer{processes: processes{proc: proc}}
	table.SeeStack(7, 0, []uint64{p.addresses["tell"]})
	if err := errors.Join(os.RemoveAll(root), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	if got := table.Frame(7, p.addresses["tell"]+1); got.String() != "tell+0x1" || got.Path != "/srv" {
		t.Errorf("got %+v", got)
	}
}

// What is kept is bounded; what went is read again.
func TestBounds(t *testing.T) {
	p := start(t)
	table := Namer{files: files{most: 1}, processes: processes{most: 1}}
	for range 2 {
		if got := table.Name(p.pid, p.addresses["tell"]); got != "tell" {
			t.Errorf("got %s", got)
		}
		if got := table.Name(p.pid, p.addresses["malloc"]); got != "malloc" {
			t.Errorf("got %s", got)
		}
		table.Process(os.Getpid())
	}
	if len(table.files.byID) != 1 || len(table.processes.byPID) != 1 {
		t.Errorf("kept %v", &table)
	}
}
