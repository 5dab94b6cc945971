package stream

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// The records in a ring buffer, also damaged ones.

// The header of a record (include/uapi/linux/bpf.h).
const (
	busyBit    = 1 << 31
	discardBit = 1 << 30
	lengthMask = discardBit - 1
	headerSize = 8
)

// ring is a ring buffer in memory: the kernel's, or a test's.
type ring struct {
	consumer *uint64 // ours; programs read it
	producer *uint64 // read only
	data     []byte  // a power of two long, mapped once
	// mask makes an index of data of a position: the length of data less one.
	mask     uint64
	pos      uint64 // the consumer's position, before it is stored; a multiple of 8
	straddle []byte // a copy of a record that wraps at the end of data
}

// A DamageError says that the ring holds what no program can have written. Consumer and Producer are the positions of
// the two ends in bytes, and Length is what the header at Consumer claims, 0 where it was not read.
type DamageError struct {
	Consumer, Producer uint64
	Length             uint32
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("ring buffer is damaged: record of %d bytes at %d, producer at %d", e.Length, e.Consumer,
		e.Producer)
}

func newRing(consumer, producer *uint64, data []byte) *ring {
	return &ring{
		consumer: consumer, producer: producer, data: data,
		mask: uint64(len(data) - 1), pos: atomic.LoadUint64(consumer) &^ 7,
	}
}

// drain calls f with up to limit records that are complete, in the order of the
// ring, and gives their number.
func (r *ring) drain(limit int, f func(rec []byte)) (n int, err error) {
	return r.take(limit, math.MaxUint64, f)
}

// take is drain to the first record behind room bytes. Slices are valid during
// the call only. It stops at a record that a program is still writing: the next
// drain finds it done. Space goes back to the programs once per quarter of the
// ring, because each store of the position costs them a cache miss.
func (r *ring) take(limit int, room uint64, f func(rec []byte)) (n int, err error) {
	producer := atomic.LoadUint64(r.producer)
	if producer-r.pos > uint64(len(r.data)) {
		return 0, &DamageError{Consumer: r.pos, Producer: producer}
	}
	stored, begin := r.pos, r.pos
	// Deferred so that a panic of f does not deliver records twice.
	defer func() { atomic.StoreUint64(r.consumer, r.pos) }()
	for n < limit && r.pos < producer && r.pos-begin < room {
		at := r.pos & r.mask
		header := atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[at])))
		if header&busyBit != 0 {
			break
		}
		length := header & lengthMask
		next := r.pos + headerSize + (uint64(length)+7)&^7
		if next > producer {
			return n, &DamageError{Consumer: r.pos, Producer: producer, Length: length}
		}
		if header&discardBit == 0 {
			f(r.record(at+headerSize, uint64(length)))
			n++
		}
		r.pos = next
		if r.pos-stored > r.mask>>2 {
			atomic.StoreUint64(r.consumer, r.pos)
			stored = r.pos
		}
	}
	return n, nil
}

// record gives the bytes of a record at an offset of data that may be its end.
func (r *ring) record(at, length uint64) []byte {
	at &= r.mask
	if end := at + length; end <= uint64(len(r.data)) {
		return r.data[at:end:end]
	}
	r.straddle = append(r.straddle[:0], r.data[at:]...)
	r.straddle = append(r.straddle, r.data[:length-uint64(len(r.straddle))]...)
	return r.straddle
}

// ready reports whether a record waits that is complete, or was given up.
func (r *ring) ready() bool {
	if atomic.LoadUint64(r.producer) == r.pos {
		return false
	}
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.data[r.pos&r.mask])))&busyBit == 0
}

// empty reports whether nothing waits, complete or not.
func (r *ring) empty() bool { return atomic.LoadUint64(r.producer) == r.pos }
