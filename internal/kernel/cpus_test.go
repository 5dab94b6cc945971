package kernel

import (
	"slices"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{
		"0":       {0},
		"0-3":     {0, 1, 2, 3},
		"1,4-5,9": {1, 4, 5, 9},
	} {
		if got, err := parseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", "x", "1-", "-2", "3-1", "0-99999999999", "1,,2"} {
		if got, err := parseCPUs(list); err == nil {
			t.Errorf("%q: %v without an error", list, got)
		}
	}
}
