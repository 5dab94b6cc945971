package infer

import "slices"

// Numbers as runs from a first to a last one, for tests of names.

// A run is all the numbers from first to last.
type run struct{ first, last int64 }

// runsOf gives the runs of which numbers consist.
func runsOf(numbers []int64) []run {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var out []run
	for _, n := range numbers {
		if k := len(out) - 1; k >= 0 && out[k].last+1 == n {
			out[k].last = n
		} else {
			out = append(out, run{n, n})
		}
	}
	return out
}
