package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// The text of --help of a script: its document, its flags with their help and defaults.

// Help is the text of --help: what the script says about itself, then its
// flags.
func (fs *Flags) Help(command, doc string) string {
	var b strings.Builder
	b.WriteString("usage: " + command)
	if len(fs.decls) > 0 {
		b.WriteString(" [flags]")
	}
	for _, f := range fs.decls {
		switch {
		case f.Positional && f.Required:
			b.WriteString(" " + f.title())
		case f.Positional:
			b.WriteString(" [" + f.title() + "]")
		}
	}
	b.WriteString("\n")
	if doc = strings.TrimSpace(doc); doc != "" {
		b.WriteString("\n" + doc + "\n")
	}
	if len(fs.decls) > 0 {
		b.WriteString("\nFlags:\n")
	}
	width := 0
	for _, f := range fs.decls {
		width = max(width, len(f.head()))
	}
	for _, f := range fs.decls {
		line := fmt.Sprintf("  %-*s  %s%s", width, f.head(), f.Help, f.remark())
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// head is the flag with its value.
func (f *Flag) head() string {
	s := "    --" + f.word()
	if f.Positional {
		s = "    " + f.title()
	}
	if f.Short != "" && !f.Positional {
		s = "-" + f.Short + ", --" + f.word()
	}
	if f.Switch || f.Positional {
		return s
	}
	what := f.Type.Name()
	if len(f.Choices) > 0 {
		return s + " " + strings.Join(f.Choices, "|")
	}
	if what == "str" || what == "lambda" {
		what = "value"
	}
	return s + " " + strings.ToUpper(what)
}

// remark is the default, as the user would write it.
func (f *Flag) remark() string {
	if f.Required {
		return ""
	}
	switch d := f.Default.(type) {
	case starlark.NoneType:
		return ""
	case starlark.Bool:
		if !d {
			return ""
		}
		return " (default on; --no-" + f.word() + ")"
	case starlark.String:
		if d == "" {
			return ""
		}
		return fmt.Sprintf(" (default %s)", string(d))
	case starlark.Int:
		if f.Type.Name() == durationName {
			return " (default " + durationText(d) + ")"
		}
	}
	return fmt.Sprintf(" (default %s)", f.Default)
}

// durationText writes ns in the largest unit that leaves no fraction.
func durationText(d starlark.Int) string {
	ns, ok := d.Int64()
	if !ok || ns == 0 {
		return d.String()
	}
	for i := len(timeUnits) - 1; i > 0; i-- {
		if u := timeUnits[i]; ns%u.ns == 0 {
			return fmt.Sprintf("%d%s", ns/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%dns", ns)
}
