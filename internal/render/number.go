package render

import (
	"math"
	"strconv"
	"time"

	"github.com/startrace/startrace/internal/format"
)

// Floats, durations (1.25 ms) and bytes (1.50 MiB) as text, with their units.

// appendFloat writes a computed float for people: whole numbers without a
// fraction, else about four digits.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || abs >= 1e15:
		return appendWhole(dst, f)
	case f == math.Trunc(f), abs >= 1000:
		return strconv.AppendFloat(dst, f, 'f', 0, 64)
	case abs >= 100:
		return strconv.AppendFloat(dst, f, 'f', 1, 64)
	case abs >= 1:
		return strconv.AppendFloat(dst, f, 'f', 2, 64)
	}
	return strconv.AppendFloat(dst, f, 'g', 3, 64)
}

// appendWhole writes a float with all its digits for programs. What is no number, or has no end, is written as print
// writes it.
func appendWhole(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return format.AppendFloat(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// scales are the units of durations, the greatest first.
var scales = [...]struct {
	size time.Duration
	name string
}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}, {1, "ns"}}

// appendDuration writes nanoseconds in the unit that suits: 1.25 ms.
func appendDuration(dst []byte, d time.Duration) []byte {
	for _, s := range scales {
		if d.Abs() >= s.size || s.size == 1 {
			dst = appendFloat(dst, float64(d)/float64(s.size))
			dst = append(dst, ' ')
			return append(dst, s.name...)
		}
	}
	return dst
}

// appendBytes writes a number of bytes in the unit that suits: 1.50 MiB.
func appendBytes(dst []byte, n int64) []byte {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	f, i := float64(n), 0
	for math.Abs(f) >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	dst = appendFloat(dst, f)
	dst = append(dst, ' ')
	return append(dst, units[i]...)
}
