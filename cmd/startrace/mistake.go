package main

import (
	"errors"
	"regexp"

	"github.com/startrace/startrace/internal/mistake"
)

// plainWords are kong's messages, and ours.
var plainWords = []struct{ kong, ours string }{
	{`^(--\S+): expected .* but got "(-.*)" \(\w+ flag\); perhaps .*$`,
		`$1 wants a value; one that begins with - is written $1=$2`},
	{`^(--\S+): expected .* but got "EOL".*$`, `$1 wants a value`},
	{`^(--\S+): expected duration but got (".*?"): .*$`, `$1: got $2, want a duration such as 500ms, 10s, 1m`},
	{`^(--\S+): expected a valid .* int but got (".*")$`, `$1: got $2, want a number`},
	{`^(--\S+): bool value must be .* but got (".*")$`, `$1: got $2, want true or false`},
	{`^(unknown flag -[^-]\S*?)(?:,| \()?\s*did you mean.*$`, `$1`}, // another letter is no near one
	{`, did you mean "(.*)"\?$`, ` (did you mean $1?)`},
}

// plain says a mistake in the command line in the words of all other messages.
func plain(err error) error {
	text := err.Error()
	for _, p := range plainWords {
		text = regexp.MustCompile(p.kong).ReplaceAllString(text, p.ours)
	}
	return &mistake.Usage{Err: errors.New(text)}
}
