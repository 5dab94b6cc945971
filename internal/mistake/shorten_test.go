package mistake

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A line of any length is one that can be read, with both of its ends; what is short enough stays as it is.
func TestShorten(t *testing.T) {
	for _, unit := range []string{"x", "é", "…", "\xff"} {
		for _, n := range []int{1, 1000, 5000, 100000} {
			long := "t.star:1:1: " + strings.Repeat(unit, n) + ": no such point\nsecond line\n"
			got := Shorten(long)
			switch {
			case len(long) <= longestLine && got != long:
				t.Errorf("%q %d times was cut", unit, n)
			case len(got) > longestLine+100:
				t.Errorf("%q %d times: %d bytes are left", unit, n, len(got))
			case !strings.HasPrefix(got, "t.star:1:1: "+unit) || !strings.HasSuffix(got, "point\nsecond line\n"):
				t.Errorf("%q %d times lost an end: %q", unit, n, got)
			case utf8.ValidString(unit) && !utf8.ValidString(got):
				t.Errorf("%q %d times: a character was cut", unit, n)
			}
		}
	}
}
