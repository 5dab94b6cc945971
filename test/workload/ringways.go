package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The works rounds and ringways: files used by io_uring.

// More of enum io_uring_op of include/uapi/linux/io_uring.h, and what io_uring_register registers.
const (
	ringFallocate, ringStatx, ringSplice                   = 17, 21, 30
	ringFtruncate, ringReadvFixed, ringWritevFixed         = 55, 60, 61
	ringRegisterBuffers, ringRegisterFiles         uintptr = 0, 2
)

// one makes a request and waits for its end.
func (r *ring) one(request ringRequest) (int, error) {
	results, err := r.do(request)
	if err != nil {
		return -1, err
	}
	if results[0] < 0 {
		return -1, unix.Errno(-results[0])
	}
	return int(results[0]), nil
}

// rounds makes N rounds of requests of the file "mix" of a folder, all with the same number: one to write 100 bytes,
// ten to write 1000, and ten to read 500, which threads of the kernel do. It waits for each of these three groups
// before it makes the next. Calls is the number of requests, 0 where there is no io_uring.
func rounds(s settings, args []string) (func() (report, error), error) {
	if len(args) != 2 {
		return nil, errors.New("rounds takes a number and a folder")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	return func() (report, error) {
		done := report{Comm: "wl-rounds"}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) (err error) {
			done.Calls, err = goRounds(n, filepath.Join(args[1], "mix"))
			return err
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func goRounds(n int, name string) (int, error) {
	r, err := newRing()
	if r == nil || err != nil {
		return 0, err
	}
	file, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	request := func(opcode, flags uint8, length uint32) ringRequest {
		return ringRequest{opcode: opcode, flags: flags, fd: int32(file), address: address(&scratch.bytes),
			length: length}
	}
	ten := func(request ringRequest) (all []ringRequest) {
		for range 10 {
			all = append(all, request)
		}
		return all
	}
	for range n {
		_, oneErr := r.do(request(ringWrite, 0, 100))
		_, writeErr := r.do(ten(request(ringWrite, 0, 1000))...)
		_, readErr := r.do(ten(request(ringRead, ringAsync, 500))...)
		if err := errors.Join(oneErr, writeErr, readErr); err != nil {
			return 0, err
		}
	}
	return n * 21, errors.Join(unix.Close(file), r.close())
}

// ringWays makes requests of io_uring in a folder, one after the other:
//
//	splice     701 bytes of the file "from" into a pipe, and from there into the file "to"
//	skip       a write of 33 bytes of "skipped" that is to have no end of its own, and a request to do nothing
//	direct     an open of the file "direct" into place 0 of the ring's own table of files
//	fixed      a write of 31 bytes of "fixed" and a read of 30, by lists of parts of a registered buffer
//	statx      the attributes of "from", and of "gone", which is not there
//	ftruncate  the length of "sized" is set to 4096
//	fallocate  and room for 8192 bytes made
//
// Those that the kernel has are in fds, which is empty where there is no io_uring.
func ringWays(s settings, args []string) (func() (report, error), error) {
	if len(args) != 1 {
		return nil, errors.New("ringways takes a folder")
	}
	for _, name := range []string{"from", "to", "skipped", "fixed", "sized"} {
		if err := os.WriteFile(filepath.Join(args[0], name), make([]byte, 4096), 0o600); err != nil {
			return nil, err
		}
	}
	return func() (report, error) {
		done := report{Comm: "wl-ringways", FDs: map[string]int{}}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) error {
			r, err := newRing()
			if r == nil || err != nil {
				return err
			}
			return errors.Join(r.ways(args[0], done.FDs), r.close())
		})
		done.TIDs = tids
		return done, err
	}, nil
}

// ways makes the requests. What the kernel does not know fails with EINVAL.
func (r *ring) ways(dir string, fds map[string]int) error {
	ways := map[string]func(dir string) error{
		"splice": r.splice, "skip": r.skip, "direct": r.direct, "fixed": r.fixed, "statx": r.statx,
		"ftruncate": r.ftruncate, "fallocate": r.fallocate,
	}
	var all error
	for name, way := range ways {
		err := way(dir)
		if err == nil {
			fds[name] = 1
		} else if !errors.Is(err, unix.EINVAL) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// with opens a file for a request.
func with(name string, do func(fd int32) error) error {
	fd, err := unix.Open(name, unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(int32(fd)), unix.Close(fd))
}

// anywhere is the offset of what has none, and of a file where it is read or written next.
const anywhere = 1<<64 - 1

func (r *ring) splice(dir string) error {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err != nil {
		return err
	}
	err := with(filepath.Join(dir, "from"), func(fd int32) error {
		_, err := r.one(ringRequest{opcode: ringSplice, fd: int32(pipe[1]), file: fd, offset: anywhere, length: 701})
		return err
	})
	if err != nil {
		return err
	}
	return with(filepath.Join(dir, "to"), func(fd int32) error {
		_, err := r.one(ringRequest{opcode: ringSplice, fd: fd, file: int32(pipe[0]), address: anywhere, length: 701})
		return errors.Join(err, unix.Close(pipe[0]), unix.Close(pipe[1]))
	})
}

// skip waits for one end, that of the request to do nothing, if that to write does not fail.
func (r *ring) skip(dir string) error {
	return with(filepath.Join(dir, "skipped"), func(fd int32) error {
		write := ringRequest{opcode: ringWrite, flags: ringSkip, fd: fd, length: 33, address: address(&scratch.bytes)}
		err := errors.Join(r.submit(write), r.submit(ringRequest{opcode: ringNop}))
		results, waitErr := r.wait(1)
		if err = errors.Join(err, waitErr); err == nil && results[0] < 0 {
			_, err = r.wait(1)
			return errors.Join(unix.Errno(-results[0]), err)
		}
		return err
	})
}

func (r *ring) register(what uintptr, memory unsafe.Pointer, n uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), what, uintptr(memory), n, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (r *ring) direct(dir string) error {
	none := int32(-1)
	if err := r.register(ringRegisterFiles, unsafe.Pointer(&none), 1); err != nil {
		return err
	}
	_, err := r.open(ringRequest{opcode: ringOpenat, rwFlags: unix.O_CREAT | unix.O_RDWR, length: 0o600, file: 1},
		filepath.Join(dir, "direct"))
	return err
}

func (r *ring) fixed(dir string) error {
	whole, parts := &unix.Iovec{Base: &scratch.bytes[0], Len: uint64(len(scratch.bytes))}, &scratch.parts
	if err := r.register(ringRegisterBuffers, unsafe.Pointer(whole), 1); err != nil {
		return err
	}
	*parts = [2]unix.Iovec{{Base: &scratch.bytes[0], Len: 15}, {Base: &scratch.bytes[100], Len: 16}}
	request := ringRequest{opcode: ringWritevFixed, length: 2, address: address(parts)}
	return with(filepath.Join(dir, "fixed"), func(fd int32) error {
		request.fd = fd
		if _, err := r.one(request); err != nil {
			return err
		}
		request.opcode, parts[1].Len = ringReadvFixed, 15
		_, err := r.one(request)
		return err
	})
}

func (r *ring) statx(dir string) error {
	request := ringRequest{opcode: ringStatx, length: unix.STATX_BASIC_STATS, offset: address(&scratch.stat)}
	_, err := r.open(request, filepath.Join(dir, "from"))
	_, goneErr := r.open(request, filepath.Join(dir, "gone"))
	return errors.Join(err, fails(goneErr, unix.ENOENT))
}

func (r *ring) ftruncate(dir string) error {
	return with(filepath.Join(dir, "sized"), func(fd int32) error {
		_, err := r.one(ringRequest{opcode: ringFtruncate, fd: fd, offset: 4096})
		return err
	})
}

func (r *ring) fallocate(dir string) error {
	return with(filepath.Join(dir, "sized"), func(fd int32) error {
		_, err := r.one(ringRequest{opcode: ringFallocate, fd: fd, address: 8192})
		return err
	})
}
