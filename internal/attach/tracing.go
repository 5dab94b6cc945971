package attach

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// openTrampoline attaches a program to the function that it was loaded for.
func openTrampoline(a *tree.Attach, prog int) ([]point, error) {
	fd, err := bpf.AttachTracing(prog)
	switch {
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.E2BIG):
		return nil, fmt.Errorf("%s has as many trampolines as the kernel allows: %w", a.Places[0].Func, err)
	case err != nil:
		return nil, err
	}
	return []point{{fd: fd, kind: probePoint}}, nil
}

// openIterator runs an iterator's program for each object that there is now.
// What it sends is in the ring when it returns.
func openIterator(prog int) ([]point, error) {
	fd, err := bpf.OpenIterator(prog)
	if err != nil {
		return nil, err
	}
	err = drain(fd)
	if closing := unix.Close(fd); err == nil {
		err = closing
	}
	return nil, err
}

// drain reads to the end: each read runs the program for some objects.
func drain(fd int) error {
	var buf [4096]byte
	for {
		n, err := unix.Read(fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil:
			return fmt.Errorf("read the iterator: %w", err)
		case n == 0:
			return nil
		}
	}
}
