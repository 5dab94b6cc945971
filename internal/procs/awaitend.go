package procs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Waiting for the end of a process of -p (Ending).

// Ending gives a function that blocks until a process has ended, which may be
// no child of this one. It holds a descriptor until then.
func Ending(pid int) (await func(), err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	return func() {
		defer unix.Close(fd)
		for err := error(unix.EINTR); errors.Is(err, unix.EINTR); {
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		}
	}, nil
}
