package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// The work ringnet: connections accepted by io_uring.

// More of enum io_uring_op, and IORING_ACCEPT_MULTISHOT, of include/uapi/linux/io_uring.h.
const ringAccept, ringListen, ringManyTimes = 13, 57, 1

// ringNet has io_uring listen, with a queue of 7, and accept three connections over the loopback: one by a request of
// its own, two by one request. What the kernel does not have is done by calls, or for the latter by two requests. fds
// has "port", "listen" where io_uring did it and "many" where one request accepted two. It is empty where there is no
// io_uring.
func ringNet(s settings, args []string) (func() (report, error), error) {
	if len(args) != 0 {
		return nil, errors.New("ringnet takes nothing")
	}
	return func() (report, error) {
		done := report{Comm: "wl-ringnet", Calls: 3, FDs: map[string]int{}}
		tids, err := onThreads(1, done.Comm, s.pin, func(int) error {
			r, err := newRing()
			if r == nil || err != nil {
				return err
			}
			return errors.Join(r.accepts(done.FDs), r.close())
		})
		done.TIDs = tids
		return done, err
	}, nil
}

func (r *ring) accepts(fds map[string]int) error {
	l, err := r.listen(fds)
	if err != nil {
		return err
	}
	fds["port"] = l.port
	err = errors.Join(r.acceptsOne(l), r.acceptsMany(l, fds))
	return errors.Join(err, unix.Close(l.fd))
}

// listen has io_uring set a queue of 7 in place of the one that was asked for before.
func (r *ring) listen(fds map[string]int) (listener, error) {
	const queue = 7
	l, err := listen(unix.AF_INET, 1)
	if err != nil {
		return l, err
	}
	_, err = r.one(ringRequest{opcode: ringListen, fd: int32(l.fd), length: queue})
	if errors.Is(err, unix.EINVAL) {
		return l, unix.Listen(l.fd, queue)
	}
	fds["listen"] = 1
	return l, err
}

func (r *ring) acceptsOne(l listener) error {
	from, err := l.connect(0)
	if err != nil {
		return err
	}
	to, err := r.one(ringRequest{opcode: ringAccept, fd: int32(l.fd)})
	return errors.Join(err, unix.Close(from), unix.Close(to))
}

func (r *ring) acceptsMany(l listener, fds map[string]int) error {
	from, err := l.connect(0)
	if err != nil {
		return err
	}
	many := ringRequest{opcode: ringAccept, ioprio: ringManyTimes, fd: int32(l.fd), userData: 5}
	if err := r.submit(many); err != nil {
		return err
	}
	results, err := r.wait(1)
	if err != nil {
		return err
	}
	if results[0] == -int32(unix.EINVAL) {
		return errors.Join(r.acceptsOne(l), r.acceptsOne(l), unix.Close(from))
	}
	fds["many"] = 1
	second, err := l.connect(0)
	if err != nil {
		return err
	}
	more, err := r.wait(1)
	if err != nil {
		return err
	}
	return errors.Join(unix.Close(int(results[0])), unix.Close(int(more[0])), unix.Close(from), unix.Close(second))
}
