package world

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Whether the user who called sudo could read a file, whose text messages may then quote.

// CallerMayRead reports whether the user who called sudo, or pkexec, could read a file without it; and whether one who
// is not root could do so without the capabilities that the program was given (setcap, which troubleshooting.md
// describes). It is true for root itself. The kernel decides, by a thread of its own that takes on the user and the
// groups, or drops the capabilities, opens the file, and ends.
func CallerMayRead(name string) bool {
	who, err := strconv.Atoi(caller())
	if err != nil && os.Geteuid() == 0 {
		return true
	}
	may := make(chan bool)
	go func() {
		runtime.LockOSThread() // until the goroutine ends, and the thread with it
		if os.Geteuid() != 0 {
			may <- withoutCapabilities() == nil && opens(name)
		} else {
			may <- readableBy(who, groupsOf(who), name)
		}
	}()
	return <-may
}

// withoutCapabilities drops those of the calling thread, for good.
func withoutCapabilities() error {
	var none [2]unix.CapUserData // of 64 capabilities
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

func opens(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	return err == nil && f.Close() == nil
}

// caller is the number of the user, as sudo and pkexec give it.
func caller() string {
	if uid := os.Getenv("SUDO_UID"); uid != "" {
		return uid
	}
	return os.Getenv("PKEXEC_UID")
}

// groupsOf are the groups of a user; one that is not known has none.
func groupsOf(uid int) (out []uint32) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil
	}
	list, err := u.GroupIds()
	if err != nil {
		return nil
	}
	for _, text := range list {
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			out = append(out, uint32(n))
		}
	}
	return out
}

// nobody is a group that gives no rights (65534 by convention).
const nobody = 65534

// readableBy changes the user and the groups of the calling thread, for good, and tries to open a file. What it cannot
// change makes the file one that cannot be read.
func readableBy(uid int, groups []uint32, name string) bool {
	if len(groups) == 0 {
		groups = []uint32{nobody}
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0)
	if errno != 0 {
		return false
	}
	for _, call := range [][2]uintptr{
		{unix.SYS_SETFSGID, uintptr(groups[0])},
		{unix.SYS_SETFSUID, uintptr(uid)}, // gives up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7))
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], 0, 0); errno != 0 {
			return false
		}
	}
	return opens(name)
}
