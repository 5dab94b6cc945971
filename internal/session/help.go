package session

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/mistake"
)

// startrace's own flags behind the file are taken out of the script's arguments; --help and --version there.

// ownFlags are startrace's own flags, with the settings of the run as what takes
// their values.
func (s *session) ownFlags() *flags.Set {
	if s.Own == nil {
		return &flags.Set{}
	}
	return s.Own(&s.Settings)
}

// takeOwn takes startrace's own flags, which no flag of a script can be, out of
// the arguments behind the file; all else, also what nobody knows, is the
// script's to take or refuse.
func (s *session) takeOwn(args []string) (ofScript []string, err error) {
	own, code := s.ownFlags(), len(s.Code)
	ofScript, err = own.Among(args, builtins.FlagsOf(s.host.Flags()))
	switch {
	case err != nil:
		return nil, &mistake.Usage{Err: err}
	case own.Given("version"):
		return nil, mistake.Usagef("--version stands alone: startrace --version")
	case len(s.Code) > code:
		if text := s.Code[code]; strings.HasPrefix(text, ".") {
			return nil, mistake.Usagef("-e%s is read as -e %s; an argument that begins with - stands at the end, "+
				"behind --: -- -e%s", text, text, text)
		}
		return nil, mistake.Usagef("-e and a file exclude each other")
	}
	return ofScript, nil
}

// printHelp prints the script's help and the flags that are left to startrace.
func (s *session) printHelp(w io.Writer, text string) {
	fmt.Fprint(w, text, "\nFlags of every script:\n")
	manual.PrintFlags(w, slices.DeleteFunc(slices.Clone(s.ownFlags().List()), func(f flags.Flag) bool {
		return f.Long == "code" || f.Long == "version" // they stand alone, in front
	}))
}
