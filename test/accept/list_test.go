package accept

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

type listedPoint struct {
	Point  string
	Module string
	Fields []struct{ Name, C, Type, Note string }
}

func listed(t *testing.T, args ...string) []listedPoint {
	t.Helper()
	e := startrace(t, append([]string{"list", "--format", "json"}, args...)...).ok(t)
	var out []listedPoint
	for line := range strings.Lines(e.stdout) {
		var p listedPoint
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, p)
	}
	return out
}

// Every field that list -v shows is one that the compiler knows by that name, at every point (S3-07, S3-09, S4-13).
func TestListedFields(t *testing.T) {
	needTracing(t)
	patterns := []string{"t:{sched,irq,timer}:*", "rt:sched_*", "sc:*open*"}
	if !testing.Short() {
		patterns = []string{"t:*:*", "rt:*", "sc:*"}
	}
	if inGuest() {
		patterns = append(patterns, "{func,kprobe,fentry,fexit}:vfs_re*", "kr:{vfs_read,vfs_write}")
	}
	for _, pattern := range patterns {
		t.Run(pattern, func(t *testing.T) {
			beside(t)
			points := listed(t, "-v", pattern)
			if len(points) == 0 {
				t.Fatal("there are none")
			}
			for part := range batches(points, 50) {
				explainFields(t, part)
			}
		})
	}
}

// System calls and their tracepoints by patterns; fields with what names their flags and prints all of them, which the
// scripts then do. (S3-07, S3-09, S4-13)
func TestListCalls(t *testing.T) {
	needTracing(t)
	lines := strings.Fields(startrace(t, "list", "tracepoint:syscalls:sys_enter_*").ok(t).stdout)
	for _, line := range lines {
		if !strings.HasPrefix(line, "tracepoint:syscalls:sys_enter_") {
			t.Errorf("listed %q", line)
		}
	}
	if len(lines) < 250 || !slices.Contains(lines, "tracepoint:syscalls:sys_enter_openat") {
		t.Errorf("%d calls: %q", len(lines), lines)
	}
	var names, fields []string
	for _, p := range listed(t, "syscall:open{,at,at2}") {
		names = append(names, p.Point)
	}
	for _, f := range listed(t, "-v", "syscall:openat")[0].Fields {
		fields = append(fields, fmt.Sprintf("%s %s: %s", f.Name, f.Type, f.Note))
	}
	for _, want := range []string{"syscall:openat", "syscall:openat2"} { // open is amd64's
		if !slices.Contains(names, want) || len(names) > 3 {
			t.Errorf("listed %q, want %s among them", names, want)
		}
	}
	want := []string{"e.args.dfd int: AT_FDCWD, or a file: e.file(e.args.dfd)", "e.args.filename string: ",
		`e.args.flags int: names(e.args.flags, "O_") is text`,
		`e.args.mode int: names(e.args.mode, "mode") is text`, "e.args record: str(e.args) is all of them as text",
		"e.ret int: errno(e.ret) names an error"}
	if len(fields) < len(want) || !slices.Equal(fields[:len(want)], want) {
		t.Errorf("fields\n%s\nwant\n%s", strings.Join(fields, "\n"), strings.Join(want, "\n"))
	}
	dir := t.TempDir()
	e, _ := traced(t, `probe("syscall:openat", lambda e: print(names(e.args.flags, "O_"), str(e.args)), `+
		`where = lambda e: e.comm == "wl-opens" and e.ret < 0)`, nil, "opens", "3", "1", dir)
	if want := fmt.Sprintf("O_RDONLY record(dfd = -100, filename = \"%s/missing-0-0\", flags = 0, mode = 0)\n",
		dir); e.stdout != want {
		t.Errorf("got %q, want %q", e.stdout, want)
	}
}

// batches are as many as one script should have.
func batches(list []listedPoint, n int) func(func([]listedPoint) bool) {
	return func(yield func([]listedPoint) bool) {
		for from := 0; from < len(list); from += n {
			if !yield(list[from:min(from+n, len(list))]) {
				return
			}
		}
	}
}

// explainFields compiles a script that prints all fields of the points.
func explainFields(t *testing.T, points []listedPoint) {
	t.Helper()
	var text strings.Builder
	for _, p := range points {
		var names []string
		for _, f := range p.Fields {
			if !strings.Contains(f.Note, "cannot be read") && !strings.Contains(f.Note, ": no value") {
				names = append(names, f.Name)
			}
		}
		fmt.Fprintf(&text, "probe(%q, lambda e: print(%s))\n", p.Point, strings.Join(names, ", "))
	}
	script := filepath.Join(t.TempDir(), "fields.star")
	if err := os.WriteFile(script, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := startrace(t, "explain", script); e.status != 0 {
		t.Errorf("%s", excerpt(e.stderr))
	}
}

// Functions with the names and types of their arguments, where the kernel can probe them.
func TestListFunctions(t *testing.T) {
	needTracing(t)
	needGuest(t)
	points := listed(t, "-v", "fexit:vfs_read")
	if len(points) != 1 {
		t.Fatalf("%d points of the name vfs_read", len(points))
	}
	var fields []string
	for _, f := range points[0].Fields {
		fields = append(fields, fmt.Sprintf("%s %s %s", f.Name, f.Type, f.C))
	}
	want := "e.args.file pointer struct file *; e.args.buf string char *; e.args.count int size_t; " +
		"e.args.pos pointer loff_t *; e.ret int ssize_t"
	if got := strings.Join(fields, "; "); got != want {
		t.Errorf("fields %s, want %s", got, want)
	}
	e := startrace(t, "list", "kprobe:*").ok(t)
	if n := strings.Count(e.stdout, "\n"); n < 20_000 || !strings.Contains(e.stdout, "\nkprobe:vfs_read\n") ||
		e.stderr != "" {
		t.Errorf("%d functions, stderr %q", n, e.stderr)
	}
	t.Logf("%d functions in %v", strings.Count(e.stdout, "\n"), e.took)
	e = startrace(t, "list", "k:vfs_raed")
	if e.status != 1 || e.stdout != "" || !strings.Contains(e.stderr, "did you mean kprobe:vfs_read?") {
		t.Errorf("status %d, stdout %q, stderr %q", e.status, e.stdout, e.stderr)
	}
}

// Without permission what can be listed is, and what cannot is said.
func TestListWithoutPermission(t *testing.T) {
	needTracing(t)
	cmd := exec.Command(forOthers(t), "list", "{openat,sched_switch,vfs_rea?}")
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if !strings.Contains(stdout.String(), "rawtracepoint:sched_switch\n") ||
		!strings.Contains(stdout.String(), "syscall:openat\nfunc:vfs_read\n") {
		t.Errorf("stdout %q", stdout.String())
	}
	if !strings.Contains(stderr.String(), "no permission to read /sys/kernel/tracing") {
		t.Errorf("stderr %q", stderr.String())
	}
}
