package memory

import (
	"fmt"
	"strconv"
	"strings"
)

// Sizes as 64M, for --memory: units and the message about a wrong one.

// Parse reads a size such as 64M: a number of bytes, or of K, M, G (each 1024 of the one before).
func Parse(word string) (uint64, error) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(word), "B"), "I")
	shift := 0
	if at := strings.IndexAny(number, "KMG"); at >= 0 && at == len(number)-1 {
		shift = 10 * (1 + strings.IndexByte("KMG", number[at]))
		number = number[:at]
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("got %q, want a size such as 64M or 1G", word)
	}
	if n<<shift < Least {
		return 0, fmt.Errorf("got %s, want at least %s", word, enough(Least))
	}
	return n << shift, nil
}

// enough is a budget that is larger than a size, as Parse reads it.
func enough(size uint64) string {
	mb := uint64(1)
	for mb<<20 < size && mb < 1<<32 {
		mb *= 2
	}
	return fmt.Sprintf("%dM", mb)
}
