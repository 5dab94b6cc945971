package builtins

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

var flagFamily = []Entry{
	{
		Name: "flag", Family: "flags",
		Signature: `flag(name, default=None, help="", short=None, type=None, positional=False, choices=None)`,
		Doc: `Declares a flag of the script and gives its value: --name VALUE, or -s VALUE with short. A default of True or False
makes a switch. type is int, float, str, bool, duration or a function that gets the text; it follows the default where it
is not given. positional takes the next argument that is no flag.`,
		call: flagCall,
	},
}

// A Flag is what one call of flag() declared.
type Flag struct {
	Name, Short, Help string
	Default           starlark.Value
	Type              starlark.Callable // nil for a switch
	Positional        bool
	Switch            bool
	Choices           []string
}

// A UsageError is a mistake in the arguments of the script.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

func flagCall(e *Env, c *call) (starlark.Value, error) {
	if e.Loading() {
		return nil, errModule("flag")
	}
	f := &Flag{Default: starlark.None}
	var short, typ, choices starlark.Value
	if err := c.unpack("name", &f.Name, "default?", &f.Default, "help?", &f.Help, "short?", &short,
		"type?", &typ, "positional?", &f.Positional, "choices?", &choices); err != nil {
		return nil, err
	}
	var err error
	if f.Choices, err = toNames("choices", choices); err != nil {
		return nil, fmt.Errorf("flag %s: %w", f.Name, err)
	}
	f.Short, _ = starlark.AsString(orNone(short))
	if err := f.setType(typ); err != nil {
		return nil, fmt.Errorf("flag %s: %w", f.Name, err)
	}
	if err := e.Flags.declare(f); err != nil {
		return nil, err
	}
	return e.Flags.value(c.thread, f)
}

// setType takes the type from type=, or from the default.
func (f *Flag) setType(typ starlark.Value) error {
	if typ == nil || typ == starlark.None {
		typ = starlark.Universe["str"]
		switch f.Default.(type) {
		case starlark.Bool:
			typ = starlark.Universe["bool"]
		case starlark.Int:
			typ = starlark.Universe["int"]
		case starlark.Float:
			typ = starlark.Universe["float"]
		}
	}
	fn, ok := typ.(starlark.Callable)
	if !ok {
		return fmt.Errorf("type: got %s, want int, float, str, bool, duration or a function", typ.Type())
	}
	f.Type = fn
	f.Switch = fn == starlark.Universe["bool"]
	if f.Switch && f.Positional {
		return fmt.Errorf("a switch cannot be positional")
	}
	return nil
}

// convert makes a value of what was written.
func (f *Flag) convert(th *starlark.Thread, text string) (starlark.Value, error) {
	if len(f.Choices) > 0 && !contains(f.Choices, text) {
		return nil, usagef("--%s: got %q, want one of %s", f.word(), text, strings.Join(f.Choices, ", "))
	}
	switch f.Type {
	case starlark.Universe["str"]:
		return starlark.String(text), nil
	case starlark.Universe["bool"]:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, usagef("--%s: got %q, want true or false", f.word(), text)
		}
		return starlark.Bool(b), nil
	case starlark.Universe["int"]:
		i, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return nil, usagef("--%s: got %q, want a number", f.word(), text)
		}
		return starlark.MakeInt64(i), nil
	}
	v, err := starlark.Call(th, f.Type, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return nil, usagef("--%s: %v", f.word(), err)
	}
	return v, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// word is the flag as it is written: underscores are dashes.
func (f *Flag) word() string { return FlagName(f.Name) }

// FlagName gives the word of a flag as arguments have it.
func FlagName(name string) string {
	return strings.ReplaceAll(strings.TrimRight(name, "_"), "_", "-")
}
