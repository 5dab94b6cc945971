package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The work tcpmoves: bytes sent by write, sendfile and splice.

// movedByTCP are the bytes that tcpMoves moves: by write and read, by sendfile, and by splice.
var movedByTCP = [3]int{3000, 4000, 5000}

// tcpMoves makes one connection over the loopback, by which one side sends 3000 bytes by write, 4000 of a file by
// sendfile, and 5000 by splice from a pipe. The other side looks at the first twice (MSG_PEEK), reads them and those of
// the file, and takes the last by splice to a pipe. Bytes has how many moved.
func tcpMoves(s settings, args []string) (func() (report, error), error) {
	if len(args) != 0 {
		return nil, errors.New("tcpmoves takes nothing")
	}
	const comm = "wl-tcpmoves"
	return func() (report, error) {
		port := 0
		tids, err := onThreads(1, comm, s.pin, func(int) (err error) {
			port, err = moveByTCP()
			return err
		})
		bytes := movedByTCP[0] + movedByTCP[1] + movedByTCP[2]
		return report{Comm: comm, Calls: 1, Bytes: bytes, TIDs: tids, FDs: map[string]int{"port": port}}, err
	}, nil
}

func moveByTCP() (port int, err error) {
	l, err := listen(unix.AF_INET, 16)
	if err != nil {
		return 0, err
	}
	from, err := l.connect(0)
	if err != nil {
		return 0, err
	}
	to, _, err := unix.Accept(l.fd)
	if err != nil {
		return 0, err
	}
	err = errors.Join(sendByAll(from), takeByAll(to))
	return l.port, errors.Join(err, unix.Close(from), unix.Close(to), unix.Close(l.fd))
}

func sendByAll(to int) error {
	file, err := unix.MemfdCreate("moved", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.Ftruncate(file, int64(movedByTCP[1])); err != nil {
		return err
	}
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		return err
	}
	return errors.Join(
		whole("write", movedByTCP[2], func(rest int) (int, error) { return unix.Write(pipe[1], make([]byte, rest)) }),
		whole("write", movedByTCP[0], func(rest int) (int, error) { return unix.Write(to, make([]byte, rest)) }),
		whole("sendfile", movedByTCP[1], func(rest int) (int, error) { return unix.Sendfile(to, file, nil, rest) }),
		whole("splice", movedByTCP[2], func(rest int) (int, error) {
			n, err := unix.Splice(pipe[0], nil, to, nil, rest, 0)
			return int(n), err
		}), unix.Close(file), unix.Close(pipe[0]), unix.Close(pipe[1]))
}

func takeByAll(from int) error {
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		return err
	}
	for range 2 {
		if _, _, err := unix.Recvfrom(from, make([]byte, movedByTCP[0]), unix.MSG_PEEK); err != nil {
			return err
		}
	}
	return errors.Join(
		whole("read", movedByTCP[0]+movedByTCP[1], func(rest int) (int, error) {
			return unix.Read(from, make([]byte, rest))
		}),
		whole("splice", movedByTCP[2], func(rest int) (int, error) {
			n, err := unix.Splice(from, nil, pipe[1], nil, rest, 0)
			return int(n), err
		}), unix.Close(pipe[0]), unix.Close(pipe[1]))
}

// whole calls move until all bytes are moved.
func whole(call string, rest int, move func(rest int) (int, error)) error {
	for rest > 0 {
		n, err := move(rest)
		if err != nil || n <= 0 {
			return fmt.Errorf("%s: %d bytes are missing: %w", call, rest, err)
		}
		rest -= n
	}
	return nil
}
