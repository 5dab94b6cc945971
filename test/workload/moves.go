package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The work moves: bytes moved by each call that does so, and sendfile.

// moves moves bytes between files by each call that there is for it, each with a number of bytes of its own. What it
// reads is the file "from", what it writes the file "to":
//
//	read 101  pread64 102  readv 103  preadv 104  preadv2 105    of from
//	write 201 pwrite64 202 writev 203 pwritev 204 pwritev2 205   to to
//	copy_file_range 301    sendfile 302    splice 303, by a pipe  from from to to
//	io_uring: a read of 401 bytes of from, a write of 402 to to   where the kernel has it, else fds has no "ring"
//	AIO: pread 501, pwrite 502, preadv 503, pwritev 504           where the kernel has it, else fds has no "aio"
//
// At the end it stores a byte into each of 3 pages of a mapping of the file "mapped", and syncs it.
func moves(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("moves takes a folder")
	}
	if err := os.WriteFile(filepath.Join(args[0], "from"), make([]byte, 1<<16), 0o600); err != nil {
		return nil, err
	}
	const comm = "wl-moves"
	return func() (report, error) {
		done := report{Comm: comm, FDs: map[string]int{}}
		tids, err := onThreads(1, comm, s.pin, func(int) error { return move(args[0], done.FDs) })
		done.TIDs = tids
		return done, err
	}, nil
}

func move(dir string, fds map[string]int) error {
	from, err := unix.Open(filepath.Join(dir, "from"), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	to, err := unix.Open(filepath.Join(dir, "to"), unix.O_CREAT|unix.O_RDWR|unix.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	fds["from"], fds["to"] = from, to
	err = errors.Join(transfer(from, to), between(from, to), byRing(from, to, fds),
		byAIO(from, to, 501+502+503+504, fds), byMapping(filepath.Join(dir, "mapped")))
	return errors.Join(err, unix.Close(from), unix.Close(to))
}

// transfer reads and writes by the calls that take memory.
func transfer(from, to int) error {
	buffer := func(n int) []byte { return make([]byte, n) }
	vector := func(n int) [][]byte { return [][]byte{make([]byte, 50), make([]byte, n-50)} }
	calls := []func() (int, error){
		func() (int, error) { return unix.Read(from, buffer(101)) },
		func() (int, error) { return unix.Pread(from, buffer(102), 0) },
		func() (int, error) { return unix.Readv(from, vector(103)) },
		func() (int, error) { return unix.Preadv(from, vector(104), 0) },
		func() (int, error) { return unix.Preadv2(from, vector(105), 0, 0) },
		func() (int, error) { return unix.Write(to, buffer(201)) },
		func() (int, error) { return unix.Pwrite(to, buffer(202), 0) },
		func() (int, error) { return unix.Writev(to, vector(203)) },
		func() (int, error) { return unix.Pwritev(to, vector(204), 0) },
		func() (int, error) { return unix.Pwritev2(to, vector(205), 0, 0) },
	}
	for i, call := range calls {
		want := 101 + i%5 + i/5*100
		if n, err := call(); n != want {
			return fmt.Errorf("call %d moved %d of %d bytes: %w", i, n, want, err)
		}
	}
	return nil
}

// between moves bytes by the calls that take two files.
func between(from, to int) error {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return err
	}
	copied, err := unix.CopyFileRange(from, nil, to, nil, 301, 0)
	sent, sendErr := unix.Sendfile(to, from, nil, 302)
	in, inErr := unix.Splice(from, nil, pipe[1], nil, 303, 0)
	out, outErr := unix.Splice(pipe[0], nil, to, nil, 303, 0)
	if copied != 301 || sent != 302 || in != 303 || out != 303 {
		return fmt.Errorf("copied %d, sent %d, spliced %d and %d bytes: %w", copied, sent, in, out,
			errors.Join(err, sendErr, inErr, outErr))
	}
	return errors.Join(unix.Close(pipe[0]), unix.Close(pipe[1]))
}

// byMapping stores a byte into every second of 6 pages of a file that is mapped.
func byMapping(name string) error {
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	size := 6 * os.Getpagesize()
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return err
	}
	memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	err = unix.Madvise(memory, unix.MADV_RANDOM) // no folios of several pages
	for at := 0; at < size; at += 2 * os.Getpagesize() {
		memory[at] = 1
	}
	return errors.Join(err, unix.Msync(memory, unix.MS_SYNC), unix.Munmap(memory), unix.Close(fd))
}

// sendfile sends a file to /dev/null, 64 KB at a time.
func sendfile(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("sendfile takes a file")
	}
	return func() (report, error) {
		done := report{Comm: "wl-sendfile"}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) (err error) {
			done.Calls, done.Bytes, err = sendAll(args[0])
			return err
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func sendAll(name string) (calls, bytes int, err error) {
	from, err := unix.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	to, err := unix.Open("/dev/null", unix.O_WRONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	for {
		n, err := unix.Sendfile(to, from, nil, 1<<16)
		if n <= 0 || err != nil {
			return calls, bytes, errors.Join(err, unix.Close(from), unix.Close(to))
		}
		calls, bytes = calls+1, bytes+n
	}
}
