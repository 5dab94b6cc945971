package session

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
)

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

// UnknownFlag is the error for a flag that nobody knows, with the one that was
// meant.
func UnknownFlag(word string, known []Flag) error {
	var names []string
	for _, f := range known {
		names = append(names, f.Long)
	}
	word, _, _ = strings.Cut(word, "=")
	if near := kernel.Suggest(strings.TrimLeft(word, "-"), names); near != "" && strings.HasPrefix(word, "--") {
		return usageErrorf("unknown flag %s (did you mean --%s?)", word, near)
	}
	return usageErrorf("unknown flag %s", word)
}
