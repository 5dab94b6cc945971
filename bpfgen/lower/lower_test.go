package lower

import (
	"math"
	"math/bits"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
)

func TestGolden(t *testing.T) {
	irtest.Golden(t, "lower", func(t *testing.T, f *ir.Func) string {
		if err := Run(f, Options{ScratchSite: 7}); err != nil {
			t.Fatal(err)
		}
		return f.String()
	})
}

// TestMacros executes functions before and after they are lowered.
func TestMacros(t *testing.T) {
	values := []int64{0, 1, -1, 2, 3, 7, -7, 8, 100, -100, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt64,
		math.MinInt64}
	for _, body := range []string{
		"v9 = sext v2, 8", "v9 = sext v2, 33", "v9 = zext v2, 16", "v9 = zext v2, 32", "v9 = zext v2, 40",
		"v9 = log2 v2",
		"v9 = floordiv v2, v4", "v9 = floormod v2, v4", "v5 = const 10\n  v9 = floordiv v2, v5",
		"v5 = const 10\n  v9 = floormod v2, v5",
		"v5 = const 16\n  v9 = floordiv v2, v5", "v5 = const 16\n  v9 = floormod v2, v5",
		"v9 = cmp slt v2, v3", "v9 = cmp uge v2, v3",
	} {
		// v4 is v3, or 1 for 0, which is no divisor.
		text := "func \"f\" {\nb0:\n  v1 = ctx\n  v2 = load64 v1 +0\n  v3 = load64 v1 +8\n  v6 = const 1\n" +
			"  br eq v3, 0 -> b1(v6), b1(v3)\nb1(v4):\n  " +
			body + "\n  ret v9\n}\n"
		for _, x := range values {
			for _, y := range values {
				before, after := execute(t, text, x, y, nil), execute(t, text, x, y, &Options{})
				if before != after {
					t.Fatalf("%s of %d, %d: %d, lowered %d", body, x, y, before, after)
				}
				if with := execute(t, text, x, y, &Options{HasLogTable: true}); with != before {
					t.Fatalf("%s of %d, %d: %d, lowered with a table %d", body, x, y, before, with)
				}
			}
		}
	}
}

func execute(t *testing.T, text string, x, y int64, lower *Options) int64 {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if lower != nil {
		if err := Run(f, *lower); err != nil {
			t.Fatal(err)
		}
	}
	m := &irtest.Machine{Ctx: words(x, y), Maps: map[string][]byte{"const": []byte(LogTable())}}
	got, err := m.Run(f)
	if err != nil {
		t.Fatalf("%v in\n%s", err, f)
	}
	return int64(got)
}

func words(list ...int64) []byte {
	var out []byte
	for _, x := range list {
		for range 8 {
			out = append(out, byte(x))
			x >>= 8
		}
	}
	return out
}

func TestLogTable(t *testing.T) {
	table := LogTable()
	for n := range 65 {
		if got := table[logIndex(1<<n-1)]; int(got) != n {
			t.Errorf("2^%d-1: %d", n, got)
		}
	}
	if bits.Len64(1<<63) != int(table[logIndex(math.MaxUint64)]) {
		t.Error("the last word")
	}
}
