package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The work unheard: segments that are sent again.

// unheard makes N connections over the loopback whose one side does not hear what the other sends, since a filter drops
// it, until each has sent data again, the first time by a probe for losses. Then one begins that does not hear the
// answer, until it has asked again. FDs has the port of the listening socket, Sizes how often the first segment of the
// last connection was sent again, as the kernel counts it.
func unheard(s settings, args []string) (func() (report, error), error) {
	n, err := numbers(args, 1, 1)
	if err != nil {
		return nil, err
	}
	const comm = "wl-unheard"
	return func() (done report, err error) {
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			l, err := listen(unix.AF_INET, n[0]+1)
			if err != nil {
				return err
			}
			if err := l.dataUnheard(n[0]); err != nil {
				return err
			}
			first, err := l.answerUnheard()
			done = report{Comm: comm, Calls: n[0], FDs: map[string]int{"port": l.port}, Sizes: map[int]int{0: first}}
			return err
		})
		done.TIDs = tids
		return done, err
	}, nil
}

// deaf makes a socket drop what arrives.
func deaf(fd int) error {
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
}

func (l listener) dataUnheard(n int) error {
	for range n {
		from, err := l.connect(0)
		if err != nil {
			return err
		}
		to, _, err := unix.Accept(l.fd)
		if err != nil {
			return err
		}
		if err := errors.Join(deaf(to), unix.SetsockoptInt(from, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)); err != nil {
			return err
		}
		for range 3 {
			if _, err := unix.Write(from, make([]byte, 100)); err != nil {
				return err
			}
		}
		if _, err := sentAgain(from, 1); err != nil {
			return err
		}
		if err := errors.Join(abort(from), unix.Close(to)); err != nil {
			return err
		}
	}
	return nil
}

func (l listener) answerUnheard() (again int, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	if err := deaf(fd); err != nil {
		return 0, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1},
		Port: l.port}); err != unix.EINPROGRESS {
		return 0, fmt.Errorf("connect: %v", err)
	}
	again, err = sentAgain(fd, 1)
	return again, errors.Join(err, unix.Close(fd))
}

// sentAgain waits until a socket has sent again so often, and says how often by then.
func sentAgain(fd, least int) (int, error) {
	for {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil || int(info.Total_retrans) >= least {
			return int(info.Total_retrans), err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// abort closes a connection at once: nothing is sent again.
func abort(fd int) error {
	return errors.Join(unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}),
		unix.Close(fd))
}
