package builtins

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/starlark/value"
)

// strftime(): its arguments, and its text in user space and as a label.

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
	s, err := format.Strftime(f, e.Runtime.Wall(mono))
	return value.OwnAs(s, f), err
}

// strftimeLabel is the label of strftime() in a kernel half, of a monotonic
// time. What is wrong with the format stands in place of the text.
func (e *Env) strftimeLabel(f string) value.LabelFunc {
	return func(v uint64) string {
		s, err := format.Strftime(f, e.Runtime.Wall(int64(v)))
		if err != nil {
			return "<" + err.Error() + ">"
		}
		return s
	}
}
