package bpfgen

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// field is the offset of a field.
func field(t *testing.T, btf *kernel.BTF, tag, name string) int64 {
	t.Helper()
	id, ok := btf.Named(kernel.KindStruct, tag)
	if !ok {
		t.Fatalf("no struct %s", tag)
	}
	f, err := btf.Field(id, name)
	if err != nil {
		t.Fatal(err)
	}
	return int64(f.Off)
}

func follow(e *tree.Expr, off int64) *tree.Expr {
	return &tree.Expr{Op: tree.OpLoad, Type: types.U64, Str: tree.Kernel, Int: off, Args: []*tree.Expr{e}}
}

// fileOf is the struct file of the descriptor in argument 0.
func fileOf(t *testing.T, btf *kernel.BTF) *tree.Expr {
	t.Helper()
	files := follow(builtin("task", types.U64), field(t, btf, "task_struct", "files"))
	fds := follow(follow(files, field(t, btf, "files_struct", "fdt")), field(t, btf, "fdtable", "fd"))
	return follow(op(tree.OpAdd, types.U64, fds, op(tree.OpMul, types.U64, arg(0, types.U64), konst(8))), 0)
}

// pathOf is OpPath of an address.
func pathOf(kind string, room int, addr *tree.Expr) *tree.Expr {
	t := types.StrOf(room).OrFault()
	t.MayNone = true
	p := op(tree.OpConvert, types.Type{Kind: types.Ptr}, addr)
	return &tree.Expr{Op: tree.OpPath, Type: t, Str: kind, Args: []*tree.Expr{p}}
}

// loadPaths loads a unit that needs the places of a walk.
func loadPaths(t *testing.T, u *tree.Unit, btf *kernel.BTF, o Options) *ebpf.Collection {
	t.Helper()
	var err error
	if u.Path, err = infer.PathOffsets(btf); err != nil {
		t.Fatal(err)
	}
	c, unit := load(t, u, o)
	if info, err := c.Programs["p0"].Info(); err == nil {
		n, _ := info.VerifiedInstructions()
		insns := len(unit.Spec.Programs["p0"].Instructions)
		t.Logf("%d instructions, of which the verifier visited %d", insns, n)
		if o.HasLoop && int(n) > 10*insns {
			t.Errorf("the verifier has followed each step of the paths: %d instructions of %d", n, insns)
		}
	}
	return c
}

func kernelTypes(t *testing.T) *kernel.BTF {
	t.Helper()
	need.Loading(t)
	btf, err := kernel.OpenBTF()
	if err != nil {
		t.Skipf("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux): %v", err)
	}
	return btf
}

// pathProgram sends the paths that the expressions make.
func pathProgram(t *testing.T, btf *kernel.BTF, o Options, paths ...*tree.Expr) func(args ...uint64) []string {
	t.Helper()
	var names []string
	var ts []types.Type
	for i, e := range paths {
		names, ts = append(names, fmt.Sprint("path", i)), append(ts, e.Type)
	}
	u := &tree.Unit{
		Records:  []*wire.Record{layout.Record(0, 0, names, ts)},
		Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, paths...))},
	}
	c := loadPaths(t, u, btf, o)
	r := newRing(t, c.Maps[MapRing])
	return func(args ...uint64) []string {
		run(t, c, args...)
		rec := r.next(t)
		var out []string
		for _, f := range u.Records[0].Fields {
			out = append(out, recordString(f.Type.Off, rec))
		}
		return out
	}
}

// ownThread keeps the test on one thread with a root or mounts of its own. The
// thread ends with the test.
func ownThread(t *testing.T, unshare int) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unshare); err != nil {
		t.Skipf("needs CAP_SYS_ADMIN for unshare(2): %v", err)
	}
}

func open(t *testing.T, name string, flags int) int {
	t.Helper()
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o600)
	return made(t, "open "+name)(fd, err)
}

// made gives the descriptor that a system call made.
func made(t *testing.T, what string) func(fd int, err error) int {
	return func(fd int, err error) int {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
}

func makeDir(t *testing.T, name string) string {
	t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// shown is what /proc says of a descriptor.
func shown(t *testing.T, fd int) string {
	t.Helper()
	s, err := os.Readlink(fmt.Sprintf("/proc/thread-self/fd/%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const createFile = unix.O_CREAT | unix.O_RDWR

// namedFiles are files in folders.
func namedFiles(t *testing.T) map[string]int {
	t.Helper()
	dir := t.TempDir()
	deep := makeDir(t, filepath.Join(dir, strings.Repeat("deep/", 24)))
	fds := map[string]int{
		"file": open(t, dir+"/file", createFile), "deleted": open(t, dir+"/deleted", createFile),
		"renamed": open(t, dir+"/old", createFile), "odd": open(t, dir+"/a b\tc…", createFile),
		"deep": open(t, deep+"/leaf", createFile), "folder": open(t, dir, unix.O_RDONLY),
		"root": open(t, "/", unix.O_RDONLY), "null": open(t, "/dev/null", unix.O_RDONLY),
		"proc": open(t, "/proc/self/status", unix.O_RDONLY), "proc root": open(t, "/proc", unix.O_RDONLY),
		"namespace":      open(t, "/proc/self/ns/mnt", unix.O_RDONLY),
		"long namespace": open(t, "/proc/self/ns/pid_for_children", unix.O_RDONLY),
		"place only":     open(t, "/proc/self/fd", unix.O_PATH),
	}
	lost := makeDir(t, dir+"/folder")
	fds["deleted folder"] = open(t, lost, unix.O_RDONLY)
	if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
		fds["no name"] = made(t, "O_TMPFILE")(fd, nil)
	}
	for _, name := range []string{"/deleted", "/folder"} {
		if err := os.Remove(dir + name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(dir+"/old", dir+"/new"); err != nil {
		t.Fatal(err)
	}
	return fds
}

// namelessFiles are files of the kernel's own file systems.
func namelessFiles(t *testing.T) map[string]int {
	t.Helper()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return map[string]int{
		"pipe": made(t, "pipe")(pipe[0], nil), "pipe end": made(t, "pipe")(pipe[1], nil),
		"socket":  made(t, "socket")(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)),
		"tcp":     made(t, "socket")(unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)),
		"memfd":   made(t, "memfd")(unix.MemfdCreate("some memory", unix.MFD_CLOEXEC)),
		"long":    made(t, "memfd")(unix.MemfdCreate(strings.Repeat("m", 200), unix.MFD_CLOEXEC)),
		"eventfd": made(t, "eventfd")(unix.Eventfd(0, unix.EFD_CLOEXEC)),
		"epoll":   made(t, "epoll")(unix.EpollCreate1(unix.EPOLL_CLOEXEC)),
		"inotify": made(t, "inotify")(unix.InotifyInit1(unix.IN_CLOEXEC)),
		"pidfd":   made(t, "pidfd")(unix.PidfdOpen(os.Getpid(), 0)),
	}
}

// TestPath compares with the links of /proc.
func TestPath(t *testing.T) { byEachLoop(t, testPath) }

func testPath(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	file := fileOf(t, btf)
	place := op(tree.OpAdd, types.U64, file, konst(field(t, btf, "file", "f_path")))
	paths := pathProgram(t, btf, o, pathOf("file", 4096, file), pathOf("path", 513, place))
	for _, list := range []map[string]int{namedFiles(t), namelessFiles(t)} {
		for name, fd := range list {
			want := shown(t, fd)
			for _, got := range paths(uint64(fd)) {
				if got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		}
	}
}

// TestPathAbsent: no address is None, one that cannot be read is FAULT.
func TestPathAbsent(t *testing.T) { byEachLoop(t, testPathAbsent) }

func testPathAbsent(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	paths := pathProgram(t, btf, o, pathOf("file", 257, arg(0, types.U64)), pathOf("dentry", 257, arg(0, types.U64)))
	for addr, want := range map[uint64]string{0: "None", 8: "<fault>", 1 << 63: "<fault>"} {
		for _, got := range paths(addr) {
			if got != want {
				t.Errorf("path at %#x: got %q, want %q", addr, got, want)
			}
		}
	}
}

// TestPathCut: what does not fit loses its beginning.
func TestPathCut(t *testing.T) { byEachLoop(t, testPathCut) }

func testPathCut(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	rooms := []int{2, 4, 8, 61, 64, 65, 66, 200, 257, 4096}
	file := fileOf(t, btf)
	dir := t.TempDir()
	many := makeDir(t, filepath.Join(dir, strings.Repeat("a/", 90)))
	names := []string{dir + "/x", dir + "/" + strings.Repeat("n", 255), makeDir(t, dir+"/"+strings.Repeat("d", 255)) +
		"/" + strings.Repeat("e", 255), many + "/y"}
	for n := 40; n < 70; n++ { // every length about the least room, and about 200
		names = append(names, dir+"/"+strings.Repeat("p", n), dir+"/"+strings.Repeat("q", 160-len(dir)+n))
	}
	for _, room := range rooms {
		paths := pathProgram(t, btf, o, pathOf("file", room, file))
		for _, name := range names {
			fd, err := unix.Open(name, createFile|unix.O_CLOEXEC, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			want := cutFront(name, room-1)
			if steps := "…" + strings.Repeat("/a", 79) + "/y"; strings.HasPrefix(name, many) && room > len(steps) {
				want = steps // no more names are followed
			}
			if got := paths(uint64(fd))[0]; got != want {
				t.Errorf("in %d bytes %s is %q, want %q", room, name, got, want)
			}
			unix.Close(fd)
		}
	}
}

// cutFront is the last room bytes of s, of which the mark takes the first.
func cutFront(s string, room int) string {
	const mark = "…"
	switch {
	case len(s) <= room:
		return s
	case room < len(mark):
		return s[len(s)-room:]
	}
	return mark + s[len(s)-room+len(mark):]
}

// TestPathMounts walks over mount points of the thread's own.
func TestPathMounts(t *testing.T) { byEachLoop(t, testPathMounts) }

func testPathMounts(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	ownThread(t, unix.CLONE_NEWNS)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("needs CAP_SYS_ADMIN to change mounts: %v", err)
	}
	file := fileOf(t, btf)
	dentry := follow(file, field(t, btf, "file", "f_path")+field(t, btf, "path", "dentry"))
	paths := pathProgram(t, btf, o, pathOf("file", 257, file), pathOf("dentry", 257, dentry))
	dir := t.TempDir()
	mount := func(source, target, kind string, flags uintptr) string {
		t.Helper()
		if err := unix.Mount(source, makeDir(t, target), kind, flags, ""); err != nil {
			t.Fatalf("mount %s: %v", target, err)
		}
		t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
		return target
	}
	one := mount("none", dir+"/one", "tmpfs", 0)
	two := mount("none", makeDir(t, one+"/sub")+"/two", "tmpfs", 0)
	bound := mount(makeDir(t, two+"/inner"), dir+"/bound", "", unix.MS_BIND)
	gone := mount("none", dir+"/gone", "tmpfs", 0)
	detached := open(t, makeDir(t, gone+"/sub")+"/f", createFile)
	for _, tt := range []struct {
		fd     int
		dentry string
	}{
		{open(t, one, unix.O_RDONLY), "/"}, {open(t, one+"/f", createFile), "/f"},
		{open(t, two+"/f", createFile), "/f"},
		{open(t, bound, unix.O_RDONLY), "/inner"}, {open(t, bound+"/f", createFile), "/inner/f"},
		{detached, "/sub/f"},
	} {
		if tt.fd == detached {
			if err := unix.Unmount(gone, unix.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
		}
		want := shown(t, tt.fd)
		if got := paths(uint64(tt.fd)); got[0] != want || got[1] != tt.dentry {
			t.Errorf("got %q, want %q and %q in its file system", got, want, tt.dentry)
		}
	}
}

// TestPathChroot: the path is that of the whole system, not of the process.
func TestPathChroot(t *testing.T) { byEachLoop(t, testPathChroot) }

func testPathChroot(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	ownThread(t, unix.CLONE_FS)
	paths := pathProgram(t, btf, o, pathOf("file", 257, fileOf(t, btf)))
	dir := makeDir(t, t.TempDir()+"/root/etc")
	want := shown(t, open(t, dir, unix.O_RDONLY)) + "/file"
	if err := unix.Chroot(filepath.Dir(dir)); err != nil {
		t.Skipf("needs CAP_SYS_CHROOT: %v", err)
	}
	if got := paths(uint64(open(t, "/etc/file", createFile)))[0]; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPathAsString uses paths as any other string, in tests and as a key.
func TestPathAsString(t *testing.T) { byEachLoop(t, testPathAsString) }

func testPathAsString(t *testing.T, o Options) {
	t.Helper()
	btf := kernelTypes(t)
	path := pathOf("file", 65, fileOf(t, btf))
	p := present(path)
	u := evaluator(
		op(tree.OpEq, types.Boolean, p, text("/dev/null")), op(tree.OpStartsWith, types.Boolean, p, text("/dev/")),
		op(tree.OpEndsWith, types.Boolean, p, text("/null")), op(tree.OpContains, types.Boolean, p, text("v/n")),
		op(tree.OpMatches, types.Boolean, p, text("/d*/[mn]ull")), op(tree.OpStrLen, types.I64, p),
		op(tree.OpLt, types.Boolean, p, text("/dev/zero")), op(tree.OpEq, types.Boolean, p, p),
		op(tree.OpIsFault, types.Boolean, path), op(tree.OpIsNone, types.Boolean, path),
	)
	c := loadPaths(t, u, btf, o)
	for name, want := range map[string][]int64{
		"/dev/null": {1, 1, 1, 1, 1, 9, 1, 1, 0, 0}, "/dev/zero": {0, 1, 0, 0, 0, 9, 0, 1, 0, 0},
		"/": {0, 0, 0, 0, 0, 1, 1, 1, 0, 0},
	} {
		run(t, c, uint64(open(t, name, unix.O_RDONLY)))
		if got := cells(t, c, len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
