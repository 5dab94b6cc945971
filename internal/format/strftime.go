package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Formats of strftime: the conversions, as `%H`, and what a wrong one gives.

// CheckStrftime says what is wrong with a format of Strftime; nil where nothing is.
func CheckStrftime(f string) error {
	_, err := Strftime(f, time.Time{})
	return err
}

// strftimeGo are the conversions that are a layout of package time.
var strftimeGo = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January",
	'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'Y': "2006",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'z': "-0700", 'Z': "MST", 'j': "002",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'r': "03:04:05 PM",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
}

// Strftime formats as strftime(3) in the C locale does, and %f gives
// microseconds as Python's does, %L milliseconds, %N nanoseconds.
func Strftime(f string, t time.Time) (string, error) {
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			b.WriteByte(f[i])
			continue
		}
		i++
		if layout, ok := strftimeGo[f[i]]; ok {
			b.WriteString(t.Format(layout))
			continue
		}
		s, ok := strftimeSpecial(f[i], t)
		if !ok {
			return "", fmt.Errorf("strftime: unknown conversion %%%c", f[i])
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// strftimeSpecial gives what a letter stands for that Go has no layout of. It gives false for other letters.
func strftimeSpecial(c byte, t time.Time) (string, bool) {
	switch c {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'L':
		return fmt.Sprintf("%03d", t.Nanosecond()/1_000_000), true
	case 'N':
		return fmt.Sprintf("%09d", t.Nanosecond()), true
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return strconv.Itoa(int(t.Weekday())), true
	}
	return "", false
}
