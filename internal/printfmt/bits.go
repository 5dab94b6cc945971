package printfmt

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Conversions for sets of bits: `%*pb`, `%*ph`.

// bits are the conversions whose width says how many bits or bytes of an array they print. They are false for an array
// that has fewer.
var bits = map[string]func(b []byte, n int) (string, bool){
	"pb": bitWords, "pbl": bitRanges,
	"ph": inHex(" "), "phC": inHex(":"), "phD": inHex("-"), "phN": inHex(""),
}

// bit reports whether a bit of a set is set, which lies in words of the machine.
func bit(b []byte, i int) bool { return b[byteOf(i)]>>(i%8)&1 != 0 }

// byteOf is in which byte a bit lies. The machines that startrace knows have their lowest byte first.
func byteOf(i int) int { return i / 8 }

// bitWords is a set in words of 32 bits, the highest one first (bitmap_string of the kernel's lib/vsprintf.c). The
// first has as many digits as its bits need.
func bitWords(b []byte, n int) (string, bool) {
	if n < 0 || (n+7)/8 > len(b) {
		return "", false
	}
	var words []string
	for first := (n - 1) / 32 * 32; n > 0 && first >= 0; first -= 32 {
		word, count := uint64(0), min(32, n-first)
		for i := range count {
			if bit(b, first+i) {
				word |= 1 << i
			}
		}
		words = append(words, fmt.Sprintf("%0*x", (count+3)/4, word))
	}
	return strings.Join(words, ","), true
}

// bitRanges is a set as a list: 0-3,5.
func bitRanges(b []byte, n int) (string, bool) {
	if n < 0 || (n+7)/8 > len(b) {
		return "", false
	}
	var ranges []string
	for i := 0; i < n; i++ {
		if !bit(b, i) {
			continue
		}
		last := i
		for last+1 < n && bit(b, last+1) {
			last++
		}
		text := strconv.Itoa(i)
		if last > i {
			text += "-" + strconv.Itoa(last)
		}
		ranges = append(ranges, text)
		i = last
	}
	return strings.Join(ranges, ","), true
}

// inHex is bytes with something between them; the kernel prints 64 at most.
func inHex(between string) func([]byte, int) (string, bool) {
	return func(b []byte, n int) (string, bool) {
		if n <= 0 { // one byte is printed where the width says none
			n = 1
		}
		if n = min(n, 64); n > len(b) {
			return "", false
		}
		return hexOf(b[:n], between), true
	}
}

func hexOf(b []byte, between string) string {
	out := make([]string, len(b))
	for i := range b {
		out[i] = hex.EncodeToString(b[i : i+1])
	}
	return strings.Join(out, between)
}
