package render

import "unicode/utf8"

// Text padded to a width.

func appendLeft(dst []byte, s string, width int) []byte {
	dst = append(dst, s...)
	return appendSpaces(dst, width-textWidth(s))
}

func appendRight(dst []byte, s string, width int) []byte {
	dst = appendSpaces(dst, width-textWidth(s))
	return append(dst, s...)
}

func appendSpaces(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, ' ')
	}
	return dst
}

// textWidth is the number of columns that s takes on a terminal; wide East
// Asian characters are counted as one.
func textWidth(s string) int { return utf8.RuneCountInString(s) }
