package state

import (
	"math"
	"testing"

	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

func TestOperate(t *testing.T) {
	s, _ := hash(t, 2, 8, 16)
	key := bytesOf(8, 1)
	if done, err := s.Operate(key, 8, value.Times, 5, math.MinInt64, math.MaxInt64); done || err != nil {
		t.Errorf("there is no entry yet: %v, %v", done, err)
	}
	if s.noSwap {
		t.Skip("needs compare-and-exchange (Linux 5.12)")
	}
	var now int64
	for _, step := range []struct {
		op     value.WordOp
		v      int64
		lo, hi int64
		want   int64
	}{
		{value.BitsOr, 6, math.MinInt64, math.MaxInt64, 6}, {value.Times, -7, math.MinInt64, math.MaxInt64, -42},
		{value.BitsAnd, -2, math.MinInt64, math.MaxInt64, -42}, {value.BitsXor, 1, math.MinInt64, math.MaxInt64, -41},
		{value.Times, 2, -40, 0, -41}, {value.Times, 2, 0, 7, -41}, {value.Times, 2, -41, -41, -82},
	} {
		if err := s.AddInt(key, 8, 0); err != nil {
			t.Fatal(err)
		}
		done, err := s.Operate(key, 8, step.op, uint64(step.v), step.lo, step.hi)
		if inside := now >= step.lo && now <= step.hi; done != inside || err != nil {
			t.Errorf("%+v: %v, %v", step, done, err)
		}
		if now = wordOf(t, s, key, 8); now != step.want {
			t.Errorf("%+v: %d", step, now)
		}
	}
	if _, err := s.Operate(key, 12, value.Times, 1, 0, 0); err == nil {
		t.Error("no error at offset 12")
	}
}

func wordOf(t *testing.T, s *table, key []byte, off int) int64 {
	t.Helper()
	val := make([]byte, s.valueLen())
	if ok, err := s.Lookup(key, val); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return int64(first(val[off:]))
}

// No change is lost, and all get their turn, where another program changes the word all the time.
func TestOperateBeside(t *testing.T) {
	s, m := hash(t, 2, 8, 8)
	other := bind(t, m, &wire.Fixed{Size: 8}, 8).(*table)
	key := bytesOf(8, 1)
	if err := s.AddInt(key, 0, 0); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Operate(key, 0, value.BitsXor, 0, math.MinInt64, math.MaxInt64); !done || err != nil {
		if s.noSwap {
			t.Skip("needs compare-and-exchange (Linux 5.12)")
		}
		t.Fatal(done, err)
	}
	const rounds = 5001
	end, added := make(chan struct{}), make(chan int64)
	go func() {
		n := int64(0)
		for {
			select {
			case <-end:
				added <- n
				return
			default:
				if other.AddInt(key, 0, 2) == nil {
					n += 2
				}
			}
		}
	}()
	for range rounds {
		if done, err := s.Operate(key, 0, value.BitsXor, 1, math.MinInt64, math.MaxInt64); !done || err != nil {
			t.Error(done, err)
			break
		}
	}
	close(end)
	if want, got := <-added+rounds%2, wordOf(t, s, key, 0); got != want {
		t.Errorf("%d, want %d", got, want)
	}
}
