package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The work openways: a file opened in each way.

// The requests of io_uring that open files, of include/uapi/linux/io_uring.h.
const ringOpenat, ringOpenat2 = 18, 28

// ways are the ways to open a file that all architectures have.
var ways = []string{"openat", "openat2", "handle", "ring", "ring2"}

// openWays opens a file of a folder by each way, and tries to open one that is not there. The files are by-openat,
// by-openat2, by-handle, by-ring and by-ring2, the others gone-openat and so on. A handle fails for a number that is no
// descriptor, with EBADF. The calls that take a name fail for an empty one, too. The descriptors are reported by the
// way. Where the kernel has no io_uring or the file system no handles, they are not.
func openWays(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("openways takes a folder")
	}
	for _, way := range ways {
		if err := unix.Mknod(filepath.Join(args[0], "by-"+way), unix.S_IFREG|0o600, 0); err != nil {
			return nil, fmt.Errorf("make by-%s: %w", way, err)
		}
	}
	return func() (report, error) {
		done := report{Comm: "wl-openways", FDs: map[string]int{}}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) error {
			return errors.Join(openByCalls(args[0], done.FDs), openByHandle(args[0], done.FDs),
				openByRing(args[0], done.FDs))
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func openByCalls(dir string, fds map[string]int) error {
	calls := map[string]func(string) (int, error){
		"openat": func(name string) (int, error) { return unix.Openat(unix.AT_FDCWD, name, unix.O_WRONLY, 0) },
		"openat2": func(name string) (int, error) {
			return unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{Flags: unix.O_RDWR})
		},
	}
	for way, call := range calls {
		fd, err := call(filepath.Join(dir, "by-"+way))
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		fds[way] = fd
		if _, err := call(filepath.Join(dir, "gone-"+way)); !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("%s of what is not there: %w", way, err)
		}
		if _, err := call(""); !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("%s of no name: %w", way, err)
		}
	}
	return nil
}

func openByHandle(dir string, fds map[string]int) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(dir, "by-handle"), 0)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return err
	}
	mount, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer mount.Close()
	if fds["handle"], err = unix.OpenByHandleAt(int(mount.Fd()), handle, unix.O_RDONLY); err != nil {
		return err
	}
	_, err = unix.OpenByHandleAt(9999, handle, unix.O_RDONLY)
	return fails(err, unix.EBADF)
}

// openByRing makes a request for each of four names, one after the other. One of them has O_CREAT, for which the kernel
// uses a thread of its own.
func openByRing(dir string, fds map[string]int) error {
	r, err := newRing()
	if r == nil || err != nil {
		return err
	}
	openat := ringRequest{opcode: ringOpenat, rwFlags: unix.O_RDONLY}
	if fds["ring"], err = r.open(openat, filepath.Join(dir, "by-ring")); err != nil {
		return err
	}
	how := &scratch.how
	*how = unix.OpenHow{Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o600}
	openat2 := ringRequest{opcode: ringOpenat2, length: uint32(unsafe.Sizeof(*how)), offset: address(how)}
	if fds["ring2"], err = r.open(openat2, filepath.Join(dir, "by-ring2")); err != nil {
		return err
	}
	*how = unix.OpenHow{Flags: unix.O_RDWR}
	_, err = r.open(openat, filepath.Join(dir, "gone-ring"))
	_, err2 := r.open(openat2, filepath.Join(dir, "gone-ring2"))
	return errors.Join(fails(err, unix.ENOENT), fails(err2, unix.ENOENT), r.close())
}

// open makes a request to open a file, and waits for its end.
func (r *ring) open(request ringRequest, name string) (int, error) {
	text, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	request.fd, request.address = unix.AT_FDCWD, address(text)
	return r.one(request)
}
