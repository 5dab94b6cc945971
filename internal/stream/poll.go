package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Sleep until a program wakes the reader, or a time is over.

// A poller sleeps until a program forces a wake-up, until wake, or for a time.
//
// The ring is watched edge-triggered: a level-triggered epoll would return at
// once while records wait, and there would be a drain for every few of them.
type poller struct {
	epoll, event int
	// mu orders wake and close, so that a late wake does not write to a
	// descriptor that has become another file.
	mu     sync.Mutex
	closed bool
}

func newPoller(ring int) (*poller, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("eventfd: %w", err), unix.Close(epoll))
	}
	p := &poller{epoll: epoll, event: event}
	for _, fd := range []int{ring, event} {
		if err := p.watch(fd); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

// watch adds what ends a sleep. The kernel forgets it when it is closed.
func (p *poller) watch(fd int) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

func (p *poller) wait(timeout time.Duration) error {
	ms := max(0, (timeout+time.Millisecond-1)/time.Millisecond)
	_, err := p.poll(int(min(ms, 1<<30)))
	return err
}

// poll returns how many reasons there are to end a wait, after ms milliseconds
// or when a signal came none.
func (p *poller) poll(ms int) (reasons int, err error) {
	var events [8]unix.EpollEvent
	n, err := unix.EpollWait(p.epoll, events[:], ms)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("epoll_wait: %w", err)
	}
	return n, nil
}

// wake adds to the event counter, each write being a new edge. It need never
// be read: it is full after 2^64-2 calls.
func (p *poller) wake() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	if _, err := unix.Write(p.event, one[:]); err != nil && !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("wake the reader: %w", err)
	}
	return nil
}

func (p *poller) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	return errors.Join(unix.Close(p.epoll), unix.Close(p.event))
}
