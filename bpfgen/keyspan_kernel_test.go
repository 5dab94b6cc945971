package bpfgen

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// A keyedSpan is a span whose start and end are run by the test: both take a
// key and a number, and the end sends its own and the start's.
type keyedSpan struct {
	c    *ebpf.Collection
	unit *Unit
	ring *ring
}

// newKeyedSpan loads the span's programs. The key is the number and the name
// of the thread, so that it has more than a word.
func newKeyedSpan(t *testing.T, span *tree.Span, filtered bool) *keyedSpan {
	t.Helper()
	comm := builtin("comm", types.Comm)
	if span.Key.Kind == types.Tuple {
		span.Key = types.TupleOf(types.U64, types.Comm)
	}
	span.Slots = []types.Type{types.U64, types.Comm, types.S32}
	key := func() []*tree.Expr {
		switch span.Key.Kind {
		case types.Tuple:
			return []*tree.Expr{op(tree.OpTuple, span.Key, arg(0, types.U64), comm)}
		case types.Int:
			return []*tree.Expr{op(tree.OpConvert, span.Key, arg(0, types.U64))}
		}
		return nil
	}
	slot := func(n int64) *tree.Expr { return &tree.Expr{Op: tree.OpSpanSlot, Type: span.Slots[n], Int: n} }
	fields := []*tree.Expr{arg(1, types.U64), slot(0), slot(1), slot(2)}
	var ts []types.Type
	for _, f := range fields {
		ts = append(ts, f.Type)
	}
	start := program(nil, stmt(tree.SSpanStart, 0, append(key(), arg(1, types.U64), comm, konst(-5))...))
	end := program(nil, stmt(tree.SSpanEnd, 0, key()...), stmt(tree.SSend, 0, fields...))
	end.Name = "p1"
	if filtered {
		end.Body.Stmts[0].Str = "filtered"
	}
	u := &tree.Unit{
		Spans: []*tree.Span{span}, Programs: []*tree.Program{start, end},
		Records: []*wire.Record{layout.Record(0, 0, []string{"mine", "theirs", "comm", "five"}, ts)},
	}
	s := &keyedSpan{}
	s.c, s.unit = load(t, u, Options{RingSize: 1 << 20})
	s.ring = newRing(t, s.c.Maps[MapRing])
	return s
}

func (s *keyedSpan) run(t *testing.T, program string, key, n uint64) {
	t.Helper()
	ctx := make([]uint64, 12)
	ctx[0], ctx[1] = key, n
	if _, err := s.c.Programs[program].Run(&ebpf.RunOptions{Context: ctx}); err != nil {
		t.Fatal(err)
	}
}

func (s *keyedSpan) start(t *testing.T, key, n uint64) { t.Helper(); s.run(t, "p0", key, n) }

func (s *keyedSpan) end(t *testing.T, key, n uint64) { t.Helper(); s.run(t, "p1", key, n) }

// exec is this thread's having executed a program as thread old.
func (s *keyedSpan) exec(t *testing.T, old int) { t.Helper(); s.run(t, SpanExec, 0, uint64(old)) }

// pair reads what an end sent: its number and the start's.
func (s *keyedSpan) pair(t *testing.T) string {
	t.Helper()
	rec := s.ring.next(t)
	if five := int32(word(rec[16:], 2) >> 32); five != -5 {
		t.Errorf("the slot with -5 has %d", five)
	}
	return fmt.Sprint(word(rec[16:], 0), word(rec[16:], 1))
}

func (s *keyedSpan) want(t *testing.T, pairs []string, losses map[string]int64) {
	t.Helper()
	for _, want := range pairs {
		if got := s.pair(t); got != want {
			t.Errorf("paired %s, want %s", got, want)
		}
	}
	if got := sites(t, s.c, s.unit); fmt.Sprint(got) != fmt.Sprint(losses) {
		t.Errorf("losses %v, want %v", got, losses)
	}
}

func (s *keyedSpan) open(t *testing.T) int {
	t.Helper()
	n := 0
	it := s.c.Maps["span0"].Iterate()
	var k, v []byte
	for it.Next(&k, &v) {
		n++
	}
	return n
}

var keyTypes = map[string]types.Type{"int": types.U32, "tuple": types.TupleOf()}

// TestKeyedSpan pairs starts and ends whose order is mixed, and counts those
// that are alone.
func TestKeyedSpan(t *testing.T) {
	for name, key := range keyTypes {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s := newKeyedSpan(t, &tree.Span{Key: key, Size: 100}, false)
			for k := range uint64(50) {
				s.start(t, k, 100+k)
			}
			var want []string
			for k := range uint64(50) {
				k = 49 - k
				s.end(t, k, 200+k)
				want = append(want, fmt.Sprint(200+k, 100+k))
			}
			s.end(t, 7, 1) // has ended
			s.end(t, 1000, 1)
			s.want(t, want, map[string]int64{"orphan": 2})
			if n := s.open(t); n != 0 {
				t.Errorf("%d entries are left", n)
			}
		})
	}
}

// TestKeyedSpanFiltered: an end without a start is no loss where starts are
// left out on purpose.
func TestKeyedSpanFiltered(t *testing.T) {
	s := newKeyedSpan(t, &tree.Span{Key: types.U32, Size: 10}, true)
	s.end(t, 1, 1)
	s.want(t, nil, map[string]int64{})
}

// TestKeyedSpanAgain: of two starts with a key the last wins, or the first.
func TestKeyedSpanAgain(t *testing.T) {
	for _, first := range []bool{false, true} {
		s := newKeyedSpan(t, &tree.Span{Key: types.U32, Size: 10, First: first}, false)
		s.start(t, 1, 10)
		s.start(t, 1, 11)
		s.start(t, 2, 12)
		s.end(t, 1, 20)
		s.end(t, 2, 21)
		want := []string{"20 11", "21 12"}
		if first {
			want[0] = "20 10"
		}
		s.want(t, want, map[string]int64{"open": 1})
	}
}

// TestKeyedSpanFull: a start without room is counted, and its end has none.
func TestKeyedSpanFull(t *testing.T) {
	s := newKeyedSpan(t, &tree.Span{Key: types.U32, Size: 4}, false)
	for k := range uint64(6) {
		s.start(t, k, k)
	}
	var want []string
	for k := range uint64(6) {
		s.end(t, k, k)
		if k < 4 {
			want = append(want, fmt.Sprint(k, k))
		}
	}
	s.want(t, want, map[string]int64{"spanfull": 2, "orphan": 2})
}

// TestSpanTimeout: a start that is too old does not pair, with a key and by
// thread, and does not win over a later one.
func TestSpanTimeout(t *testing.T) {
	const timeout = 50 * time.Millisecond
	for name, key := range map[string]types.Type{"key": types.U32, "thread": {}} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s := newKeyedSpan(t, &tree.Span{Key: key, Size: 10, Timeout: int64(timeout), First: true}, true)
			s.start(t, 1, 10)
			time.Sleep(2 * timeout)
			s.end(t, 1, 20)
			s.want(t, nil, map[string]int64{"timeout": 1})
			s.end(t, 1, 21) // is gone; ends without a start are not counted here
			s.want(t, nil, map[string]int64{"timeout": 1})
			s.start(t, 1, 11)
			time.Sleep(2 * timeout)
			s.start(t, 1, 12)
			s.end(t, 1, 22)
			s.want(t, []string{"22 12"}, map[string]int64{"timeout": 1, "open": 1})
		})
	}
}

// TestThreadSpanFirst: the first start by thread wins.
func TestThreadSpanFirst(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := newKeyedSpan(t, &tree.Span{Size: 10, First: true}, false)
	s.start(t, 0, 10)
	s.start(t, 0, 11)
	s.end(t, 0, 20)
	s.want(t, []string{"20 10"}, map[string]int64{"open": 1})
}

// TestKeyedSpanThreads starts and ends the same keys in several threads: each
// start has one end, or is counted.
func TestKeyedSpanThreads(t *testing.T) {
	s := newKeyedSpan(t, &tree.Span{Key: types.U32, Size: 100}, false)
	const threads, rounds, keys = 4, 300, 3
	var wg sync.WaitGroup
	for w := range uint64(threads) {
		wg.Go(func() {
			for i := range uint64(rounds) {
				s.start(t, i%keys, w<<32|i)
				s.end(t, i%keys, 0)
			}
		})
	}
	wg.Wait()
	lost := sites(t, s.c, s.unit)
	ended := threads*rounds - int(lost["orphan"]+lost["race"])
	seen := map[string]bool{}
	for range ended {
		p := s.pair(t)
		if seen[p] {
			t.Errorf("start %s ended twice", p)
		}
		seen[p] = true
	}
	if left := s.open(t); ended+int(lost["open"]+lost["race"])+left != threads*rounds {
		t.Errorf("%d ended, %d replaced and %d left of %d starts: losses %v", ended, lost["open"], left, threads*rounds,
			lost)
	}
}
