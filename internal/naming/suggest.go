package naming

import "strings"

// Which name a misspelt one was probably meant to be (`did you mean`), and how near it must be.

// Suggest gives the candidate that name was probably meant to be, "" when
// none is near: at most a third of its length in edits, and never more than 3,
// with something left of what was typed. Of those that are equally near it is the first, or the first that name begins.
func Suggest(name string, candidates []string) string {
	best, bestDist := "", min(3, max(1, len(name)/3))+1
	if len(name) > 128 {
		return ""
	}
	for _, c := range candidates {
		most := bestDist // edits that c may take
		if best != "" && strings.HasPrefix(c, name) && !strings.HasPrefix(best, name) {
			most++
		}
		if c == name || len(c)-len(name) >= most || len(name)-len(c) >= most {
			continue
		}
		if d := editDistance(name, c, most); d < most && d < max(len(name), len(c)) {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours (each 1) between bytes; limit or more means at least limit.
func editDistance(a, b string, limit int) int {
	var rows [3][256]int
	if len(b) >= len(rows[0]) {
		return limit
	}
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			low = min(low, d)
		}
		if low >= limit {
			return limit
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
