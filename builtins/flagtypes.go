package builtins

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/flags"
	"go.starlark.net/starlark"
)

// A Flag is what one call of flag() declared.
type Flag struct {
	// Name is the long one, without dashes and as the script wrote it; Short is the short one, "" without; Help says
	// what it is for.
	Name, Short, Help string
	// Default is its value where it is not given; None for none.
	Default starlark.Value
	Type    starlark.Callable // nil for a switch
	// Positional: it is an argument without a name.
	Positional bool
	// Switch: it takes no value. Required: it must be given.
	Switch, Required bool
	// Choices are the values that it takes; nil: all.
	Choices []string
	// Least and Most are the ends of its values; nil where there is no such end.
	Least, Most starlark.Value
}

// FlagName gives the word of a flag as arguments have it.
func FlagName(name string) string { return flags.Name(name) }

// Flags are the flags of a script and the arguments that it was given.
//
// Flags are declared one by one while the script runs. To tell the value of
// one flag from a positional argument, all flags must be known; Words has
// those that stand in the script's text.
type Flags struct {
	// Words are the flags found in the text of the script.
	Words []FlagWord
	// Args are the arguments.
	Args []string
	// Own gives the command's own flags, which no flag of a script can be; nil:
	// there are none.
	Own func() []flags.Flag

	// decls are the flags that the script has declared so far.
	decls []*Flag
	// parsed are the arguments as they were last sorted by the flags that were known.
	parsed     *parsedArgs
	positional int // positional flags declared so far
}

// A FlagWord is a flag as far as the text of the script tells before it runs.
// The command needs it to leave these words to the script.
type FlagWord struct {
	// Name and Short are as in Flag.
	Name, Short string
	Switch      bool // takes no value
	// For completion, where the text tells.
	Help, Type string
	// Positional: it is an argument without a name.
	Positional bool
	// Choices are the values that it takes, where the text tells them.
	Choices []string
}

// FlagsOf gives flags as arguments are read by them.
func FlagsOf(words []FlagWord) (out []flags.Flag) {
	for _, w := range words {
		f := flags.Flag{Long: FlagName(w.Name), Short: w.Short, Help: w.Help, Words: w.Choices}
		if !w.Switch {
			f.Value = cmp.Or(strings.ToUpper(w.Type), "VALUE")
		}
		out = append(out, f)
	}
	return out
}

// parsedArgs are arguments sorted by the flags that are known.
type parsedArgs struct {
	given map[string]string // by word; a switch has "true"
	words []string          // those of given, as they came
	twice string            // the first word that has two values
	rest  []string          // positional
	// unknown are the words that look like flags and are none.
	unknown []string
	lacking string // the word of a flag that stands last, without its value
	// help: there was --help.
	help bool
}

// title names the flag in messages: --threshold, or POINT where it is
// positional.
func (f *Flag) title() string {
	if f.Positional {
		return strings.ToUpper(f.word())
	}
	return "--" + f.word()
}

// word is the flag as it is written: underscores are dashes.
func (f *Flag) word() string { return FlagName(f.Name) }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// A UsageError is a mistake in the arguments of the script, in the words Msg.
type UsageError struct{ Msg string }
