package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The work files: one file of each kind is used.

// files opens, writes, reads and closes one file of each kind, in this order: a regular file in a folder that is known
// by its descriptor only, the same file once it is deleted, a pipe, a memfd and a socket. The sizes of the writes are
// 5, 7, 3, 9 and 4 bytes.
func files(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("files takes a folder")
	}
	folder := filepath.Join(args[0], "inner")
	if err := unix.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", folder, err)
	}
	const comm = "wl-files"
	return func() (report, error) {
		done := report{Comm: comm, FDs: map[string]int{}}
		tids, err := onThreads(1, comm, s.pin, func(int) error { return useFiles(folder, done.FDs) })
		done.TIDs = tids
		return done, err
	}, nil
}

// useFiles notes the descriptors by what they are.
func useFiles(folder string, fds map[string]int) error {
	dir, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	file, err := unix.Openat(dir, "deep file", unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o640)
	if err != nil {
		return err
	}
	fds["folder"], fds["file"] = dir, file
	err = errors.Join(writeTo(file, 5), unix.Unlinkat(dir, "deep file", 0), writeTo(file, 7))
	return errors.Join(err, useOthers(fds), unix.Close(file), unix.Close(dir))
}

func useOthers(fds map[string]int) error {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return err
	}
	mem, err := unix.MemfdCreate("wl-mem", 0)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	fds["pipe"], fds["memory"], fds["socket"] = pipe[1], mem, pair[0]
	err = errors.Join(writeTo(pipe[1], 3), writeTo(mem, 9), writeTo(pair[0], 4))
	buffer := make([]byte, 16)
	if n, readErr := unix.Read(pipe[0], buffer); n != 3 {
		err = errors.Join(err, fmt.Errorf("read %d of 3 bytes from a pipe: %w", n, readErr))
	}
	for _, fd := range []int{pipe[0], pipe[1], mem, pair[0], pair[1]} {
		err = errors.Join(err, unix.Close(fd))
	}
	return err
}

func writeTo(fd, size int) error {
	n, err := unix.Write(fd, make([]byte, size))
	if err == nil && n != size {
		err = fmt.Errorf("wrote %d of %d bytes", n, size)
	}
	return err
}
