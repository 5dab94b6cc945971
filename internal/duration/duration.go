// Package duration reads durations as people write them: those of scripts, of flags and of points.
package duration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads durations as 1h30m, 1.5s or 20us: units, the longest, and the message about a wrong one.

// Most is the longest duration in ns, so that a moment and a duration together are one of 64 bits.
const Most = 1 << 62

// ErrTooLong is the error of a longer one.
var ErrTooLong = errors.New("want a duration of at most 146 years")

var units = map[string]float64{
	"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9, "d": 86400e9,
}

// Parse reads "1h30m", "1.5s", "20us", and gives ns. A number needs a unit, except 0.
func Parse(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	total, rest := 0.0, s
	for rest != "" {
		unit := strings.TrimLeft(rest, "0123456789.")
		number := rest[:len(rest)-len(unit)]
		if i := strings.IndexAny(unit, "0123456789."); i >= 0 {
			unit = unit[:i]
		}
		f, err := strconv.ParseFloat(number, 64)
		scale, ok := units[unit]
		if err != nil || !ok {
			return 0, wrong(s)
		}
		total += f * scale
		rest = rest[len(number)+len(unit):]
	}
	if total > Most {
		return 0, fmt.Errorf("got %q, %w", s, ErrTooLong)
	}
	if s == "" {
		return 0, wrong(s)
	}
	return int64(total + 0.5), nil
}

func wrong(s string) error {
	return fmt.Errorf("got %q, want a duration such as 100us, 5ms, 1.5s, 1h30m", s)
}
