package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A ModuleWatch tells when modules are loaded. It listens to what the kernel
// tells udev (lib/kobject_uevent.c): a module announces itself before its own
// code runs, nobody needs a right to hear it, and until then it costs nothing,
// where looking at /sys/module again and again would.
type ModuleWatch struct{ file *os.File }

// kernelEvents is the group of the kernel's own messages; udev's are in 2.
const kernelEvents = 1

// WatchModules begins to listen. In a network namespace of another user namespace
// nothing is heard.
func WatchModules() (*ModuleWatch, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("watch for modules: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelEvents}); err != nil {
		return nil, errors.Join(fmt.Errorf("watch for modules: %w", err), unix.Close(fd))
	}
	return &ModuleWatch{os.NewFile(uintptr(fd), "uevents")}, nil
}

// Next waits for the next module that is being loaded, and gives its name; "" if
// messages were lost: some may have been. It ends with an error when w is closed.
func (w *ModuleWatch) Next() (string, error) {
	buf := make([]byte, 8<<10) // UEVENT_BUFFER_SIZE is 2 KiB
	for {
		n, err := w.file.Read(buf)
		switch {
		case errors.Is(err, unix.ENOBUFS):
			return "", nil
		case err != nil:
			return "", err
		}
		if name, ok := loadedModuleIn(buf[:n]); ok {
			return name, nil
		}
	}
}

// Close ends Next.
func (w *ModuleWatch) Close() error { return w.file.Close() }

// loadedModuleIn reads a message: ACTION@DEVPATH, then lines KEY=VALUE, each ended
// by NUL. The first says all.
func loadedModuleIn(message []byte) (string, bool) {
	head, _, _ := bytes.Cut(message, []byte{0})
	name, ok := strings.CutPrefix(string(head), "add@/module/")
	return name, ok && isFileName(name)
}
