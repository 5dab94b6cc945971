package builtins

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/format"
)

// least= and most= of flag(): ends of numbers, times and texts.

// setRange takes least= and most=, the ends of what a flag accepts: of a number, of a time, of the bytes of a text.
func (f *Flag) setRange(least, most starlark.Value) error {
	for _, end := range []struct {
		name string
		v    starlark.Value
		to   *starlark.Value
	}{{"least", least, &f.Least}, {"most", most, &f.Most}} {
		v := orNone(end.v)
		if v == starlark.None {
			continue
		}
		if f.Switch || len(f.Choices) > 0 {
			return fmt.Errorf("%s: a switch and choices have no range", end.name)
		}
		_, isInt := v.(starlark.Int)
		if _, isFloat := v.(starlark.Float); !isInt && !isFloat {
			return fmt.Errorf("%s: got %s, want a number", end.name, v.Type())
		}
		*end.to = v
	}
	return f.rangeHolds()
}

// rangeHolds refuses a range in which nothing is.
func (f *Flag) rangeHolds() error {
	if f.Least == nil || f.Most == nil {
		return nil
	}
	if above, err := starlark.Compare(syntax.GT, f.Least, f.Most); err != nil || above {
		return fmt.Errorf("least: got %s, want at most %s, which is most", f.Least, f.Most)
	}
	return nil
}

// inRange refuses a value that was written, if it is not between the flag's ends.
func (f *Flag) inRange(v starlark.Value, written string) error {
	size, unit := v, ""
	if s, ok := v.(starlark.String); ok {
		size, unit = starlark.MakeInt(len(s)), " bytes"
		written = format.Count(len(s), "byte")
	} else {
		written = fmt.Sprintf("%q", written)
	}
	outside, err := f.outside(size)
	if err != nil || !outside {
		return err
	}
	switch {
	case f.Most == nil:
		return usagef("%s: got %s, want at least %s%s", f.title(), written, f.endText(f.Least), unit)
	case f.Least == nil:
		return usagef("%s: got %s, want at most %s%s", f.title(), written, f.endText(f.Most), unit)
	}
	return usagef("%s: got %s, want %s to %s%s", f.title(), written, f.endText(f.Least), f.endText(f.Most), unit)
}

// outside reports whether a value is below the least or above the most that the flag takes. NaN, which Starlark orders
// above all numbers, is in no range.
func (f *Flag) outside(v starlark.Value) (bool, error) {
	if x, ok := v.(starlark.Float); ok && math.IsNaN(float64(x)) {
		return f.Least != nil || f.Most != nil, nil
	}
	if f.Least != nil {
		if below, err := starlark.Compare(syntax.LT, v, f.Least); err != nil || below {
			return below, f.noRange(err)
		}
	}
	if f.Most == nil {
		return false, nil
	}
	above, err := starlark.Compare(syntax.GT, v, f.Most)
	return above, f.noRange(err)
}

// noRange says that a flag's type and its range do not go together.
func (f *Flag) noRange(err error) error {
	if err != nil {
		return fmt.Errorf("flag %s: least and most are for numbers, times and texts: %w", f.Name, err)
	}
	return nil
}

// endText writes an end of the range as the flag would be written.
func (f *Flag) endText(v starlark.Value) string {
	if i, ok := v.(starlark.Int); ok && f.Type.Name() == durationName {
		return durationText(i)
	}
	return v.String()
}
