package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The work clones: files that share bytes.

// clonedBytes is the size of the file that clones clones.
const clonedBytes = 100000

// clones clones the bytes of the file "origin" into three others of a folder, whose file system must be able to do
// that: all of them into "whole", 8192 into "range", and those from the 65536th on, to the end, into "tail". At last it
// tries to clone a file of another file system into "whole", which fails.
func clones(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("clones takes a folder")
	}
	if err := os.WriteFile(filepath.Join(args[0], "origin"), make([]byte, clonedBytes), 0o600); err != nil {
		return nil, err
	}
	return func() (report, error) {
		done := report{Comm: "wl-clones", Calls: 4, Failed: 1}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) error { return cloneAll(args[0]) })
		done.TIDs = tids
		return done, err
	}, nil
}

func cloneAll(dir string) error {
	origin, err := unix.Open(filepath.Join(dir, "origin"), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	into := map[string]*unix.FileCloneRange{
		"whole": nil,
		"range": {Src_fd: int64(origin), Src_offset: 4096, Src_length: 8192},
		"tail":  {Src_fd: int64(origin), Src_offset: 65536},
	}
	for _, name := range []string{"whole", "range", "tail"} {
		fd, err := unix.Open(filepath.Join(dir, name), unix.O_CREAT|unix.O_RDWR|unix.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		if part := into[name]; part != nil {
			err = unix.IoctlFileCloneRange(fd, part)
		} else {
			err = errors.Join(unix.IoctlFileClone(fd, origin), cloneNothing(fd))
		}
		if err = errors.Join(err, unix.Close(fd)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return unix.Close(origin)
}

// cloneNothing asks for a clone of what is not on the file's disk.
func cloneNothing(fd int) error {
	foreign, err := unix.Open("/proc/self/status", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	if err := unix.IoctlFileClone(fd, foreign); err != unix.EXDEV {
		return fmt.Errorf("a clone of a file of /proc: %v, want %v", err, unix.EXDEV)
	}
	return unix.Close(foreign)
}
