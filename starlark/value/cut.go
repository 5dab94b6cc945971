package value

import "go.starlark.net/starlark"

// Strings that were cut: the mark behind them (`cutMark`), where they were cut.
//
// A string that a kernel half read and that was longer than its room is the
// bytes that were read, to scripts: its length, ==, `in`, hashes and keys are
// those of these bytes. That it was cut is only printed, as a mark.
//
// A starlark.String has no place to say so, and a type of our own would be no
// string to the interpreter's builtins (join, sorted, a dict's keys). So it is
// known by where it lies: the place in memory behind the last byte that was
// read (see marks). A part of a string shares its memory: s[3:] of one that was
// cut ends in the same place, and s[:3] does not. What is copied (JSON and
// back, a text that a script writes itself) knows nothing. What a script puts
// together by +, % and join gets new places (see Joined).
//
//	"/usr/share/do" read of "/usr/share/doc/x", in a buffer of its own:
//
//	NUL  / u s r / s h a r e / d o  … (three bytes)
//	     ^ s                        ^ the place: within the buffer, whatever lies behind it

// cutMark is printed where a string was cut.
const cutMark = "…"

// Cut makes the string of b that knows that there was more.
func Cut(b []byte) starlark.String { return marked(string(b), marks{cuts: []int{len(b)}}) }

// cutsOf gives the offsets in s before which it was cut; len(s) is its end.
func cutsOf(s string) []int {
	if cutStrings.Load() == 0 {
		return nil
	}
	return noted.of(s).cuts
}

// IsCut reports whether there was more behind the last byte of s.
func IsCut(s string) bool {
	offsets := cutsOf(s)
	return len(offsets) > 0 && offsets[len(offsets)-1] == len(s)
}

func wasCut(s string) bool { return len(cutsOf(s)) > 0 }

// Cuts are the offsets in s before which Printed has a mark.
func Cuts(s string) []int { return cutsOf(s) }

// Printed gives s with a mark wherever it was cut, as people see it.
func Printed(s string) string { return marks{cuts: cutsOf(s), all: true}.shown(s, isShaping) }
