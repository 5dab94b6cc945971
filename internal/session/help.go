package session

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
)

// behindFile gives the flags of the command that may stand behind a file.
func behindFile(flags []Flag) []Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f Flag) bool { return f.Long == "code" || f.Long == "version" })
}

// ownFlags are the command's flags, whose names a script cannot take.
func (s *session) ownFlags() (out []builtins.OwnFlag) {
	if s.Flags == nil {
		return nil
	}
	for _, f := range s.Flags() {
		out = append(out, builtins.OwnFlag{Long: f.Long, Short: f.Short, Help: f.Help})
	}
	return out
}

// UnknownFlag is the error for a flag before a script or a tool that startrace
// does not have, with the one that was meant. It may be one of the script.
func UnknownFlag(word string, known []Flag) error {
	var names []string
	for _, f := range known {
		names = append(names, f.Long)
	}
	word, _, _ = strings.Cut(word, "=")
	if near := kernel.Suggest(strings.TrimLeft(word, "-"), names); near != "" && strings.HasPrefix(word, "--") {
		return mistake.Usagef("unknown flag %s (did you mean --%s?)", word, near)
	}
	return mistake.Usagef("unknown flag %s; a flag of a script, tool or command stands behind its name", word)
}
