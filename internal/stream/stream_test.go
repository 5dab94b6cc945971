package stream

import (
	"slices"
	"testing"
)

func fakeStream(size int) (*Stream, *fakeRing) {
	f := newFakeRing(size)
	return newStream(&Reader{ring: f.ring}), f
}

func TestStreamHoldsOneRound(t *testing.T) {
	s, f := fakeStream(4096)
	var got []uint64
	deliver := func(rec []byte) bool { got = append(got, serialOf(rec)); return true }
	poll := func() {
		t.Helper()
		if more, err := s.Poll(deliver); more || err != nil {
			t.Fatal(more, err)
		}
	}
	now := Now()
	f.put(event(now+1, 1), 0)
	poll()
	if len(got) != 0 {
		t.Fatalf("got %d before its place is certain", got)
	}
	f.put(event(now, 2), 0) // an earlier one that another CPU finished later
	poll()
	if !slices.Equal(got, []uint64{2, 1}) {
		t.Fatalf("got %d", got)
	}
	f.put(event(Now()+1e9, 3), 0)
	poll()
	poll()
	if len(got) != 2 {
		t.Fatalf("got %d: a time to come", got)
	}
	if err := s.Finish(deliver); err != nil || !slices.Equal(got, []uint64{2, 1, 3}) || s.Late() != 0 {
		t.Fatalf("got %d, %v, late %d", got, err, s.Late())
	}
}

func TestStreamManyChunks(t *testing.T) {
	s, f := fakeStream(1 << 20)
	const total = 2*chunk + 100
	for i := range uint64(total) {
		if !f.put(event(i^1, i), 0) { // neighbours are exchanged, also across chunks
			t.Fatal("the ring is too small for the test")
		}
	}
	s.before = Now()
	var got []uint64
	deliver := func(rec []byte) bool { got = append(got, timeOf(rec)); return true }
	polls := 1
	for ; ; polls++ {
		more, err := s.Poll(deliver)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
	}
	if polls != 3 || len(got) != total || !slices.IsSorted(got) {
		t.Errorf("%d polls, %d records, sorted %v", polls, len(got), slices.IsSorted(got))
	}
}

func TestStreamFinishStops(t *testing.T) {
	s, f := fakeStream(4096)
	for i := range uint64(10) {
		f.put(event(i, i), 0)
	}
	n := 0
	if err := s.Finish(func([]byte) bool { n++; return n < 4 }); err != nil || n != 4 {
		t.Errorf("%d calls, %v", n, err)
	}
}

func TestStreamRefusesShortRecords(t *testing.T) {
	s, f := fakeStream(4096)
	f.put([]byte("short"), 0)
	if _, err := s.Poll(func([]byte) bool { return true }); err == nil {
		t.Error("no error")
	}
}
