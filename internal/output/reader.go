package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Whether what reads the output is gone, and the file of -o made, which may be a pipe that nobody reads.

// A reader is who reads the output, as far as that can be asked.
type reader struct {
	asked time.Time // when it was last asked for, zero before
}

// askEvery is how often the reader is asked for, where nothing is printed.
const askEvery = 100 * time.Millisecond

// gone is the error of a write to an output that nobody reads any more: the other end of a
// pipe, a socket or a terminal is closed. A run that prints only at its end would
// otherwise go on after a lost connection. It asks only now and then.
func (r *reader) gone(w io.Writer) error {
	f, isFile := w.(*os.File)
	if !isFile || time.Since(r.asked) < askEvery {
		return nil
	}
	r.asked = time.Now()
	list := []unix.PollFd{{Fd: int32(f.Fd())}} // errors are told without being asked for
	n, err := unix.Poll(list, 0)
	if err != nil || n == 0 || list[0].Revents&(unix.POLLERR|unix.POLLHUP) == 0 {
		return nil // an interrupted call says nothing
	}
	return &os.PathError{Op: "write", Path: f.Name(), Err: unix.EPIPE}
}

// create creates the file of -o. A pipe that nobody reads would block, or take what is
// written and lose it.
func create(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o666)
	if errors.Is(err, unix.ENXIO) {
		return nil, fmt.Errorf("-o %s: nobody reads this pipe: start what reads it first", file)
	}
	return f, err
}
