package builtins

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// strftime(): the conversions, as `%H`, and what a wrong format gives.

// strftimeCall writes a time of the clock by a format of C: that of the event in a handler, that of the call elsewhere,
// or the one that time= says, in ns as e.time has it.
func strftimeCall(e *Env, c *call) (starlark.Value, error) {
	var f string
	var at starlark.Value
	if err := c.unpack("format", &f, "time?", &at); err != nil {
		return nil, err
	}
	mono := e.Runtime.Now()
	if t, ok := e.Runtime.EventTime(); ok {
		mono = t
	}
	if at == starlark.None || at == value.FAULT { // as labels have it: errno(FAULT) is FAULT
		return at, nil
	}
	if at != nil {
		i, isInt := at.(starlark.Int)
		if !isInt {
			return nil, fmt.Errorf("strftime: got %s, want a time in ns such as e.time", at.Type())
		}
		v, err := c.word(i)
		if err != nil {
			return nil, err
		}
		if mono = int64(v); mono < 0 && i.Sign() > 0 {
			mono = math.MaxInt64 // no clock shows more, nor does a kernel half
		}
	}
	s, err := strftimeOf(f, e.Runtime.Wall(mono))
	return value.OwnAs(s, f), err
}

// strftimeLabel is the label of strftime() in a kernel half, of a monotonic
// time. What is wrong with the format stands in place of the text.
func (e *Env) strftimeLabel(format string) value.LabelFunc {
	return func(v uint64) string {
		s, err := strftimeOf(format, e.Runtime.Wall(int64(v)))
		if err != nil {
			return "<" + err.Error() + ">"
		}
		return s
	}
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

// strftimeOf formats as strftime(3) in the C locale does, and %f gives
// microseconds as Python's does, %L milliseconds, %N nanoseconds.
func strftimeOf(f string, t time.Time) (string, error) {
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
