package loss

import "testing"

// A CPU keeps up to 128 free entries to itself, so others can find none before all are taken.
func TestSureRoom(t *testing.T) {
	for _, tt := range []struct{ entries, cpus, want int }{
		{16, 1, 16}, {16, 64, 16}, {1000, 1, 1000}, {1000, 4, 616}, {1000, 64, 128}, {65536, 8, 64640},
	} {
		if got := sureRoom(tt.entries, tt.cpus); got != tt.want {
			t.Errorf("%d entries on %d CPUs: %d, want %d", tt.entries, tt.cpus, got, tt.want)
		}
	}
}
