package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// fakeRing is a ring in plain memory with the kernel's side of it.
type fakeRing struct {
	*ring
	words    []uint64
	consumed uint64
	produced uint64
}

func newFakeRing(size int) *fakeRing {
	f := &fakeRing{words: make([]uint64, size/8)}
	f.ring = newRing(&f.consumed, &f.produced, unsafe.Slice((*byte)(unsafe.Pointer(&f.words[0])), size))
	return f
}

// reserve adds a record that is busy and gives a function that completes it;
// nil if there is no room.
func (f *fakeRing) reserve(data []byte) func(flags uint32) {
	need := uint64(headerSize + (len(data)+7)&^7)
	pos := atomic.LoadUint64(&f.produced)
	if pos+need-atomic.LoadUint64(&f.consumed) > uint64(len(f.data)) {
		return nil
	}
	header := (*uint32)(unsafe.Pointer(&f.data[pos&f.mask]))
	atomic.StoreUint32(header, uint32(len(data))|busyBit)
	for i, b := range data {
		f.data[(pos+headerSize+uint64(i))&f.mask] = b
	}
	atomic.StoreUint64(&f.produced, pos+need)
	return func(flags uint32) { atomic.StoreUint32(header, uint32(len(data))|flags) }
}

func (f *fakeRing) put(data []byte, flags uint32) bool {
	done := f.reserve(data)
	if done == nil {
		return false
	}
	done(flags)
	return true
}

// take drains all and copies it.
func (f *fakeRing) take(t *testing.T, limit int) [][]byte {
	t.Helper()
	var got [][]byte
	n, err := f.drain(limit, func(rec []byte) { got = append(got, bytes.Clone(rec)) })
	if err != nil || n != len(got) {
		t.Fatalf("drained %d, %v; called %d times", n, err, len(got))
	}
	return got
}

func TestDrainOrderAndWrap(t *testing.T) {
	f := newFakeRing(256)
	r := rand.New(rand.NewPCG(1, 2))
	var want, got [][]byte
	for range 2000 {
		rec := make([]byte, r.IntN(60))
		for i := range rec {
			rec[i] = byte(r.Uint32())
		}
		for !f.put(rec, 0) {
			got = append(got, f.take(t, 3)...)
		}
		want = append(want, rec)
	}
	got = append(got, f.take(t, 100)...)
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatal("records differ")
	}
	if !f.empty() || f.consumed != f.produced {
		t.Error("the ring is not empty")
	}
}

func TestDrainStopsAtBusyAndSkipsDiscarded(t *testing.T) {
	f := newFakeRing(256)
	f.put([]byte("one"), 0)
	f.put([]byte("gone"), discardBit)
	done := f.reserve([]byte("two"))
	f.put([]byte("three"), 0)
	if got := f.take(t, 10); len(got) != 1 || string(got[0]) != "one" {
		t.Fatalf("got %q", got)
	}
	if f.empty() {
		t.Error("empty although a record is in the making")
	}
	done(0)
	if got := f.take(t, 10); len(got) != 2 || string(got[0]) != "two" || string(got[1]) != "three" {
		t.Fatalf("got %q", got)
	}
}

func TestDrainLimit(t *testing.T) {
	f := newFakeRing(256)
	for range 5 {
		f.put([]byte("x"), 0)
	}
	if a, b := len(f.take(t, 3)), len(f.take(t, 3)); a != 3 || b != 2 {
		t.Fatalf("got %d and %d", a, b)
	}
}

// What there is no room for stays in the ring, and is known to be there.
func TestTakeHasRoomOnly(t *testing.T) {
	f := newFakeRing(256)
	for range 5 { // of 16 bytes each
		f.put(make([]byte, 8), 0)
	}
	r := &Reader{ring: f.ring}
	for _, want := range []struct {
		n    int
		more bool
	}{{2, true}, {2, true}, {1, false}, {0, false}} {
		n := 0
		if more, err := r.DrainSome(32, func([]byte) { n++ }); n != want.n || more != want.more || err != nil {
			t.Errorf("%d records, more %v, %v; want %+v", n, more, err, want)
		}
	}
	f.reserve(make([]byte, 8))
	if more, err := r.DrainSome(1, func([]byte) {}); more || err != nil {
		t.Errorf("a record in the making: more %v, %v", more, err)
	}
}

func TestDrainGivesSpaceBackEarly(t *testing.T) {
	f := newFakeRing(1024)
	for f.put(make([]byte, 24), 0) {
	}
	first, n := 0, 0
	if _, err := f.drain(1000, func([]byte) {
		n++
		if first == 0 && atomic.LoadUint64(&f.consumed) != 0 {
			first = n
		}
	}); err != nil {
		t.Fatal(err)
	}
	if first < 8 || first > 10 {
		t.Errorf("position was stored before record %d of %d, want after a quarter", first, n)
	}
}

func TestDrainDamage(t *testing.T) {
	for name, damage := range map[string]func(f *fakeRing){
		"length past the producer": func(f *fakeRing) { f.words[0] = 4000 },
		"length past everything":   func(f *fakeRing) { f.words[0] = lengthMask },
		"producer too far":         func(f *fakeRing) { f.produced += 1 << 20 },
		"producer behind":          func(f *fakeRing) { f.produced = 0; f.pos = 64 },
		"producer inside a header": func(f *fakeRing) { f.produced = 3 },
	} {
		f := newFakeRing(256)
		f.put([]byte("payload"), 0)
		damage(f)
		_, err := f.drain(10, func([]byte) { t.Errorf("%s: delivered", name) })
		var want *DamageError
		if !errors.As(err, &want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestDrainBesideProducer(t *testing.T) {
	f := newFakeRing(4096)
	const total = 20000
	go func() {
		for i := range uint64(total) {
			rec := binary.LittleEndian.AppendUint64(nil, i)
			for !f.put(rec, 0) {
				time.Sleep(time.Microsecond)
			}
		}
	}()
	next := uint64(0)
	for deadline := time.Now().Add(20 * time.Second); next < total; {
		if time.Now().After(deadline) {
			t.Fatalf("only %d records", next)
		}
		_, err := f.drain(64, func(rec []byte) {
			if got := binary.LittleEndian.Uint64(rec); got != next {
				t.Fatalf("got %d, want %d", got, next)
			}
			next++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
