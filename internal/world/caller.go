package world

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// CallerMayRead reports whether the user who called sudo, or pkexec, could read a file without it. Without these it is
// true: the process itself has read the file. The kernel decides, by a thread of its own that takes on the user and the
// groups, opens the file, and ends.
func CallerMayRead(name string) bool {
	who, err := strconv.Atoi(caller())
	if err != nil || os.Geteuid() != 0 {
		return true
	}
	may := make(chan bool)
	go func() {
		runtime.LockOSThread() // until the goroutine ends, and the thread with it
		may <- readableBy(who, groupsOf(who), name)
	}()
	return <-may
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
	for _, call := range [][3]uintptr{
		{unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0]))},
		{unix.SYS_SETFSGID, uintptr(groups[0])},
		{unix.SYS_SETFSUID, uintptr(uid)}, // gives up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7))
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], 0); errno != 0 {
			return false
		}
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	return unix.Close(fd) == nil
}
