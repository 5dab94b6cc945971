package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// moves moves bytes between files by each call that there is for it, each with a number of bytes of its own. What it
// reads is the file "from", what it writes the file "to":
//
//	read 101  pread64 102  readv 103  preadv 104  preadv2 105    of from
//	write 201 pwrite64 202 writev 203 pwritev 204 pwritev2 205   to to
//	copy_file_range 301    sendfile 302    splice 303, by a pipe  from from to to
//	io_uring: a read of 401 bytes of from, a write of 402 to to   where the kernel has it, else fds has no "ring"
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
	err = errors.Join(transfer(from, to), between(from, to), byRing(from, to, fds), byMapping(filepath.Join(dir, "mapped")))
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
		return fmt.Errorf("copied %d, sent %d, spliced %d and %d bytes: %w", copied, sent, in, out, errors.Join(err, sendErr, inErr, outErr))
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

// The numbers of io_uring, of include/uapi/linux/io_uring.h.
const (
	ringRead, ringWrite = 22, 23
	ringSQEs            = 0x10000000
	ringGetEvents       = 1
)

// ringOffsets are where the parts of a queue lie in its memory.
type ringOffsets struct {
	head, tail, mask, entries, flags, dropped, array, resv1 uint32
	address                                                 uint64
}

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFD uint32
	resv                                                               [3]uint32
	sq, cq                                                             ringOffsets
}

// ringRequest is struct io_uring_sqe.
type ringRequest struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	offset        uint64
	address       uint64
	length        uint32
	rwFlags       uint32
	userData      uint64
	_             [3]uint64
}

// byRing makes a request to read and one to write, one after the other. Where the kernel has no io_uring it does nothing.
func byRing(from, to int, fds map[string]int) error {
	var p ringParams
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&p)), 0)
	if errno == unix.ENOSYS || errno == unix.EPERM || errno == unix.EACCES {
		return nil
	}
	if errno != 0 {
		return errno
	}
	ring := int(fd)
	queue, err := unix.Mmap(ring, 0, int(p.sq.array+4*p.sqEntries), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	size := int(unsafe.Sizeof(ringRequest{}))
	requests, err := unix.Mmap(ring, ringSQEs, int(p.sqEntries)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	fds["ring"] = ring
	buffer := make([]byte, 512)
	for i, r := range []ringRequest{{opcode: ringRead, fd: int32(from), length: 401}, {opcode: ringWrite, fd: int32(to), length: 402}} {
		r.address = uint64(uintptr(unsafe.Pointer(&buffer[0])))
		*(*ringRequest)(unsafe.Pointer(&requests[i*size])) = r
		*(*uint32)(unsafe.Pointer(&queue[int(p.sq.array)+4*i])) = uint32(i)
		*(*uint32)(unsafe.Pointer(&queue[p.sq.tail])) = uint32(i + 1)
		if n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, fd, 1, uintptr(i+1), ringGetEvents, 0, 0); n != 1 {
			return fmt.Errorf("io_uring took %d of 1 requests: %w", n, errno)
		}
	}
	return errors.Join(unix.Munmap(requests), unix.Munmap(queue), unix.Close(ring))
}
