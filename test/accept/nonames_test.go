package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// callsOf traces what this process calls by a tool's events, and gives what a handler has printed of the calls.
func callsOf(t *testing.T, load, probe string, calls func()) ended {
	t.Helper()
	needTracing(t)
	r := start(t, script(t, load+"\n"+probe+"\n"+attached), "-p", fmt.Sprint(os.Getpid()))
	r.await(t, "attached")
	calls()
	return r.interrupt(t).ok(t)
}

// A failed execveat without a name has the path of its descriptor; AT_FDCWD is none.
func TestExecutedDescriptor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "noprogram")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	here := unix.AT_FDCWD
	e := callsOf(t, `load("std/execsnoop.star", "executed")`,
		`probe(executed(), lambda e: print("tried", e.file, e.at, e.ret))`, func() {
			for _, fd := range []uintptr{f.Fd(), uintptr(here)} {
				_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, fd, uintptr(unsafe.Pointer(new(byte))), 0, 0,
					unix.AT_EMPTY_PATH, 0)
				if errno != unix.EACCES {
					t.Errorf("executed a file that is no program: %v", errno)
				}
			}
		})
	e.hasLines(t, linesWith(e.stdout, "tried"), []string{"tried  " + name + " -13", "tried  None -13"})
}

// A stat of AT_FDCWD without a name is one of the folder in which it was called. Without AT_EMPTY_PATH it is of
// nothing.
func TestStatsnoopFolder(t *testing.T) {
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	call, ok := kernel.SyscallByName("newfstatat")
	if !ok {
		t.Fatal("no system call newfstatat")
	}
	here := unix.AT_FDCWD
	e := callsOf(t, `load("std/statsnoop.star", "asked")`,
		`probe(asked(), lambda e: printf("asked %q %d\n", e.path, e.err), where = lambda e: e.call == "newfstatat")`,
		func() {
			var buf unix.Stat_t
			for _, flags := range []uintptr{unix.AT_EMPTY_PATH, 0} {
				unix.Syscall6(uintptr(call.Nr), uintptr(here), uintptr(unsafe.Pointer(new(byte))),
					uintptr(unsafe.Pointer(&buf)), flags, 0, 0)
			}
		})
	e.hasLines(t, linesWith(e.stdout, "asked"), []string{fmt.Sprintf("asked %q 0", folder), `asked "" 2`})
}

// A syncfs has a line with what it was called for, a folder, too.
func TestFileslowerSyncfs(t *testing.T) {
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	e := callsOf(t, `load("std/fileslower.star", "slow")`, `probe(slow(0), lambda e: print(e.call, e.result, e.file))`,
		func() {
			if err := unix.Syncfs(int(folder.Fd())); err != nil {
				t.Error(err)
			}
		})
	e.hasLines(t, linesWith(e.stdout, "syncfs"), []string{"syncfs 0 " + folder.Name()})
}
