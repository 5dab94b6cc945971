package escape

import (
	"strings"
	"unicode/utf8"
)

// Bytes as text from which they can be had back: \xff.

// Bytes gives s as text for formats that have text only, so that s can be had back:
// a byte that is not UTF-8 is \xff, and where s itself has a backslash before x and two
// hexadecimal digits, the backslash is \x5c. Every \xHH in the outcome stands for the
// byte HH, and different strings have different outcomes.
func Bytes(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, `\x`) {
		return s
	}
	return string(appendByteText(nil, s, func(rune) bool { return false }))
}

// ByteLine is Bytes with each byte of control characters, and of others that act on
// the text around them, as \xHH, too: one line whatever s is.
func ByteLine(s string) string {
	if clean(s) && !strings.Contains(s, `\x`) {
		return s
	}
	return string(appendByteText(nil, s, func(r rune) bool { return r < 0x20 || r == 0x7f || isFormatting(r) }))
}

func appendByteText(dst []byte, s string, escaped func(rune) bool) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || escaped(r) || isHexEscape(s[i:]) {
			for _, c := range []byte(s[i : i+size]) {
				dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
			}
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// isHexEscape reports whether s begins as \xHH.
func isHexEscape(s string) bool {
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' && isHex(s[2]) && isHex(s[3])
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

const hexDigits = "0123456789abcdef"
