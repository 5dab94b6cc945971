package filewatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A folder that is made anew is heard of, as that of a cgroup.

// A Folder tells when a path comes to mean another folder, or none.
type Folder struct {
	path string
	// events tells what becomes of the folders on the way, and fd is its number (see Watch).
	events *os.File
	fd     int
	// is the number of the inode that Next gave last.
	is uint64
}

// WatchFolder begins to watch an absolute path of a folder, which has the number inode.
func WatchFolder(path string, inode uint64) (*Folder, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	f := &Folder{path: path, events: os.NewFile(uintptr(fd), "inotify"), fd: fd, is: inode}
	if err := f.listen(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close ends the watch, and Next, with an error.
func (f *Folder) Close() error { return f.events.Close() }

// Next waits until the path means another folder, and gives the number of its inode, 0 where there is none. It is
// called by one goroutine.
func (f *Folder) Next() (inode uint64, err error) {
	buf := make([]byte, 64<<10)
	for {
		if err := f.listen(); err != nil {
			return 0, err
		}
		if now := inodeOf(f.path); now != f.is {
			f.is = now
			return now, nil
		}
		if _, err := f.events.Read(buf); err != nil {
			return 0, fmt.Errorf("inotify: %w", err)
		}
	}
}

// listen watches all folders on the way, the first ones first: what is made in one of them after that is heard of, and
// what was made before is found. Those that are not there are watched when they come.
func (f *Folder) listen() error {
	for _, folder := range onTheWay(f.path) {
		const heard = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_ONLYDIR
		if _, err := unix.InotifyAddWatch(f.fd, folder, heard); err == unix.ENOSPC {
			return fmt.Errorf("watch %s: %w", folder, err)
		}
	}
	return nil
}

// onTheWay are the folders in which a path lies, from the root on.
func onTheWay(path string) (list []string) {
	for path != "/" && path != "." {
		path = filepath.Dir(path)
		list = append(list, path)
	}
	slices.Reverse(list)
	return list
}

// inodeOf is the number of the folder at a path, 0 where there is none.
func inodeOf(path string) uint64 {
	var at unix.Stat_t
	if err := unix.Stat(path, &at); err != nil || at.Mode&unix.S_IFMT != unix.S_IFDIR {
		return 0
	}
	return at.Ino
}
