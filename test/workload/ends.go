package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The work ends: reads at the end of a file.

// ends moves nothing: it asks the file "empty" of a folder for bytes by read, sendfile, copy_file_range, splice,
// io_uring and AIO, the last two where the kernel has them, else fds has no "ring" or no "aio". The bytes would go to
// the file "other", into which io_uring writes 402 bytes, and AIO 502 and 504.
func ends(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("ends takes a folder")
	}
	if err := os.WriteFile(filepath.Join(args[0], "empty"), nil, 0o600); err != nil {
		return nil, err
	}
	const comm = "wl-ends"
	return func() (report, error) {
		done := report{Comm: comm, FDs: map[string]int{}}
		tids, err := onThreads(1, comm, s.pin, func(int) error { return atTheEnd(args[0], done.FDs) })
		done.TIDs = tids
		return done, err
	}, nil
}

func atTheEnd(dir string, fds map[string]int) error {
	from, err := unix.Open(filepath.Join(dir, "empty"), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	to, err := unix.Open(filepath.Join(dir, "other"), unix.O_CREAT|unix.O_RDWR|unix.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return err
	}
	read, err := unix.Read(from, make([]byte, 100))
	sent, sendErr := unix.Sendfile(to, from, nil, 100)
	copied, copyErr := unix.CopyFileRange(from, nil, to, nil, 100, 0)
	spliced, spliceErr := unix.Splice(from, nil, pipe[1], nil, 100, 0)
	if err := errors.Join(err, sendErr, copyErr, spliceErr); err != nil || read+sent+copied+int(spliced) != 0 {
		return fmt.Errorf("an empty file gave %d, %d, %d and %d bytes: %w", read, sent, copied, spliced, err)
	}
	return errors.Join(byRing(from, to, fds), byAIO(from, to, 502+504, fds), unix.Close(pipe[0]),
		unix.Close(pipe[1]), unix.Close(from), unix.Close(to))
}
