package builtins

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/starlark/value"
)

// flag() and usage(): its type, default, choices, short=, and the value that the arguments give.

var flagFamily = []Entry{
	{
		Name: "flag", Family: "flags",
		Signature: `flag(name, default=None, help="", short=None, type=None, positional=False, choices=None,
         required=False, least=None, most=None)`,
		Doc: `Declares a flag of the script and gives its value: --name VALUE, or -s VALUE with short. A default
of True or False makes a switch. type is int, float, str, bool, duration, expression or a function that gets the text;
where it is not given, it follows the default. Where it is, the default is a value of it, a text that is read as what
is given, or None. positional takes the next argument that is no flag. A flag with required must be given. What is given
must be from least to most: a number, a time in ns, or the length of a text in bytes. The names and letters of
startrace's own flags are refused.`,
		call: flagCall,
	},
	{
		Name: "usage", Family: "flags",
		Signature: "usage(message)",
		Doc: "Ends the script: its arguments are wrong. The message goes to standard error, " +
			"and the exit code is 2.",
		call: usageCall,
	},
}

func (e *UsageError) Error() string { return e.Msg }

// flagCall declares a flag and gives its value at once: what the arguments say, else the default.
func flagCall(e *Env, c *call) (starlark.Value, error) {
	if e.Loading() {
		return nil, errModule("flag")
	}
	f := &Flag{Default: starlark.None}
	var short, typ, choices, least, most starlark.Value
	if err := c.unpack("name", &f.Name, "default?", &f.Default, "help?", &f.Help, "short?", &short,
		"type?", &typ, "positional?", &f.Positional, "choices?", &choices, "required?", &f.Required, "least?", &least,
		"most?", &most); err != nil {
		return nil, err
	}
	var err error
	if f.Choices, err = toNames("choices", choices); err != nil {
		return nil, fmt.Errorf("flag %s: %w", f.Name, err)
	}
	if strings.Trim(f.Name, flagLetters+"-_") != "" || f.Name == "" || f.Name[0] == '-' {
		return nil, fmt.Errorf("flag: got the name %q, want letters, digits, - and _", f.Name)
	}
	for _, set := range []func() error{
		func() error { return f.setShort(orNone(short)) },
		func() error { return f.setType(typ) },
		func() error { return f.setRange(least, most) },
		f.checkChoices,
	} {
		if err := set(); err != nil {
			return nil, fmt.Errorf("flag %s: %w", f.Name, err)
		}
	}
	if err := e.Flags.declare(f); err != nil {
		return nil, err
	}
	return e.flagValue(c.thread, f)
}

// usageCall ends the script by a mistake in its arguments. It does nothing where help is wanted: then no arguments were
// read that could be wrong.
func usageCall(e *Env, c *call) (starlark.Value, error) {
	var msg string
	if err := c.unpack("message", &msg); err != nil {
		return nil, err
	}
	if e.Flags.HelpWanted() {
		return starlark.None, nil // no arguments were read
	}
	return nil, &UsageError{value.Screen(starlark.String(msg))}
}

const flagLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// setShort takes the one letter of short=.
func (f *Flag) setShort(v starlark.Value) error {
	if v == starlark.None {
		return nil
	}
	s, ok := starlark.AsString(v)
	if !ok || len(s) != 1 || !strings.Contains(flagLetters, s) {
		return fmt.Errorf("short: got %s, want one letter or digit", v)
	}
	f.Short = s
	return nil
}

// checkChoices refuses a default that is not among the choices; None and "" stand for a flag that was not given.
func (f *Flag) checkChoices() error {
	text, ok := starlark.AsString(f.Default)
	if !ok && f.Default != starlark.None {
		text = f.Default.String() // of a number as it is typed
	}
	if text != "" && len(f.Choices) > 0 && !slices.Contains(f.Choices, text) {
		return fmt.Errorf("default: got %q, want one of the choices: %s%s", text, strings.Join(f.Choices, ", "),
			near(text, f.Choices))
	}
	return nil
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

// flagValue gives what the arguments say, else the default.
func (e *Env) flagValue(th *starlark.Thread, f *Flag) (starlark.Value, error) {
	text, ok := e.Flags.given(f)
	switch {
	case e.Flags.parse().lacking == f.word():
		return nil, usagef("%s", strings.TrimSuffix(f.title()+" wants a value: "+f.Help, ": "))
	case e.Flags.parse().twice == f.word():
		return nil, usagef("%s is given twice; it has one value", f.title())
	case e.Flags.HelpWanted() || !ok && !f.Required:
		return f.fallback(th)
	case !ok:
		return nil, usagef("%s", strings.TrimSuffix(f.title()+" is missing: "+f.Help, ": "))
	case f.Type.Name() == expressionName:
		return e.expressionOf(f.title(), text)
	}
	v, err := f.convert(th, text)
	if err != nil {
		return nil, usagef("%s: %v", f.title(), err)
	}
	err = f.inRange(v, text)
	if f.Type == starlark.Universe["str"] {
		e.typed(f, text)
	}
	return v, err
}

// convert makes a value of what was written. Its error does not name the flag.
func (f *Flag) convert(th *starlark.Thread, text string) (starlark.Value, error) {
	if len(f.Choices) > 0 && !slices.Contains(f.Choices, text) {
		return nil, fmt.Errorf("got %q, want one of %s%s", text, strings.Join(f.Choices, ", "), near(text, f.Choices))
	}
	switch f.Type {
	case starlark.Universe["str"]:
		return value.Own(text), nil // whoever runs the script has written it
	case starlark.Universe["bool"]:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("got %q, want true or false", text)
		}
		return starlark.Bool(b), nil
	case starlark.Universe["int"]:
		i, err := flags.Int(text)
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("got %q, want a number that fits in 64 bits", text)
		}
		if err != nil {
			return nil, fmt.Errorf("got %q, want a number", text)
		}
		return starlark.MakeInt64(i), nil
	case starlark.Universe["float"]:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("got %q, want a number", text)
		}
		return starlark.Float(x), nil
	}
	v, err := starlark.Call(th, f.Type, starlark.Tuple{value.Own(text)}, nil)
	if err != nil {
		// A function of the script refuses by fail(), and what it says is meant for who has typed the flag.
		return nil, errors.New(strings.TrimPrefix(err.Error(), "fail: "))
	}
	return v, nil
}

// near is a hint for a misspelt word.
func near(word string, words []string) string {
	if s := naming.Suggest(word, words); s != "" {
		return " (did you mean " + s + "?)"
	}
	return ""
}
