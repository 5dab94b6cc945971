// Package filewatch tells when the name of a file comes to mean another file, as
// after an upgrade, or when a file is written anew.
package filewatch

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A file that is replaced or written anew is heard of by inotify.

// A Change says of a name that was added what has become of its file.
type Change struct {
	// Path is the name, as it was added.
	Path string
	// Written: it is the same file with other contents. Otherwise another file has the name now, and the one before may
	// still be open or run.
	Written bool
}

// A Watch hears what happens in the folders of names, by inotify(7).
type Watch struct {
	events *os.File
	// fd is that of events: os.File.Fd would make reads block, so that Close does not end them.
	fd int

	mu sync.Mutex
	// files are the names that were added, with what they meant when that was last looked at.
	files map[string]identity
	// folders are what is watched, by the number that the kernel has given it.
	folders map[int32]map[string]bool
	// pending are the changes that Next has still to give.
	pending []Change
}

// An identity tells files from each other, and what is in them from what was.
type identity struct {
	device, inode uint64
	size          int64
	modified      unix.Timespec
}

// New begins a watch of nothing.
func New() (*Watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	return &Watch{events: os.NewFile(uintptr(fd), "inotify"), fd: fd, files: map[string]identity{},
		folders: map[int32]map[string]bool{}}, nil
}

// Close ends the watch, and Next, with an error.
func (w *Watch) Close() error { return w.events.Close() }

// Add begins to watch a name. A second time it does nothing.
func (w *Watch) Add(path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.files[path]; known {
		return nil
	}
	id, err := identify(path)
	if err != nil {
		return err
	}
	if err := w.listen(path); err != nil {
		return err
	}
	w.files[path] = id
	return nil
}

func identify(path string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return identity{}, fmt.Errorf("%s: %w", path, err)
	}
	return identity{st.Dev, st.Ino, st.Size, st.Mtim}, nil
}

// heard is what can give a name another file. What is created is written then, unless it is a link.
const heard = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE

// listen watches the folders in which a change of the name's meaning shows: that of the name, and those of the
// symbolic links on the way. A folder on the way that is replaced by another one is not noticed.
func (w *Watch) listen(path string) error {
	return eachLink(path, func(folder, name string) error {
		wd, err := unix.InotifyAddWatch(w.fd, folder, heard|unix.IN_ONLYDIR)
		if err != nil {
			return fmt.Errorf("watch %s: %w", folder, err)
		}
		if w.folders[int32(wd)] == nil {
			w.folders[int32(wd)] = map[string]bool{}
		}
		w.folders[int32(wd)][name] = true
		return nil
	})
}

// maxLinks is how many symbolic links a path may have (MAXSYMLINKS, linux/namei.h).
const maxLinks = 40

// eachLink calls do with the folder and the name of what the path ends with, and of each symbolic link on the way.
func eachLink(path string, do func(folder, name string) error) error {
	if !filepath.IsAbs(path) {
		path, _ = filepath.Abs(path) // without a current folder it stays as it is, and is not found
	}
	at, rest, links := "/", path, 0
	for {
		name, after, more := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		full := filepath.Join(at, name)
		target, err := os.Readlink(full)
		switch {
		case err == nil && links < maxLinks:
			if err := do(at, name); err != nil {
				return err
			}
			links++
			rest = target + "/" + after
			if rest = strings.TrimRight(rest, "/"); filepath.IsAbs(target) {
				at = "/"
			}
			continue
		case !more || strings.Trim(after, "/") == "":
			return do(at, name)
		}
		at, rest = full, after
	}
}

// Next waits for a change. It is called by one goroutine.
func (w *Watch) Next() (Change, error) {
	buf := make([]byte, 64<<10)
	for {
		w.mu.Lock()
		if len(w.pending) > 0 {
			out := w.pending[0]
			w.pending = w.pending[1:]
			w.mu.Unlock()
			return out, nil
		}
		w.mu.Unlock()
		n, err := w.events.Read(buf)
		if err != nil {
			return Change{}, fmt.Errorf("inotify: %w", err)
		}
		w.take(buf[:n])
	}
}

// take looks at the files again if something that was heard concerns them.
func (w *Watch) take(events []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	concerned := false
	for len(events) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		if size > len(events) {
			break
		}
		name := strings.TrimRight(string(events[unix.SizeofInotifyEvent:size]), "\x00")
		concerned = concerned || w.folders[wd][name] || mask&unix.IN_Q_OVERFLOW != 0
		events = events[size:]
	}
	if concerned {
		w.look()
	}
}

// look compares all names with what they meant before.
func (w *Watch) look() {
	for path, was := range w.files {
		is, err := identify(path)
		if err != nil || is == was || unfinished(path) {
			continue // a name without a file may get one
		}
		w.files[path] = is
		w.pending = append(w.pending, Change{path, is.device == was.device && is.inode == was.inode})
		_ = w.listen(path) // other links; a folder that is gone by now is looked at when it comes
	}
}

// unfinished reports whether a file has no contents yet: whoever creates it writes it next, and closes it.
func unfinished(path string) bool {
	info, err := os.Stat(path)
	return err != nil || !info.Mode().IsRegular() || info.Size() == 0
}
