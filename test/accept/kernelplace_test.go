package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// kernelAddress is where /proc/kallsyms has a function.
func kernelAddress(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == name {
			return "0x" + f[0]
		}
	}
	t.Fatalf("/proc/kallsyms has no function %s", name)
	return ""
}

// A probe at an address sees the calls, by the function's name and types, where --unsafe grants it.
//
// > `kprobe:FUNCTION+OFFSET` stands at an instruction inside of a function, with the offset in bytes.
// > `kprobe:0xffffffff81234560` stands at an address, with `--unsafe`, because a number says nothing about what will be
// > there.
func TestKernelAddresses(t *testing.T) {
	needKernelFunctions(t)
	n, at := scaled(1000), kernelAddress(t, "vfs_read")
	text := fmt.Sprintf(`
hits = count()
probe("kprobe:%s", lambda e: hits[e.func, e.args.count].add(), %s)
at_exit(lambda: [print("hit", f, size, v) for (f, size), v in hits.items()])
`, at, reading)
	e, d := traced(t, text, []string{"--unsafe"}, "reads", strconv.Itoa(n), "1,100")
	for size, want := range d.Sizes {
		checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^hit vfs_read %d (\d+)$`, size)), want)
	}
	refused := startrace(t, script(t, text), "-c", "true")
	if want := "give the name (kprobe:FUNCTION+OFFSET), or --unsafe"; refused.status == 0 ||
		!strings.Contains(refused.stderr, want) {
		t.Errorf("without --unsafe: status %d, %s", refused.status, refused.stderr)
	}
}

// Offsets that lead out of their function are refused.
func TestKernelOffsetsBeyond(t *testing.T) {
	needKernelFunctions(t)
	e := startrace(t, "-e", `n = count()`, "-e", `probe("kprobe:vfs_read+0x8000", lambda e: n.add())`, "-c", "true")
	if want := "kprobe:vfs_read+0x8000: vfs_read ends before, and at that offset is "; e.status == 0 ||
		!strings.Contains(e.stderr, want) {
		t.Errorf("status %d, %s", e.status, e.stderr)
	}
}

// Functions of a module have their arguments by name and type, by each way to probe them.
//
// > `e.args` of functions and raw tracepoints of loaded modules has names and types where the kernel shows the modules'
// > types (5.11).
// > Functions of modules are found by their names alone.
// > `kprobe:MODULE:FUNCTION` means the functions of one module, and `kprobe:vmlinux:FUNCTION` those of none.
// > `kretprobe`, `fentry`, `fexit`, `func` and `rawtracepoint` can name a module in the same way.
func TestModuleFunctions(t *testing.T) {
	needKernelFunctions(t)
	if _, err := os.Stat("/sys/kernel/btf/overlay"); err != nil {
		t.Skipf("needs the module overlay with BTF (5.11, CONFIG_DEBUG_INFO_BTF_MODULES): %v", err)
	}
	dir := t.TempDir()
	lines := ""
	for _, name := range []string{"lower", "other", "merged"} {
		lines += "mkdir " + filepath.Join(dir, name) + "\n"
	}
	lines += fmt.Sprintf("echo x > %[1]s/lower/file\nmount -t overlay -o lowerdir=%[1]s/lower:%[1]s/other overlay "+
		"%[1]s/merged\ncat %[1]s/merged/file %[1]s/merged/file\numount %[1]s/merged\n", dir)
	file := filepath.Join(t.TempDir(), "mount.sh")
	if err := os.WriteFile(file, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-q", script(t, `
opens = count()
for point in ["kprobe:ovl_open", "fentry:ovl_open", "func:ovl_open"]:
    probe(point, lambda e: opens[e.probe, path(e.args.file), e.args.inode.i_ino > 0].add())
at_exit(lambda: [print(p, file, ino, n) for (p, file, ino), n in sorted(opens.items())])
`), "-c", "sh "+file).ok(t)
	want := "x\nx\n"
	for _, provider := range []string{"fentry", "func", "kprobe"} {
		want += fmt.Sprintf("%s:ovl_open %s/merged/file True 2\n", provider, dir)
	}
	if e.stdout != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", e.stdout, want, e.stderr)
	}
}
