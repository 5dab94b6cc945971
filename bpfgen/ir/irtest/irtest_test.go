package irtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/ir"
)

func run(t *testing.T, m *Machine, text string) (int64, error) {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return m.Run(f)
}

func TestMacros(t *testing.T) {
	for _, tt := range []struct {
		body string
		want int64
	}{
		{"v1 = const -7\n v2 = const 2\n v3 = floordiv v1, v2", -4},
		{"v1 = const -7\n v2 = const 2\n v3 = floormod v1, v2", 1},
		{"v1 = const 7\n v2 = const -2\n v3 = floordiv v1, v2", -4},
		{"v1 = const 7\n v2 = const -2\n v3 = floormod v1, v2", -1},
		{"v1 = const -9223372036854775808\n v2 = const -1\n v3 = floordiv v1, v2", -9223372036854775808},
		{"v1 = const 255\n v3 = sext v1, 8", -1},
		{"v1 = const -1\n v3 = zext v1, 8", 255},
		{"v1 = const -1\n v3 = log2 v1", 64},
		{"v1 = const 0\n v3 = log2 v1", 0},
		{"v1 = const -1\n v2 = const 1\n v3 = cmp ugt v1, v2", 1},
		{"v1 = scratch +8\n v2 = slot s0 +0\n zero v2, 8\n store8 v2, v2 +1\n copy v1, v2, 8\n v4 = const 3\n" +
			" store8 v1, v4 +0\n v3 = load16 v1 +0", 3},
	} {
		m := &Machine{Scratch: make([]byte, 16)}
		got, err := run(t, m, "func \"f\" {\n slot s0 8\nb0:\n "+tt.body+"\n ret v3\n}\n")
		if err != nil || got != tt.want {
			t.Errorf("%q = %d, %v; want %d", tt.body, got, err, tt.want)
		}
	}
}

func TestMachineErrors(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"v1 = const 0\n v2 = load8 v1 +0\n ret", "no 1 bytes of memory"},
		{"v1 = slot s0 +0\n v2 = load64 v1 +1\n ret", "no 8 bytes of memory"},
		{"v1 = const 0\n v2 = floordiv v1, v1\n ret", "division by 0"},
		{"v1 = mapvalue \"x\" +0\n ret", `no map "x"`},
		{"v1 = call 9999\n ret", "unknown helper"},
		{"jump b1\nb1:\n jump b1", ErrSteps.Error()},
	} {
		_, err := run(t, &Machine{MaxSteps: 100}, "func \"f\" {\n slot s0 8\nb0:\n "+tt.body+"\n}\n")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.body, err, tt.want)
		}
	}
}

// TestRandomIsSound: what Random makes is right, ends, and is the same each
// time.
func TestRandomIsSound(t *testing.T) {
	o := Options{Values: 60, Depth: 3, Live: 8, Atomics: true}
	for seed := range uint64(100) {
		f := Random(seed, o)
		if err := f.CheckMachine(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		if again := Random(seed, o).String(); again != f.String() {
			t.Fatalf("seed %d gives two functions", seed)
		}
		if _, err := NewMachine(nil).Run(f); err != nil || errors.Is(err, ErrSteps) {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
	}
}
