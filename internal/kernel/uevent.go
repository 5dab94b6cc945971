package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Messages of the kernel to udev.

// uevents are what the kernel tells udev (lib/kobject_uevent.c). Nobody needs a right to hear them, and until one
// comes they cost nothing. In a network namespace of another user namespace nothing is heard.
type uevents struct{ file *os.File }

// kernelEvents is the group of the kernel's own messages; udev's are in 2.
const kernelEvents = 1

func listenToKernel() (*uevents, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("listen to what the kernel tells udev: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelEvents}); err != nil {
		return nil, errors.Join(fmt.Errorf("listen to what the kernel tells udev: %w", err), unix.Close(fd))
	}
	return &uevents{os.NewFile(uintptr(fd), "uevents")}, nil
}

// until waits for a message that is wanted. wanted gets its first line, ACTION@DEVPATH, which says all; it is followed
// by lines KEY=VALUE, each ended by NUL. lost: there was no room for messages, some of which may have been wanted.
func (u *uevents) until(wanted func(head string) bool) (lost bool, err error) {
	buf := make([]byte, 8<<10) // UEVENT_BUFFER_SIZE is 2 KiB
	for {
		n, err := u.file.Read(buf)
		switch {
		case errors.Is(err, unix.ENOBUFS):
			return true, nil
		case err != nil:
			return false, err
		}
		head, _, _ := bytes.Cut(buf[:n], []byte{0})
		if wanted(string(head)) {
			return false, nil
		}
	}
}

// Close ends until.
func (u *uevents) Close() error { return u.file.Close() }
