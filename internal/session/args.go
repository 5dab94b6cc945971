package session

import (
	"strings"

	"github.com/startrace/startrace/builtins"
)

// An argSplitter deals out the arguments behind the file: the command's flags are
// its own, which no flag of a script can be; all else, also what nobody knows,
// is the script's to take or refuse.
type argSplitter struct {
	words []builtins.FlagWord
	flags []Flag
	// The outcome.
	script, own []string
}

func (a *argSplitter) split(args []string) {
	for len(args) > 0 {
		if args[0] == "--" {
			a.script = append(a.script, args...)
			return
		}
		to, n := &a.script, 1
		if takes, ok := a.commands(args[0]); ok {
			to = &a.own
			n += takes
		} else if takes, ok := a.scripts(args[0]); ok {
			n += takes
		}
		n = min(n, len(args))
		*to = append(*to, args[:n]...)
		args = args[n:]
	}
}

// scripts reports whether the script declares the flag, and whether its value
// is the next argument.
func (a *argSplitter) scripts(arg string) (takes int, ok bool) {
	for _, w := range a.words {
		long := strings.ReplaceAll(w.Name, "_", "-")
		if w.Switch && arg == "--no-"+long {
			return 0, true
		}
		if takes, ok := matchFlag(arg, long, w.Short, !w.Switch); ok {
			return takes, true
		}
	}
	return 0, false
}

func (a *argSplitter) commands(arg string) (takes int, ok bool) {
	for _, f := range a.flags {
		if f.Long == "help" {
			continue // the script's help contains the command's
		}
		if takes, ok := matchFlag(arg, f.Long, f.Short, f.Value != ""); ok {
			return takes, true
		}
	}
	return 0, false
}

// matchFlag compares an argument with a flag. takes is 1 where the value is
// in the next argument.
func matchFlag(arg, long, short string, valued bool) (takes int, ok bool) {
	if word, isLong := strings.CutPrefix(arg, "--"); isLong {
		word, _, inline := strings.Cut(word, "=")
		if long == "" || strings.ReplaceAll(word, "_", "-") != long {
			return 0, false
		}
		return b2i(valued && !inline), true
	}
	letters, isShort := strings.CutPrefix(arg, "-")
	if !isShort || short == "" || !strings.HasPrefix(letters, short) {
		return 0, false
	}
	return b2i(valued && letters == short), true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
