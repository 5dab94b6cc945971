package format

import (
	"fmt"
	"strings"
)

// Numbers with their nouns, as `1 event`, `2 events`, `a, b and 4 more`.

// plurals are those that do not only end in s; of a noun of several words the last one decides.
var plurals = map[string]string{"process": "processes", "entry": "entries", "loss": "losses", "index": "indexes"}

// Count is a number with its noun: 1 event, 2 events.
func Count[N int | int64 | uint32 | uint64](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, nounFor(n, noun))
}

// Few gives the first few names of a list, and how many more there are: a, b, c and 4 more.
func Few(names []string, shown int) string {
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// nounFor is a noun as it stands behind a number.
func nounFor[N int | int64 | uint32 | uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	last := noun[strings.LastIndexByte(noun, ' ')+1:]
	if many, ok := plurals[last]; ok {
		return strings.TrimSuffix(noun, last) + many
	}
	return noun + "s"
}
