package stream

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// The reader of a ring, and how often it looks (`DrainInterval`).

// DrainInterval is the time between two drains of an idle or moderately busy
// ring: longer saves CPU, shorter shows events earlier.
const DrainInterval = 5 * time.Millisecond

// A Reader reads the records of a ring buffer map.
type Reader struct {
	ring             *ring
	consumer, mapped []byte // the two mappings
	poll             *poller
	own              *poller // nil: it is another reader's
}

// NewReader maps the ring buffer m, which must stay open until Close. The data
// is mapped once, not twice in a row as usual: that halves the memory that
// counts as ours, and only a record that wraps must be copied.
func NewReader(m *ebpf.Map) (*Reader, error) { return newReader(m, nil) }

// Beside reads a second ring m: a Wait of either reader sleeps on both, and Wake
// ends it. The Reader that was there first is closed last.
func (r *Reader) Beside(m *ebpf.Map) (*Reader, error) { return newReader(m, r.poll) }

func newReader(m *ebpf.Map, shared *poller) (_ *Reader, err error) {
	page, size := os.Getpagesize(), int(m.MaxEntries())
	if m.Type() != ebpf.RingBuf || size < page || size&(size-1) != 0 {
		return nil, fmt.Errorf("a %s of %d bytes is no ring buffer", m.Type(), size)
	}
	r := &Reader{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.consumer, err = unix.Mmap(m.FD(), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map the ring buffer's position: %w", err)
	}
	if r.mapped, err = unix.Mmap(m.FD(), int64(page), page+size, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map the ring buffer: %w", err)
	}
	if shared == nil {
		r.poll, err = newPoller(m.FD())
		r.own = r.poll
	} else {
		r.poll, err = shared, shared.watch(m.FD())
	}
	if err != nil {
		return nil, err
	}
	r.ring = newRing((*uint64)(unsafe.Pointer(&r.consumer[0])), (*uint64)(unsafe.Pointer(&r.mapped[0])),
		r.mapped[page:])
	return r, nil
}

// Drain calls f with up to limit records and gives their number; fewer than
// limit means that nothing complete is left. A record is valid during the
// call of f only. After an error nothing more can be read.
func (r *Reader) Drain(limit int, f func(rec []byte)) (n int, err error) {
	return r.ring.drain(limit, f)
}

// DrainSome is Drain up to about so many bytes of the ring. more reports whether
// records were left for which there was no room.
func (r *Reader) DrainSome(room int, f func(rec []byte)) (more bool, err error) {
	begin := r.ring.pos
	if _, err = r.ring.take(math.MaxInt, uint64(room), f); err != nil {
		return false, err
	}
	return r.ring.pos-begin >= uint64(room) && r.ring.ready(), nil
}

// Empty reports whether the ring holds no record, not even one in the making.
func (r *Reader) Empty() bool { return r.ring.empty() }

// Wait returns after timeout (rounded up to 1 ms), or earlier when a program
// sends a record with BPF_RB_FORCE_WAKEUP or when Wake is called. It may
// return early without a reason. Records alone do not end it: they wait for
// the timed drain.
func (r *Reader) Wait(timeout time.Duration) error { return r.poll.wait(timeout) }

// Watch lets a Wait of this reader end, too, when something comes to another descriptor, until that is closed.
func (r *Reader) Watch(fd int) error {
	if err := r.poll.watch(fd); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// Wake ends the current Wait, or the next one. Any goroutine may call it at
// any time.
func (r *Reader) Wake() error { return r.poll.wake() }

// Close unmaps the ring; the map stays with its owner.
func (r *Reader) Close() error {
	var errs []error
	if r.own != nil {
		errs = append(errs, r.own.close())
	}
	for _, mem := range [][]byte{r.consumer, r.mapped} {
		if mem != nil {
			errs = append(errs, unix.Munmap(mem))
		}
	}
	r.consumer, r.mapped = nil, nil
	r.ring = newRing(new(uint64), new(uint64), make([]byte, 8))
	return errors.Join(errs...)
}
