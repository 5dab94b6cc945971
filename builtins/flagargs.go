package builtins

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/naming"
)

// The arguments of a script read by its flags; the message that a flag is startrace's own, or that the script did not
// come to it.

// HelpWanted reports whether the arguments ask for help.
func (fs *Flags) HelpWanted() bool { return fs.parse().help }

// Again forgets all flags and arguments, so that another script can declare its flags. None of these is given.
func (fs *Flags) Again() { *fs = Flags{Own: fs.Own} }

// give notes what the arguments say of a flag. A switch may say the same again.
func (p *parsedArgs) give(of *flags.Flag, text string) {
	word := of.Long
	before, again := p.given[word]
	switch {
	case !again:
		p.words = append(p.words, word)
	case p.twice == "" && (!of.Switch() || before != text):
		p.twice = word
	}
	p.given[word] = text
}

// notOwn refuses a flag that the command has: of `--pid 5` nobody could tell
// whose it is, and the other one would never get its value.
func (fs *Flags) notOwn(f *Flag) error {
	for _, own := range fs.own() {
		if own.Long == f.word() {
			return fmt.Errorf("flag %s: --%s is a flag of startrace itself (%s); give this one another name", f.Name,
				own.Long, strings.TrimSuffix(own.Help, "."))
		}
		if own.Short == f.Short && f.Short != "" {
			return fmt.Errorf("flag %s: short: -%s is startrace's own --%s (%s); take another letter, or none", f.Name,
				f.Short, own.Long, strings.TrimSuffix(own.Help, "."))
		}
	}
	return nil
}

// own are the command's own flags.
func (fs *Flags) own() []flags.Flag {
	if fs.Own == nil {
		return nil
	}
	return fs.Own()
}

// declare records a flag. It refuses a name that another flag has.
func (fs *Flags) declare(f *Flag) error {
	if err := fs.notOwn(f); err != nil {
		return err
	}
	for _, d := range fs.decls {
		if d.word() == f.word() {
			return fmt.Errorf("flag %s is declared twice", f.Name)
		}
		if f.Short != "" && d.Short == f.Short {
			return fmt.Errorf("flag %s: -%s belongs to --%s", f.Name, f.Short, d.word())
		}
	}
	fs.decls = append(fs.decls, f)
	for _, w := range fs.Words {
		if w.Name == f.word() && w.Short == f.Short && w.Switch == f.Switch {
			return nil
		}
	}
	fs.Words = append(fs.Words, FlagWord{Name: f.word(), Short: f.Short, Switch: f.Switch})
	fs.parsed = nil
	return nil
}

// given is what the arguments say of a flag.
func (fs *Flags) given(f *Flag) (text string, ok bool) {
	p := fs.parse()
	if text, ok = p.given[f.word()]; ok || !f.Positional {
		return text, ok // a positional one that is given by its name leaves its place to the next
	}
	n := fs.positional
	fs.positional++
	if n < len(p.rest) {
		return p.rest[n], true
	}
	return "", false
}

// fallback is the default; a text is converted too: flag("t", "5ms", type = duration). One that is no value of the
// flag's type is a mistake of the script, and not of who runs it.
func (f *Flag) fallback(th *starlark.Thread) (v starlark.Value, err error) {
	switch text, isText := f.Default.(starlark.String); {
	case f.Default == starlark.None:
		return f.Default, nil
	case isText && f.Type != starlark.Universe["str"]:
		v, err = f.convert(th, string(text))
	default:
		v, err = f.asTyped(f.Default)
	}
	if err != nil {
		return nil, fmt.Errorf("flag %s: default: %w", f.Name, err)
	}
	return v, nil
}

// asTyped is a default that is no text as a value of the flag's type. What a function of the script gives is not known,
// so that any value may stand for it.
func (f *Flag) asTyped(v starlark.Value) (starlark.Value, error) {
	switch i, isInt := v.(starlark.Int); {
	case f.Type.Name() == durationName:
		ns, err := toDuration(v)
		return starlark.MakeInt64(ns), err
	case isInt && f.Type == starlark.Universe["float"]:
		return i.Float(), nil
	}
	_, ofScript := f.Type.(*starlark.Function)
	want := map[string]string{"str": "a string", "int": "an int", "float": "a float", "bool": "a bool"}[f.Type.Name()]
	if _, of, found := strings.Cut(want, " "); found && !ofScript && v.Type() != of {
		return nil, fmt.Errorf("got %s, want %s", v, want)
	}
	return v, nil
}

// Blame gives an error of a script, or where its arguments are wrong and have a flag that is not known, that: the value
// of such a flag was taken for something else.
func (fs *Flags) Blame(err error) error {
	if len(fs.parse().unknown) == 0 || !fs.isOfArguments(err) {
		return err
	}
	return fs.Check()
}

// isOfArguments: an error is about what was typed for a flag, or for none.
func (fs *Flags) isOfArguments(err error) bool {
	var usage *UsageError
	return errors.As(err, &usage) || slices.ContainsFunc(fs.decls, func(d *Flag) bool {
		return strings.HasPrefix(err.Error(), d.title()+":")
	})
}

// Check refuses arguments that no flag took, after the script has declared its flags. Its error is a *UsageError.
func (fs *Flags) Check() error {
	p := fs.parse()
	if len(p.unknown) > 0 {
		return usagef("unknown flag %s%s", p.unknown[0], fs.nearFlag(p.unknown[0]))
	}
	for _, word := range p.words {
		if !slices.ContainsFunc(fs.decls, func(d *Flag) bool { return d.word() == word }) {
			return usagef("--%s does nothing here: the script does not read it with these arguments%s", word,
				fs.nearFlag("--"+word))
		}
	}
	if len(p.rest) > fs.positional {
		return usagef("unexpected argument %q", p.rest[fs.positional])
	}
	return nil
}

// formats are the words that other tools have for flags of their own.
var formats = []string{"--json", "--csv", "--folded"}

// nearFlag is a hint for a misspelt flag, of all that there are.
func (fs *Flags) nearFlag(word string) string {
	if slices.Contains(formats, word) {
		return fmt.Sprintf(" (did you mean --format %s?)", word[2:])
	}
	var names []string
	for _, own := range fs.own() {
		names = append(names, own.Long)
	}
	for _, d := range fs.decls {
		names = append(names, d.word())
	}
	if near := naming.Suggest(strings.TrimLeft(word, "-"), names); near != "" {
		return fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return ""
}

// parse gives the arguments as they are sorted by the flags that are known now.
func (fs *Flags) parse() *parsedArgs {
	if fs.parsed == nil {
		fs.parsed = fs.parseAll()
	}
	return fs.parsed
}

// parseAll sorts the arguments by the flags that are known now: values of flags, words that no flag takes, and what
// nobody knows.
func (fs *Flags) parseAll() *parsedArgs {
	p := &parsedArgs{given: make(map[string]string)}
	for w := range flags.Words(fs.Args, FlagsOf(fs.Words)) {
		switch {
		case w.End:
			p.rest = append(p.rest, w.Args[1:]...)
		case w.Flag != nil && w.Lacking:
			p.lacking = w.Flag.Long
		case w.Flag != nil:
			p.give(w.Flag, w.Value)
		case w.Unknown == "--help" || w.Unknown == "-h":
			p.help = true
		case w.Unknown != "":
			p.unknown = append(p.unknown, w.Unknown)
		default:
			p.rest = append(p.rest, w.Args...)
		}
	}
	return p
}
