package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// The works tcp, tcp6 and backlog: connections over the loopback.

// tcp makes N connections over the loopback, one after the other. In each the side that connected sends BYTES, which
// the other side receives, and closes first. One more connection is refused. FDs has the port of the listening socket.
func tcp(s settings, args []string) (func() (report, error), error) {
	return tcpOf(unix.AF_INET, s, args)
}

// tcp6 is tcp with sockets of IPv6 for the same addresses of IPv4.
func tcp6(s settings, args []string) (func() (report, error), error) {
	return tcpOf(unix.AF_INET6, s, args)
}

func tcpOf(family int, s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 2, 2)
	if err != nil {
		return nil, err
	}
	if n[1] > 1<<15 {
		return nil, fmt.Errorf("%d bytes may not fit into the buffers of a connection", n[1])
	}
	const comm = "wl-tcp"
	return func() (report, error) {
		port := 0
		tids, err := onThreads(1, comm, s.pin, func(int) (err error) {
			port, err = exchanges(family, n[0], n[1])
			return err
		})
		return report{Comm: comm, Calls: n[0], Bytes: n[1], TIDs: tids, FDs: map[string]int{"port": port}}, err
	}, nil
}

func exchanges(family, n, size int) (port int, err error) {
	l, err := listen(family, 16)
	if err != nil {
		return 0, err
	}
	for range n {
		if err := l.exchange(make([]byte, size)); err != nil {
			return 0, err
		}
	}
	if err := unix.Close(l.fd); err != nil {
		return 0, err
	}
	fd, err := l.connect(0)
	if !errors.Is(err, unix.ECONNREFUSED) {
		return 0, fmt.Errorf("connect to a port without a listener: %v", err)
	}
	return l.port, unix.Close(fd)
}

// backlog listens with the shortest queue and accepts nothing, while N connections begin: of those that find no room in
// the queue the first segment is sent again and again. It ends with its standard input.
func backlog(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	const comm = "wl-backlog"
	return func() (report, error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			l, err := listen(unix.AF_INET, 0)
			if err != nil {
				return err
			}
			for range n[0] {
				if _, err := l.connect(unix.SOCK_NONBLOCK); err != nil && !errors.Is(err, unix.EINPROGRESS) {
					return err
				}
			}
			fmt.Println("port", l.port)
			_, _ = os.Stdin.Read(make([]byte, 1)) // whatever comes, or the end
			return nil
		})
		return report{Comm: comm, Calls: n[0], TIDs: tids}, err
	}, nil
}

// A listener is a listening socket of 127.0.0.1; family is that of its address, AF_INET6 for ::ffff:127.0.0.1, and of
// the sockets that connect to it.
type listener struct{ fd, port, family int }

// address is where the listener is.
func (l listener) address() unix.Sockaddr {
	if l.family == unix.AF_INET6 {
		return &unix.SockaddrInet6{Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}, Port: l.port}
	}
	return &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: l.port}
}

func listen(family, queue int) (l listener, err error) {
	l.family = family
	if l.fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return l, err
	}
	if err := unix.Bind(l.fd, l.address()); err != nil {
		return l, err
	}
	if err := unix.Listen(l.fd, queue); err != nil {
		return l, err
	}
	at, err := unix.Getsockname(l.fd)
	if err != nil {
		return l, err
	}
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		l.port = at.Port
	case *unix.SockaddrInet6:
		l.port = at.Port
	}
	return l, nil
}

// connect gives the socket also where it fails.
func (l listener) connect(flags int) (int, error) {
	fd, err := unix.Socket(l.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
	if err != nil {
		return -1, err
	}
	return fd, unix.Connect(fd, l.address())
}

// exchange is one connection.
func (l listener) exchange(data []byte) error {
	from, err := l.connect(0)
	if err != nil {
		return err
	}
	to, _, err := unix.Accept(l.fd)
	if err != nil {
		return err
	}
	if n, err := unix.Write(from, data); err != nil || n != len(data) {
		return fmt.Errorf("sent %d bytes of %d: %v", n, len(data), err)
	}
	for rest := len(data); rest > 0; {
		n, err := unix.Read(to, data)
		if err != nil || n == 0 {
			return fmt.Errorf("%d bytes are missing: %v", rest, err)
		}
		rest -= n
	}
	return errors.Join(unix.Close(from), unix.Close(to))
}
