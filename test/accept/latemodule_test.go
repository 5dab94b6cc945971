package accept

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/tried"
)

// needModule skips unless the guest has a module that can be loaded and is not needed; it is unloaded then, and loaded
// again at the end of the test. Lists of modules, which guests lack, are made.
func needModule(t *testing.T, name string) {
	t.Helper()
	needTracing(t)
	needGuest(t)
	file := "/modules/" + name + ".ko"
	if _, err := os.Stat(file); err != nil {
		t.Skipf("needs the module %s in %s, as test/vm carries it for a whole suite", name, filepath.Dir(file))
	}
	version, err := kernel.Release()
	if err != nil {
		t.Fatal(err)
	}
	folder := "/lib/modules/" + version.Text
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(folder+"/modules.dep",
		[]byte("kernel/x/loop.ko:\nkernel/fs/overlayfs/overlay.ko.xz:\nkernel/x/nbd.ko:\n"), 0o644),
		os.WriteFile(folder+"/modules.builtin", []byte("kernel/fs/ext4/ext4.ko\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := unix.DeleteModule(name, unix.O_NONBLOCK); err != nil && !errors.Is(err, unix.ENOENT) {
		t.Fatalf("unload %s: %v", name, err)
	}
	t.Cleanup(func() {
		if _, err := os.Stat("/sys/module/" + name); errors.Is(err, fs.ErrNotExist) {
			load(t, file)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
}

func load(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil {
		t.Errorf("load %s: %v", file, err)
	}
}

// Functions of a module that is loaded during the run are probed then: by the name of the module, and by patterns that
// matched others before.
//
// > Modules can be loaded while a script or the prompt runs.
// > Patterns then get those points of the module that they match, and a message says how many.
func TestModuleLoadedLater(t *testing.T) {
	needKernelFunctions(t)
	needModule(t, "overlay")
	dir := overlayFolders(t)
	// The file is read until all probes have seen it; the run then ends the command.
	command := fmt.Sprintf("insmod /modules/overlay.ko\nmount -t overlay -o lowerdir=%[1]s/lower:%[1]s/other overlay "+
		"%[1]s/merged || exit\nfor i in $(seq 600); do cat %[1]s/merged/file; usleep 100000; done\n", dir)
	file := filepath.Join(t.TempDir(), "load.sh")
	if err := os.WriteFile(file, []byte(command), 0o644); err != nil {
		t.Fatal(err)
	}
	points := []string{"kprobe:overlay:ovl_open", "kretprobe:overlay:ovl_ope[n]", "kprobe:{vfs_fsync,ovl_open}",
		"func:overlay:ovl_open", "fentry:overlay:ovl_open"}
	e := startrace(t, script(t, fmt.Sprintf(`
points = %q.split(" ")
calls = count()
seen = {}
def declare(i):
    def hit(e):
        calls[i, e.probe, e.func].add()
        seen[i] = getattr(e, "ret", 0)
        if len(seen) == len(points):
            exit()
    probe(points[i], hit, kernel = lambda e: record(named = e.func) if e.func == "ovl_open" else None)
for i in range(len(points)):
    declare(i)
at_exit(lambda: print("seen", sorted(seen.items())))
at_exit(lambda: print("calls", sorted([key for key, n in calls.items()])))
`, strings.Join(points, " "))), "-c", "sh "+file).ok(t)
	want := `seen [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]
calls [(0, "kprobe:ovl_open", "ovl_open"), (1, "kretprobe:ovl_open", "ovl_open"), ` +
		`(2, "kprobe:ovl_open", "ovl_open"), (3, "func:ovl_open", "ovl_open"), (4, "fentry:ovl_open", "ovl_open")]
`
	if got := strings.ReplaceAll(e.stdout, "x\n", ""); got != want {
		t.Errorf("got\n%swant\n%s%s", got, want, e.stderr)
	}
	for i, point := range points {
		if waits := strings.Contains(e.stderr, point+": waits for module overlay\n"); waits != (i != 2) {
			t.Errorf("%s: waits %v\n%s", point, waits, e.stderr)
		}
		if !strings.Contains(e.stderr, point+": 1 point more\n") {
			t.Errorf("%s has no point more:\n%s", point, e.stderr)
		}
	}
}

// The tracepoints of a module are attached when it is loaded, all of them.
//
// > A point can name a module that this kernel has but has not loaded.
// > It waits for the module, and says so.
// > So does a tracepoint whose category is such a module (`tracepoint:nbd:*`).
func TestTracepointsLoadedLater(t *testing.T) {
	needModule(t, "nbd")
	file := filepath.Join(t.TempDir(), "load.sh")
	if err := os.WriteFile(file, []byte("insmod /modules/nbd.ko\nusleep 100000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const raw = `probe("rawtracepoint:nbd:nbd_send_request", lambda e: n[e.probe].add())`
	code := []string{"-e", `n = count(); probe("tracepoint:nbd:*", lambda e: n[e.probe].add())`, "-e", raw}
	if !atLeast(t, 5, 11) {
		e := startrace(t, append(code, "-c", "true")...)
		const want = "rawtracepoint:nbd:nbd_send_request: this kernel does not have the types of modules"
		if e.status != failedBeside || !strings.Contains(e.stderr, want) {
			t.Errorf("want %q: %d %s", want, e.status, e.stderr)
		}
		code = code[:2]
	}
	e := startrace(t, append(code, "-c", "sh "+file, "--duration", "30s")...).ok(t)
	list, err := os.ReadDir("/sys/kernel/tracing/events/nbd")
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, entry := range list {
		if entry.IsDir() {
			events++
		}
	}
	wanted := []string{"tracepoint:nbd:*: waits for module nbd\n",
		fmt.Sprintf("tracepoint:nbd:*: %d points more\n", events)}
	if len(code) > 2 {
		wanted = append(wanted, "rawtracepoint:nbd:nbd_send_request: waits for module nbd\n",
			"rawtracepoint:nbd:nbd_send_request: 1 point more\n")
	}
	for _, want := range wanted {
		if !strings.Contains(e.stderr, want) {
			t.Errorf("want %q:\n%s", want, e.stderr)
		}
	}
}

// What is typed gets points of modules as a script does, and what is typed after a module was loaded knows it. A probe
// that is detached is so in all its points.
func TestModuleLoadedAtPrompt(t *testing.T) {
	needKernelFunctions(t)
	needModule(t, "overlay")
	dir := overlayFolders(t)
	cmd := exec.Command(program(t, "startrace"), "--allow-run")
	var stdout, stderr strings.Builder
	read := fmt.Sprintf("for i in range(5):\n    x = run([\"cat\", %q])\n\n", dir+"/merged/file")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(`n = count()
p = probe("kprobe:overlay:ovl_open", lambda e: n[e.func].add(), where = lambda e: e.comm == "cat")
m = count()
other = probe("kprobe:{vfs_fsync,ovl_open}", lambda e: m[e.func].add(), where = lambda e: e.comm == "cat")
x = run(["insmod", "/modules/overlay.ko"])
wait("3s")
x = run(["mount", "-t", "overlay", "-o", "lowerdir=`+dir+"/lower:"+dir+`/other", "overlay", "`+dir+`/merged"])
`+read+`print("attached", n.items(), m.items())
p.disable()
`+read+`print("disabled", n.items())
p.enable()
`+read+`print("enabled", n.items())
p = probe("kprobe:ovl_open", lambda e: n["again"].add(), where = lambda e: e.comm == "cat")
`+read+`print("again", sorted(n.items()))
`), &stdout, &stderr
	err := cmd.Run()
	want := `attached [("ovl_open", 5)] [("ovl_open", 5)]
disabled [("ovl_open", 5)]
enabled [("ovl_open", 10)]
again [("again", 5), ("ovl_open", 10)]
`
	if got := stdout.String(); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("%v: got\n%swant\n%s%s", err, got, want, stderr.String())
	}
	for _, want := range []string{"kprobe:overlay:ovl_open: waits for module overlay\n",
		"kprobe:overlay:ovl_open: 1 point more\n", "kprobe:{vfs_fsync,ovl_open}: 1 point more\n"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("want %q:\n%s", want, stderr.String())
		}
	}
}

// A module that is unloaded takes its probes along, unless it cannot be unloaded for them; loaded again it is probed
// again.
//
// > Links and trampolines keep their modules loaded.
// > Single probes do not (before 6.7 those of `kretprobe`, without `kprobe_multi` all): they end when their module is
// > unloaded.
// > They are attached again, with a message, when the module is loaded again.
func TestModuleLoadedAgain(t *testing.T) {
	needKernelFunctions(t)
	needModule(t, "overlay")
	load(t, "/modules/overlay.ko")
	dir := overlayFolders(t)
	reads := fmt.Sprintf("mount -t overlay -o lowerdir=%[1]s/lower:%[1]s/other overlay %[1]s/merged || exit\n"+
		"for i in 1 2 3 4 5; do cat %[1]s/merged/file; done\n", dir)
	file := filepath.Join(t.TempDir(), "again.sh")
	again := "umount " + dir +
		"/merged\nif rmmod overlay; then insmod /modules/overlay.ko; echo unloaded; sleep 4; fi\n"
	if err := os.WriteFile(file, []byte(reads+again+reads), 0o644); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, script(t, `
n = count()
for point in ["kprobe:ovl_open", "kretprobe:ovl_open", "kprobe:overlay:ovl_ope[n]"]:
    probe(point, lambda e: n[e.probe].add(), where = lambda e: e.comm == "cat")
at_exit(lambda: [print(point, calls) for point, calls in sorted(n.items())])
`), "-c", "sh "+file).ok(t)
	for point, want := range map[string]int{"kprobe:ovl_open": 20, "kretprobe:ovl_open": 10} {
		if got := number(t, e.stdout, `(?m)^`+point+` (\d+)$`); got != want {
			t.Errorf("%s: %d, want %d:\n%s%s", point, got, want, e.stdout, e.stderr)
		}
	}
	unloaded := strings.Contains(e.stdout, "unloaded")
	if again := strings.Count(e.stderr, "attached again at 1 point of module overlay"); again != 3 && unloaded ||
		again != 0 && !unloaded {
		t.Errorf("unloaded %v, attached again %d times:\n%s", unloaded, again, e.stderr)
	}
	if !atLeast(t, 6, 7) && !unloaded {
		t.Error("the probes kept the module")
	}
	noReturnEvents(t)
	tried.Many(t, "%d calls", 2*5)
}

// overlayFolders makes what an overlay is mounted of, with a file, and unmounts it at the end.
func overlayFolders(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"lower", "other", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(dir+"/lower/file", []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir+"/merged", 0) }) // it may not have come to that
	return dir
}

// What no module of this kernel has is a mistake, and so is the name of a module that there is not.
//
// > A name that nothing has stays a mistake.
func TestModuleMistakes(t *testing.T) {
	needKernelFunctions(t)
	needModule(t, "overlay")
	for point, want := range map[string]string{
		"kprobe:overlai:ovl_open": "no module overlai is loaded, nor is there one for this kernel " +
			"(did you mean overlay?)",
		"kprobe:ext4:ext4_file_open": "ext4 is built into this kernel and is no module: leave it out",
		"tracepoint:overlai:*":       "no tracepoint matches tracepoint:overlai:*",
		"kprobe:ovl_ope":             "this kernel has no function ovl_ope",
	} {
		e := startrace(t, "-e", fmt.Sprintf(`probe(%q)`, point), "-c", "true")
		if e.status != failedBeside || !strings.Contains(strings.Join(strings.Fields(e.stderr), " "), want) {
			t.Errorf("%s: status %d, want %q: %s", point, e.status, want, e.stderr)
		}
	}
	e := startrace(t, "explain", "-e", `probe("kprobe:overlay:ovl_open", lambda e: print(e.comm))`).ok(t)
	if !strings.Contains(e.stdout, "kprobe:overlay:ovl_open: waits for module overlay") {
		t.Errorf("explain: %s", e.stdout)
	}
	load(t, "/modules/overlay.ko")
	e = startrace(t, "-e", `probe("kprobe:overlay:ovl_opem")`, "-c", "true")
	if e.status != failedBeside || !bytes.Contains([]byte(e.stderr),
		[]byte("the module overlay has no function ovl_opem (did you mean ovl_open?)")) {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
