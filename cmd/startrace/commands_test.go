package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/session"
)

// TestFlagsBeforeCommands gives every flag of startrace and of its commands in front of every command: the command
// reads it as behind its name, or it is refused, with the place where it belongs, in both.
func TestFlagsBeforeCommands(t *testing.T) {
	all := flagList()
	for _, c := range commands {
		if c.flags != nil {
			all = append(all, c.flags(&told{}).List()...)
		}
	}
	for name, c := range commands {
		if c.flags == nil {
			continue
		}
		for _, f := range all {
			for _, flag := range spellings(f) {
				front := append(flag, name)
				found, words, ok := commandOf(front)
				_, behind := c.read(name, &told{}, flag)
				switch {
				case f.Long == "code" || f.Long == "version": // they have no command
				case ok && found != name:
					t.Errorf("%q is not %s", front, name)
				case ok && !slices.Equal(words, flag):
					t.Errorf("%q is read as %s %q", front, name, words)
				case !ok && behind == nil && !commands[name].script: // which keeps words for a script
					t.Errorf("%q is refused, %s %q is not", front, name, flag)
				case ok && behind != nil:
					t.Errorf("%q is not refused: %v", front, behind)
				case !ok:
					checkMisplaced(t, front, name)
				}
			}
		}
	}
}

// spellings are the ways to write a flag, with a value that it can have.
func spellings(f flags.Flag) (out [][]string) {
	value := "5"
	switch {
	case f.Long == "duration", f.Long == "drain":
		value = "5s"
	case f.Long == "memory":
		value = "64M"
	case len(f.Words) > 0:
		value = f.Words[0]
	}
	for _, word := range []string{"--" + f.Long, "-" + f.Short} {
		switch {
		case word == "-":
		case f.Switch():
			out = append(out, []string{word})
		default:
			out = append(out, []string{word, value})
		}
	}
	return out
}

// checkMisplaced wants the line to be refused with the place where its flag belongs.
func checkMisplaced(t *testing.T, line []string, name string) {
	set := runFlags(&session.Settings{}, &told{})
	rest, err := set.Front(line)
	if err == nil {
		err = errors.Join(unknownFlag(rest, set), misplaced(line, rest))
	}
	if err == nil {
		t.Fatalf("%q is taken for a script", line)
	}
	ofRuns := name + " has no flag " + line[0] + ", which is for runs of a script or a tool: startrace " + line[0] +
		" … TOOL"
	ofAnother := "unknown flag " + line[0] + "; a flag of a script, tool or command stands behind its name"
	if err.Error() != ofRuns && err.Error() != ofAnother {
		t.Errorf("%q: %v", line, err)
	}
}
