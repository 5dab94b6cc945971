package format

import "testing"

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
