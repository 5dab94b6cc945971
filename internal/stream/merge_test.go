package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// event makes a record of a time with a serial number behind the header.
func event(time, serial uint64) []byte {
	rec := make([]byte, wire.HeaderSize+8+serial%5)
	binary.LittleEndian.PutUint64(rec[wire.HeaderTime:], time)
	binary.LittleEndian.PutUint64(rec[wire.HeaderSize:], serial)
	return rec
}

func timeOf(rec []byte) uint64   { return binary.LittleEndian.Uint64(rec[wire.HeaderTime:]) }
func serialOf(rec []byte) uint64 { return binary.LittleEndian.Uint64(rec[wire.HeaderSize:]) }

func flushed(m *Merger, until uint64) (serials []uint64) {
	m.Flush(until, func(rec []byte) bool {
		serials = append(serials, serialOf(rec))
		return true
	})
	return serials
}

func push(t *testing.T, m *Merger, time, serial uint64) {
	t.Helper()
	if !m.Push(event(time, serial)) {
		t.Fatal("refused")
	}
}

func TestMergeOrdersAndHolds(t *testing.T) {
	var m Merger
	push(t, &m, 30, 1)
	push(t, &m, 10, 2)
	push(t, &m, 20, 3)
	push(t, &m, 20, 4)
	push(t, &m, 99, 5)
	if got := flushed(&m, 30); !slices.Equal(got, []uint64{2, 3, 4, 1}) {
		t.Errorf("got %d", got)
	}
	if m.Held() != 1 || m.Late() != 0 {
		t.Errorf("held %d, late %d", m.Held(), m.Late())
	}
	push(t, &m, 25, 6)
	if got := flushed(&m, 1000); !slices.Equal(got, []uint64{6, 5}) {
		t.Errorf("got %d", got)
	}
	if m.Late() != 1 {
		t.Errorf("late %d, want 1", m.Late())
	}
}

func TestMergeStops(t *testing.T) {
	var m Merger
	for i := range uint64(3) {
		push(t, &m, i, i)
	}
	n := 0
	m.Flush(10, func([]byte) bool { n++; return n < 2 })
	if got := flushed(&m, 10); n != 2 || !slices.Equal(got, []uint64{2}) {
		t.Errorf("%d calls, then %d", n, got)
	}
}

func TestMergeRandom(t *testing.T) {
	for _, jitter := range []uint64{1, 5, 400, 100000} { // the last ones need the sort
		var m Merger
		r := rand.New(rand.NewPCG(jitter, 7))
		var got []uint64
		serial := uint64(0)
		for round := range uint64(20) {
			for i := range uint64(500) {
				push(t, &m, 1000*round+2*i+100000-r.Uint64N(jitter), serial)
				serial++
			}
			m.Flush(1000*round, func(rec []byte) bool { got = append(got, timeOf(rec)); return true })
		}
		m.Flush(^uint64(0), func(rec []byte) bool { got = append(got, timeOf(rec)); return true })
		if !slices.IsSorted(got) || len(got) != int(serial) || m.Late() != 0 {
			t.Errorf("jitter %d: %d of %d records, sorted %v, late %d", jitter, len(got), serial, slices.IsSorted(got),
				m.Late())
		}
	}
}

func TestMergeRefusesShort(t *testing.T) {
	var m Merger
	if m.Push(make([]byte, wire.HeaderSize-1)) {
		t.Error("took a record without a header")
	}
}

func TestMergeDoesNotAllocate(t *testing.T) {
	var m Merger
	rec := event(0, 3)
	round := func() {
		for i := range uint64(1000) {
			binary.LittleEndian.PutUint64(rec[wire.HeaderTime:], i^3)
			m.Push(rec)
		}
		m.Flush(500, func([]byte) bool { return true })
		m.Flush(2000, func([]byte) bool { return true })
	}
	round()
	round()
	if n := testing.AllocsPerRun(20, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMerge(b *testing.B) {
	var m Merger
	rec := event(0, 3)
	for i := range uint64(b.N) {
		binary.LittleEndian.PutUint64(rec[wire.HeaderTime:], i^3)
		m.Push(rec)
		if i%4096 == 4095 {
			m.Flush(i-2048, func([]byte) bool { return true })
		}
	}
}
