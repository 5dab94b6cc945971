package builtins

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/flags"
	"go.starlark.net/starlark"
)

// The types of flags of scripts (Flag, Flags), and how messages name a flag.

// A Flag is what one call of flag() declared. It does not change after that.
type Flag struct {
	// Name is the long name, without dashes and as the script wrote it.
	// Short is the letter of short=, "" without one. Help says what the flag is for.
	Name, Short, Help string
	// Default is its value where it is not given. It is None for a flag without one.
	Default starlark.Value
	// Type makes the value of the text that was given: int, float, str, bool, another builtin such as duration, or a
	// function of the script.
	Type starlark.Callable
	// Positional is set for an argument without a name.
	Positional bool
	// Switch is set for a flag that takes no value, of the type bool. Required is set for one that must be given.
	Switch, Required bool
	// Choices are the values that it takes. It is nil where it takes all.
	Choices []string
	// Least and Most are the ends of its values. They are nil where there is no such end.
	Least, Most starlark.Value
}

// FlagName gives the word of a flag as arguments have it, without the two dashes: underscores are dashes there.
func FlagName(name string) string { return flags.Name(name) }

// Flags are the flags of a script and the arguments that it was given.
//
// Flags are declared one by one while the script runs. To tell the value of
// one flag from a positional argument, all flags must be known; Words has
// those that stand in the script's text.
type Flags struct {
	// Words are the flags found in the text of the script, and from its call of flag() on each that the text did not
	// tell.
	Words []FlagWord
	// Args are the arguments of the script.
	Args []string
	// Own gives the command's own flags, which no flag of a script can be. It is nil where there are none.
	Own func() []flags.Flag

	// decls are the flags that the script has declared so far.
	decls []*Flag
	// parsed are the arguments as they were last sorted by the flags that were known. It is nil while nobody has asked,
	// and when Words has grown since.
	parsed *parsedArgs
	// positional is how many flags without a name have asked for their argument so far, whether there was one or not.
	positional int
}

// A FlagWord is a flag as far as the text of the script tells before it runs.
// The command needs it to leave these words to the script.
type FlagWord struct {
	// Name is the long word without the two dashes, with dashes for underscores (FlagName). Short is as in Flag.
	Name, Short string
	// Switch is set for a flag that takes no value.
	Switch bool
	// Help and Type are what the flag is for and the name of its type, for completion. They are "" where the text does
	// not tell.
	Help, Type string
	// Positional is set for an argument without a name.
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
	// given has the text of each flag that was given, by its long word. A switch has "true".
	given map[string]string
	// words are the long words of given, in the order in which they came first.
	words []string
	// twice is the first word that is given twice, of a switch with two values. It is "" where there is none.
	twice string
	// rest are the arguments without a name.
	rest []string
	// unknown are the words that look like flags and are none.
	unknown []string
	// lacking is the long word of a flag that stands last, without its value. It is "" where there is none.
	lacking string
	// help is set where there was --help or -h.
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

// usagef makes a mistake in the arguments of a script.
func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// A UsageError is a mistake in the arguments of the script, in the words Msg.
type UsageError struct{ Msg string }
