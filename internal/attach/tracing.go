package attach

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
)

// Trampolines (fentry, fexit, lsm) and iterators attached and read, and the message that the kernel puts no trampoline
// there.

// openTrampoline attaches a program to the function that it was loaded for.
func openTrampoline(_ *Loaded, f *tree.Functions, prog *ebpf.Program) ([]spot, error) {
	link, err := bpf.AttachTracing(prog)
	switch {
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.E2BIG):
		return nil, fmt.Errorf("the kernel puts no trampoline at %s, as it does where the function is built without "+
			"a place for probes (not in available_filter_functions), or has as many as it may: %w",
			f.Places[0].Func, err)
	case err != nil:
		return nil, err
	}
	return []spot{{link: link, kind: probePoint}}, nil
}

// runIterator runs an iterator's program for each object that there is now.
// What it sends is in the ring when it returns, or has been taken from it. It stays at no point.
func runIterator(l *Loaded, _ tree.Iterator, prog *ebpf.Program) ([]spot, error) {
	objects, err := bpf.OpenIterator(prog, nil)
	if err != nil {
		return nil, err
	}
	err = l.readThrough(objects)
	if closing := objects.Close(); err == nil {
		err = closing
	}
	return nil, err
}

// sentAtOnce is how many records an iterator sends before the ring is drained:
// few enough that the largest fit. For each a program writes a word, and a read
// ends when its buffer is full.
const sentAtOnce = 64

// readThrough reads to the end: each read runs the program for some objects.
func (l *Loaded) readThrough(objects io.Reader) error {
	var buf [8 * sentAtOnce]byte
	for {
		if err := l.opts.drain(); err != nil {
			return err
		}
		_, err := objects.Read(buf[:])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the iterator: %w", err)
		}
	}
}
