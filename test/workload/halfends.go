package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The works halfends and toitself: connections that are closed on one side, or begin on both.

// halfEnds makes N connections over the loopback. In each the side that connected sends 10 bytes and then says that
// it sends no more; the other side receives these, sends BYTES and closes; and only after that the first side receives
// them: then its half of the connection is no more than what waits for late segments (TIME_WAIT). FDs has the port of
// the listening socket.
func halfEnds(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 2, 2)
	if err != nil {
		return nil, err
	}
	const comm = "wl-halfends"
	return func() (report, error) {
		port := 0
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			l, err := listen(unix.AF_INET, 16)
			if err != nil {
				return err
			}
			port = l.port
			for range n[0] {
				if err := l.halfClose(make([]byte, n[1])); err != nil {
					return err
				}
			}
			return unix.Close(l.fd)
		})
		return report{Comm: comm, Calls: n[0], Bytes: n[1], TIDs: tids, FDs: map[string]int{"port": port}}, err
	}, nil
}

func (l listener) halfClose(data []byte) error {
	asks, err := l.connect(0)
	if err != nil {
		return err
	}
	answers, _, err := unix.Accept(l.fd)
	if err != nil {
		return err
	}
	write := func(fd int, data []byte) func(int) (int, error) {
		return func(rest int) (int, error) { return unix.Write(fd, data[:rest]) }
	}
	read := func(fd int) func(int) (int, error) {
		return func(rest int) (int, error) { return unix.Read(fd, make([]byte, rest)) }
	}
	return errors.Join(
		whole("write", 10, write(asks, make([]byte, 10))), unix.Shutdown(asks, unix.SHUT_WR),
		whole("read", 10, read(answers)), whole("write", len(data), write(answers, data)), unix.Close(answers),
		whole("read", len(data), read(asks)), unix.Close(asks))
}

// toItself connects N sockets to the addresses that they have themselves: both sides begin at once (simultaneous open).
func toItself(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	const comm = "wl-toitself"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for range n[0] {
				if err := connectToItself(); err != nil {
					return err
				}
			}
			return nil
		})
		return report{Comm: comm, Calls: n[0], TIDs: tids}, err
	}, nil
}

func connectToItself() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, own); err != nil {
		return fmt.Errorf("a socket to itself: %w", err)
	}
	return unix.Close(fd)
}
