package format

import "testing"

func TestFew(t *testing.T) {
	names := []string{"a", "b", "c"}
	for shown, want := range map[int]string{1: "a and 2 more", 2: "a, b and 1 more", 3: "a, b, c", 4: "a, b, c"} {
		if got := Few(names, shown); got != want {
			t.Errorf("%d of %v: %q, want %q", shown, names, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n    uint64
		noun string
		want string
	}{{0, "event", "0 events"}, {1, "event", "1 event"}, {2, "process", "2 processes"},
		{3, "table entry", "3 table entries"}} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("Count(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}
