// Package flags reads the arguments of the command line, in one way for all that
// has flags: startrace itself, its commands, and scripts.
//
// A flag is written --name VALUE, --name=VALUE, -n VALUE or -nVALUE; a switch
// --name, --no-name, --name=false, -n or -n=false, several letters together as
// -nm. An underscore in a name is a dash. Behind -- there are no flags, and - and
// what begins with a dash and a digit are none.
package flags

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Arguments read as flags and words: --name=value, -nvalue, --no-name.

// A Flag is how a flag is written, and what help says of it.
type Flag struct {
	Long, Short string // without dashes; Short may be ""
	Value       string // what it takes: "CMD"; "" for a switch
	// Help is what help says of it: a phrase, or sentences.
	Help  string
	Words []string // all that it takes, where they are few
	// Once says what to do instead of giving it twice; "": give it once.
	Once string
}

// Switch reports whether the flag needs no value.
func (f *Flag) Switch() bool { return f.Value == "" }

// Head is the flag as it is typed, aligned so that short forms have a column.
func (f *Flag) Head() string {
	s := "    --" + f.Long
	switch {
	case f.Long == "":
		s = "-" + f.Short
	case f.Short != "":
		s = "-" + f.Short + ", --" + f.Long
	}
	if f.Value != "" {
		s += " " + f.Value
	}
	return s
}

// Name gives the name of a flag as arguments have it.
func Name(name string) string {
	return strings.ReplaceAll(strings.TrimRight(name, "_"), "_", "-")
}

// A Word is what one of the arguments says, or two together.
type Word struct {
	Args []string // as they stand
	Next int      // the number of the argument behind
	// Flag is the flag that they give, and Value what; for a switch true or false.
	// nil: they give none that is known.
	Flag  *Flag
	Value string
	// Inline: the value is part of the argument that names the flag. Lacking: it
	// wants one, and no argument is left.
	Inline, Lacking bool
	// Unknown is a flag that is not known, with its dashes; "": no flag.
	Unknown string
	// End: the first of Args is --, and the others are no flags.
	End bool
}

// Words goes over arguments by the flags that are known.
func Words(args []string, known []Flag) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for next := 0; next < len(args); {
			words := wordsAt(args[next:], known)
			next += len(words[len(words)-1].Args) // of letters the last one has the value
			for _, w := range words {
				w.Next = next
				if !yield(w) {
					return
				}
			}
		}
	}
}

// wordsAt reads the first of some arguments, and its value.
func wordsAt(args []string, known []Flag) []Word {
	arg := args[0]
	switch {
	case arg == "--":
		return []Word{{Args: args, End: true}}
	case strings.HasPrefix(arg, "--"):
		return []Word{long(args, known)}
	case len(arg) > 1 && arg[0] == '-' && (arg[1] < '0' || arg[1] > '9'):
		return letters(args, known)
	}
	return []Word{{Args: args[:1]}}
}

// long reads --name, --name=value, --name value, --no-name.
func long(args []string, known []Flag) Word {
	name, value, has := strings.Cut(args[0][2:], "=")
	name = Name(name)
	w := Word{Args: args[:1], Inline: has, Value: value}
	if w.Flag = find(known, func(f *Flag) bool { return f.Long == name }); w.Flag == nil {
		positive, no := strings.CutPrefix(name, "no-")
		w.Flag = find(known, func(f *Flag) bool { return no && f.Switch() && f.Long == positive })
		w.Value, w.Inline = "false", false
		if w.Flag == nil {
			w.Unknown = "--" + name
		}
		return w
	}
	switch {
	case has:
	case w.Flag.Switch():
		w.Value = "true"
	case len(args) > 1:
		w.Args, w.Value = args[:2], args[1]
	default:
		w.Lacking = true
	}
	return w
}

// letters reads -n value, -nvalue, and switches together: -nm. What is behind a
// letter that is not known is not read.
func letters(args []string, known []Flag) (out []Word) {
	all := args[0][1:]
	for i := 0; i < len(all); {
		_, size := utf8.DecodeRuneInString(all[i:]) // a byte that is no UTF-8 is a letter, too
		letter, from := all[i:i+size], i
		i += size
		w := Word{Args: []string{"-" + letter}, Value: "true"}
		w.Flag = find(known, func(f *Flag) bool { return f.Short == letter })
		rest := all[i:]
		switch {
		case w.Flag == nil:
			w.Unknown, w.Args = "-"+letter, []string{"-" + all[from:]}
			return append(out, w)
		case w.Flag.Switch() && strings.HasPrefix(rest, "="):
			w.Args, w.Value, w.Inline = []string{"-" + all[from:]}, rest[1:], true
		case w.Flag.Switch():
			out = append(out, w)
			continue
		case rest != "":
			w.Args, w.Value, w.Inline = []string{"-" + all[from:]}, strings.TrimPrefix(rest, "="), true
		case len(args) > 1:
			w.Args, w.Value = []string{"-" + letter, args[1]}, args[1]
		default:
			w.Lacking = true
		}
		return append(out, w)
	}
	return out
}

func find(known []Flag, is func(*Flag) bool) *Flag {
	i := slices.IndexFunc(known, func(f Flag) bool { return is(&f) })
	if i < 0 {
		return nil
	}
	return &known[i]
}
