package loading

import "testing"

// Rows take an eighth of what is left, 1 MB at least and 64 MB at most.
func TestChunksForRows(t *testing.T) {
	for left, want := range map[uint64]int{0: 64, 100 << 20: 800, 1 << 62: 4096} {
		if got := chunksForRows(left); got != want {
			t.Errorf("%d bytes: %d chunks, want %d", left, got, want)
		}
	}
}
