package flags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/startrace/startrace/internal/duration"
	"github.com/startrace/startrace/internal/naming"
)

// Forms of values that several flags have: Number, Time, Choice, Texts; messages that a flag is not known, wants a
// value or is given twice.

// A Set is flags with what takes their values, in the order in which help shows
// them.
type Set struct {
	flags []Flag
	take  []func(w Word) error // of each flag
	given map[string]bool
}

// List are the flags.
func (s *Set) List() []Flag { return s.flags }

// Given reports whether a flag was read.
func (s *Set) Given(name string) bool { return s.given[name] }

// Func adds a flag of which take gets the value.
func (s *Set) Func(f Flag, take func(w Word) error) {
	s.flags, s.take = append(s.flags, f), append(s.take, take)
}

// Switch adds a flag that is on or off.
func (s *Set) Switch(f Flag, to *bool) {
	s.Func(f, func(w Word) (err error) {
		if *to, err = strconv.ParseBool(w.Value); err != nil {
			return fmt.Errorf("--%s: got %q, want true or false", f.Long, w.Value)
		}
		return nil
	})
}

// Choice adds a flag that is on, off, or nil where it is not given.
func (s *Set) Choice(f Flag, to **bool) {
	on := false
	s.Switch(f, &on)
	last := len(s.take) - 1
	take := s.take[last]
	s.take[last] = func(w Word) error {
		*to = &on
		return take(w)
	}
}

// Texts adds a flag that can be given several times.
func (s *Set) Texts(f Flag, to *[]string) {
	s.Func(f, func(w Word) error {
		*to = append(*to, w.Value)
		return nil
	})
}

// Text adds a flag with one value, as Number and Time do. The zero value stands
// for a flag that was not given, so nobody can give it. A flag that has words takes no others.
func (s *Set) Text(f Flag, to *string) {
	s.Func(f, func(w Word) error {
		if len(f.Words) > 0 && !slices.Contains(f.Words, w.Value) {
			return notOf(f, w.Value)
		}
		return set(w, to, w.Value)
	})
}

// notOf is the error for a value that is none of a flag's words.
func notOf(f Flag, got string) error {
	last, hint := len(f.Words)-1, ""
	if near := naming.Suggest(got, f.Words); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return fmt.Errorf("--%s: got %q, want %s or %s%s", f.Long, got, strings.Join(f.Words[:last], ", "), f.Words[last],
		hint)
}

// Int is the number that a text is. Zeros in front of it do not make it octal, as they do not elsewhere on a command
// line; 0x10 and 0o10 are what they say.
func Int(text string) (int64, error) {
	sign, digits := "", text
	if text != "" && strings.Contains("+-", text[:1]) {
		sign, digits = text[:1], text[1:]
	}
	for len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		digits = digits[1:]
	}
	return strconv.ParseInt(sign+digits, 0, 64)
}

// Number adds a flag of a number.
func (s *Set) Number(f Flag, to *int) {
	s.Func(f, func(w Word) error {
		n, err := Int(w.Value)
		if err != nil {
			return fmt.Errorf("--%s: got %q, want a number", f.Long, w.Value)
		}
		return set(w, to, int(n))
	})
}

// Numbers adds a flag of several numbers above 0, with commas between or by giving the flag several times.
func (s *Set) Numbers(f Flag, to *[]int) {
	s.Func(f, func(w Word) error {
		for text := range strings.SplitSeq(w.Value, ",") {
			n, err := Int(strings.TrimSpace(text))
			switch {
			case err != nil:
				return fmt.Errorf("--%s: got %q, want a number, or several as in 12,34", f.Long, w.Value)
			case n <= 0:
				return fmt.Errorf("--%s: got %q, want numbers above 0", f.Long, w.Value)
			}
			if !slices.Contains(*to, int(n)) {
				*to = append(*to, int(n))
			}
		}
		return nil
	})
}

// Time adds a flag of a duration.
func (s *Set) Time(f Flag, to *time.Duration) {
	s.Func(f, func(w Word) error {
		ns, err := duration.Parse(w.Value)
		switch {
		case errors.Is(err, duration.ErrTooLong) || ns > int64(mostTime):
			return fmt.Errorf("--%s: got %q, want at most %dh, which is ten years", f.Long, w.Value, mostTime/time.Hour)
		case err != nil:
			return fmt.Errorf("--%s: %w", f.Long, err)
		}
		return set(w, to, time.Duration(ns))
	})
}

// mostTime is the longest duration that a flag takes: several times as long is a duration, too.
const mostTime = 10 * 365 * 24 * time.Hour

// set sets what has no value yet. One that says nothing, as --pid "$PID" with an
// empty PID does, is refused: the run would be another one.
func set[T comparable](w Word, to *T, v T) error {
	var zero T
	switch {
	case v == zero:
		return fmt.Errorf("--%s: got %q, want a value that is neither empty nor 0", w.Flag.Long, w.Value)
	case *to != zero:
		return Twice(w.Flag)
	}
	*to = v
	return nil
}

// Twice is the error for a flag that is given twice and has one value: the first
// would be lost without a word.
func Twice(f *Flag) error {
	if f.Once == "" {
		return fmt.Errorf("--%s is given twice; give it once", f.Long)
	}
	return fmt.Errorf("--%s is given twice; %s", f.Long, f.Once)
}

// Front reads the flags in front of the first word that is none of them; rest
// begins with that.
func (s *Set) Front(args []string) (rest []string, err error) {
	for w := range Words(args, s.flags) {
		if w.Flag == nil {
			return slices.Concat(w.Args, args[w.Next:]), nil
		}
		if err := s.read(w); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// All reads the flags wherever they stand, and gives the other words.
func (s *Set) All(args []string) (rest []string, err error) {
	for w := range Words(args, s.flags) {
		switch {
		case w.End:
			rest = append(rest, w.Args[1:]...)
		case w.Unknown != "":
			err = s.Unknown(w.Unknown)
		case w.Flag == nil:
			rest = append(rest, w.Args...)
		default:
			err = s.read(w)
		}
		if err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// Among reads the flags among those of somebody else, to whom rest is left: also
// what nobody knows, and --help.
func (s *Set) Among(args []string, others []Flag) (rest []string, err error) {
	for w := range Words(args, slices.Concat(s.flags, others)) {
		if w.Flag == nil || w.Flag.Long == "help" || find(s.flags, w.Flag.is) == nil {
			rest = append(rest, w.Args...)
		} else if err := s.read(w); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// is reports whether two are the same flag.
func (f *Flag) is(other *Flag) bool { return f.Long == other.Long }

// read takes the value of a flag. One that begins with a dash may be the next
// flag, so it is written behind =.
func (s *Set) read(w Word) error {
	name := w.Flag.Long
	switch {
	case w.Lacking:
		return fmt.Errorf("--%s wants a value", name)
	case !w.Inline && !w.Flag.Switch() && len(w.Value) > 1 && w.Value[0] == '-':
		return fmt.Errorf("--%s wants a value; one that begins with - is written --%s=%s", name, name, w.Value)
	}
	if s.given == nil {
		s.given = map[string]bool{}
	}
	s.given[name] = true
	return s.take[slices.IndexFunc(s.flags, func(f Flag) bool { return f.is(w.Flag) })](w)
}

// An UnknownError is a flag that a set does not have.
type UnknownError struct {
	Word string // with its dashes
	Near string // the one that was meant, "" where none is like it
}

func (e *UnknownError) Error() string {
	if e.Near == "" {
		return "unknown flag " + e.Word
	}
	return "unknown flag " + e.Word + " (did you mean " + e.Near + "?)"
}

// Unknown is the error for a flag that is not in the set.
func (s *Set) Unknown(word string) *UnknownError {
	if !strings.HasPrefix(word, "--") {
		return &UnknownError{Word: word[:min(2, len(word))]} // another letter is no near one
	}
	word, _, _ = strings.Cut(word, "=")
	e := &UnknownError{Word: word}
	var names []string
	for _, f := range s.flags {
		names = append(names, f.Long)
	}
	if near := naming.Suggest(strings.TrimLeft(word, "-"), names); near != "" {
		e.Near = "--" + near
	}
	return e
}
