package session

import (
	"fmt"
	"io"
	"slices"

	"github.com/startrace/startrace/builtins"
)

const usageText = `startrace runs a tracing script: one part of it in the kernel as eBPF, the rest as Starlark.

usage: startrace [flags] FILE|TOOL [flags and arguments of the script]
       startrace [flags] -e CODE [-e CODE …]
       startrace explain [--types] [--ir[=PASS]] [--asm] FILE|TOOL
       startrace list [-v] [PATTERN …]   what can be probed, with arguments; layouts of structs (startrace list --help)
       startrace doctor [--json]         can this machine be traced, and if not, why and what to do
       startrace tools         the tools and modules of the standard library
       startrace doc [NAME]    the reference of the language, or of one word
`

// PrintHelp prints the help of the command.
func PrintHelp(o Options) {
	fmt.Fprint(o.Stdout, usageText, "\nFlags:\n")
	printFlags(o.Stdout, o.Flags())
}

// printFlags prints flags in two columns.
func printFlags(w io.Writer, flags []Flag) {
	width := 0
	for _, f := range flags {
		width = max(width, len(f.head()))
	}
	for _, f := range flags {
		fmt.Fprintf(w, "  %-*s  %s\n", width, f.head(), f.Help)
	}
}

func (f *Flag) head() string {
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

// unclaimed gives the flags of the command that may stand behind a file,
// without the words that the script has taken.
func unclaimed(flags []Flag, words []builtins.FlagWord) (out []Flag) {
	for _, f := range flags {
		if f.Long == "code" || f.Long == "version" {
			continue
		}
		if slices.ContainsFunc(words, func(w builtins.FlagWord) bool { return w.Name == f.Long }) {
			f.Long = ""
		}
		if slices.ContainsFunc(words, func(w builtins.FlagWord) bool { return w.Short == f.Short && w.Short != "" }) {
			f.Short = ""
		}
		if f.Long != "" || f.Short != "" {
			out = append(out, f)
		}
	}
	return out
}
