package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// The work mounts: file systems mounted and changed by each call.

// mounts makes file systems by the calls that make a mount step by step, in a namespace of its own: one that is mounted
// at DIR with attributes, changed, mounted anew and unmounted, and others each of which fails at another step, or
// because of what is nowhere. Calls are the steps that succeed, Failed those that do not: before 5.12 each change of
// attributes.
func mounts(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("wants a folder")
	}
	const comm = "wl-mounts"
	return func() (done report, err error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			if err := apart(); err != nil {
				return err
			}
			m := &stepByStep{dir: args[0]}
			m.good()
			m.bad()
			done = report{Comm: comm, Calls: m.made, Failed: m.failed}
			return m.err
		})
		done.TIDs = tids
		return done, err
	}, nil
}

// apart gives the thread mounts of its own.
func apart() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return nil
}

// stepByStep counts steps, and keeps the first one that was not as it should be.
type stepByStep struct {
	dir          string
	made, failed int
	err          error
}

// want notes whether a step ended as it should.
func (m *stepByStep) want(step string, got error, want error) {
	switch {
	case !errors.Is(got, want):
		m.err = errors.Join(m.err, fmt.Errorf("%s: %v, want %v", step, got, want))
	case got == nil:
		m.made++
	default:
		m.failed++
	}
}

func (m *stepByStep) good() {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	m.want("fsopen", err, nil)
	m.want("fsconfig", unix.FsconfigSetString(fs, "source", "wl-source"), nil)
	m.want("fsconfig", unix.FsconfigCreate(fs), nil)
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID)
	m.want("fsmount", err, nil)
	m.setattr(mount, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NODEV}, nil)
	m.want("move_mount", unix.MoveMount(mount, "", unix.AT_FDCWD, m.dir, unix.MOVE_MOUNT_F_EMPTY_PATH), nil)
	m.setattr(unix.AT_FDCWD, m.dir, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC,
		Attr_clr: unix.MOUNT_ATTR_NODEV}, nil)
	picked, err := unix.Fspick(unix.AT_FDCWD, m.dir, unix.FSPICK_CLOEXEC)
	m.want("fspick", err, nil)
	m.want("fsconfig", unix.FsconfigSetFlag(picked, "ro"), nil)
	m.want("fsconfig", unix.FsconfigReconfigure(picked), nil)
	m.closed(fs, mount, picked)
	m.want("umount", unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW), nil)
	const magic = 0xc0ed0000 // old programs say so that there are flags
	m.want("mount", unix.Mount("wl-old", m.dir, "tmpfs", magic|unix.MS_NODEV, "size=1m"), nil)
	m.want("umount", unix.Unmount(m.dir, 0), nil)
}

func (m *stepByStep) closed(fds ...int) {
	for _, fd := range fds {
		if err := unix.Close(fd); err != nil {
			m.err = errors.Join(m.err, fmt.Errorf("close: %w", err))
		}
	}
}

func (m *stepByStep) setattr(dir int, path string, flags uint, attr *unix.MountAttr, want error) {
	if err := unix.MountSetattr(dir, path, flags, attr); err != unix.ENOSYS {
		m.want("mount_setattr", err, want)
	} else {
		m.failed++
	}
}

func (m *stepByStep) bad() {
	_, err := unix.Fsopen("wl-none", 0)
	m.want("fsopen", err, unix.ENODEV)
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	m.want("fsopen", err, nil)
	_, err = unix.Fsmount(fs, 0, 0)
	m.want("fsmount", err, unix.EINVAL) // nothing has been created
	m.want("fsconfig", unix.FsconfigSetString(fs, "wl-option", "3"), unix.EINVAL)
	m.want("fsconfig", unix.FsconfigSetFlag(0, "wl-nothing"), unix.EINVAL) // of no file system
	m.want("fsconfig", unix.FsconfigReconfigure(fs), unix.EBUSY)
	m.want("fsconfig", unix.FsconfigCreate(fs), nil)
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	m.want("fsmount", err, nil)
	m.want("move_mount", unix.MoveMount(mount, "", unix.AT_FDCWD, m.dir+"/wl-gone", unix.MOVE_MOUNT_F_EMPTY_PATH),
		unix.ENOENT)
	_, err = unix.OpenTree(unix.AT_FDCWD, m.dir+"/wl-gone", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|
		unix.AT_RECURSIVE)
	m.want("open_tree", err, unix.ENOENT)
	m.setattr(unix.AT_FDCWD, m.dir+"/wl-gone", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}, unix.ENOENT)
	m.want("move_mount", unix.MoveMount(unix.AT_FDCWD, m.dir+"/wl-gone", unix.AT_FDCWD, "/",
		unix.MOVE_MOUNT_F_SYMLINKS|unix.MOVE_MOUNT_T_AUTOMOUNTS), unix.ENOENT)
	m.want("umount", unix.Unmount(m.dir, unix.MNT_EXPIRE|unix.MNT_FORCE), unix.EINVAL)
	m.nowhere()
	m.closed(fs, mount)
}

// nowhere gives calls what is no descriptor and what is no address.
func (m *stepByStep) nowhere() {
	const no, bad = uintptr(1 << 20), uintptr(8)
	here := uintptr(math.MaxUint64 + unix.AT_FDCWD + 1)
	call := func(step string, number, a, b, c, d, e uintptr, errors ...error) {
		_, _, err := unix.Syscall6(number, a, b, c, d, e, 0)
		m.want(step, err, errors[max(slices.Index(errors, error(err)), 0)])
	}
	call("fsopen", unix.SYS_FSOPEN, bad, 0, 0, 0, 0, unix.EFAULT)
	call("fsconfig", unix.SYS_FSCONFIG, no, unix.FSCONFIG_CMD_CREATE, 0, 0, 0, unix.EBADF)
	call("fsconfig", unix.SYS_FSCONFIG, no, unix.FSCONFIG_CMD_RECONFIGURE, 0, 0, 0, unix.EBADF)
	call("fsmount", unix.SYS_FSMOUNT, no, 0, unix.MOUNT_ATTR_NOEXEC, 0, 0, unix.EBADF)
	call("fsmount", unix.SYS_FSMOUNT, 0, 0, 0, 0, 0, unix.EINVAL)
	call("move_mount", unix.SYS_MOVE_MOUNT, here, bad, here, bad, unix.MOVE_MOUNT_T_SYMLINKS, unix.EFAULT)
	call("fspick", unix.SYS_FSPICK, here, bad, unix.FSPICK_NO_AUTOMOUNT, 0, 0, unix.EFAULT)
	call("open_tree", unix.SYS_OPEN_TREE, here, bad, unix.OPEN_TREE_CLONE, 0, 0, unix.EFAULT)
	call("mount_setattr", unix.SYS_MOUNT_SETATTR, here, bad, 0, bad, 32, unix.EFAULT, unix.ENOSYS)
	call("mount_setattr", unix.SYS_MOUNT_SETATTR, no, bad, 0, 0, 0, unix.EINVAL, unix.ENOSYS)
	const openTreeAttr = 467 // on each architecture
	call("open_tree_attr", openTreeAttr, here, bad, unix.OPEN_TREE_CLONE, bad, 32, unix.EFAULT, unix.ENOSYS)
}
