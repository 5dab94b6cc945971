package render

import (
	"strconv"
	"strings"
)

// Histograms as text: the lines of buckets with their bars (`barWidth`), and bounds as 2K.

// filled gives the buckets from the first to the last that has values.
func (h *Hist) filled() []Bucket {
	b := h.Buckets
	for len(b) > 0 && b[0].Count == 0 {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1].Count == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// The widths of bpftrace's histograms, which people know by sight.
const (
	barWidth   = 52
	labelWidth = 16
	countWidth = 8
)

// appendHist renders the lines of a histogram:
//
//	[4, 8)               249 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//	[8, 16)                5 |@                                                   |
func appendHist(dst []byte, h *Hist) []byte {
	buckets := h.filled()
	labels, most, width := make([]string, len(buckets)), uint64(0), labelWidth
	suffixes := scaled(buckets)
	for i, b := range buckets {
		labels[i] = b.label(suffixes)
		width = max(width, len(labels[i])+1)
		most = max(most, b.Count)
	}
	digits := max(countWidth, len(strconv.FormatUint(most, 10))+1)
	for i, b := range buckets {
		dst = appendLeft(dst, labels[i], width)
		dst = appendRight(dst, strconv.FormatUint(b.Count, 10), digits)
		bar := int(float64(b.Count) / float64(most) * barWidth)
		dst = append(dst, " |"...)
		dst = append(dst, strings.Repeat("@", bar)...)
		dst = append(dst, strings.Repeat(" ", barWidth-bar)...)
		dst = append(dst, "|\n"...)
	}
	return dst
}

// scaled reports whether bounds are written with K, M …: all that reach 1024
// must be round, else 1K would stand between 768 and 1280.
func scaled(buckets []Bucket) bool {
	for _, b := range buckets {
		if !b.Below && b.Lo >= 1024 && b.Lo%1024 != 0 || !b.Above && b.Hi >= 1024 && b.Hi%1024 != 0 {
			return false
		}
	}
	return true
}

func (b Bucket) label(suffixes bool) string {
	switch {
	case b.Below && b.Above:
		return "(...)"
	case b.Below:
		return "(..., " + b.bound(b.Hi, suffixes) + ")"
	case b.Above:
		return "[" + b.bound(b.Lo, suffixes) + ", ...)"
	case b.Hi == b.Lo+1 && !b.Divided:
		return "[" + b.bound(b.Lo, suffixes) + "]"
	}
	return "[" + b.bound(b.Lo, suffixes) + ", " + b.bound(b.Hi, suffixes) + ")"
}

// bound writes a bound as bpftrace does: 2048 as 2K.
func (b Bucket) bound(v int64, suffixes bool) string {
	negative, n := v < 0 && !b.Unsigned, uint64(v)
	if negative {
		n = -n
	}
	const units = "KMGTPE"
	unit := 0
	for suffixes && n != 0 && n%1024 == 0 && unit < len(units) {
		n /= 1024
		unit++
	}
	s := strconv.FormatUint(n, 10)
	if negative {
		s = "-" + s
	}
	if unit > 0 {
		s += units[unit-1 : unit]
	}
	return s
}
