package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/session"
)

// TestFlagsBeforeCommands gives every flag of startrace and of its commands in front of every command: the command
// reads it as behind its name, or it is refused, with the place where it belongs, in both.
func TestFlagsBeforeCommands(t *testing.T) {
	all := flagList()
	for _, c := range commands {
		if c.grammar != nil {
			all = append(all, describeFlags(c.grammar())...)
		}
	}
	for name, c := range commands {
		if c.grammar == nil {
			continue
		}
		for _, f := range all {
			for _, flag := range spellings(f) {
				front := append(flag, name)
				kind, told, ok := commandOf(front)
				behind := readWords(name, c.grammar(), flag)
				switch {
				case f.Long == "code" || f.Long == "version": // they have no command
				case ok && reflect.ValueOf(kind.start).Pointer() != reflect.ValueOf(c.start).Pointer():
					t.Errorf("%q is not %s", front, name)
				case ok && !slices.Equal(told, flag):
					t.Errorf("%q is read as %s %q", front, name, told)
				case !ok && behind == nil && !keepsRest(c):
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

// keepsRest says that a command takes unknown words for those of a script.
func keepsRest(c commandKind) bool {
	_, explains := c.grammar().(*explainGrammar)
	return explains
}

// spellings are the ways to write a flag, with a value that it can have.
func spellings(f session.Flag) (out [][]string) {
	value := "5"
	switch {
	case f.Long == "duration":
		value = "5s"
	case len(f.Words) > 0:
		value = f.Words[0]
	}
	for _, word := range []string{"--" + f.Long, "-" + f.Short} {
		switch {
		case word == "-":
		case f.Value == "" || strings.Contains(f.Value, "["):
			out = append(out, []string{word})
		default:
			out = append(out, []string{word, value})
		}
	}
	return out
}

// checkMisplaced wants the line to be refused with the place where its flag belongs.
func checkMisplaced(t *testing.T, line []string, name string) {
	var g grammar
	err := parseInto(&g, line)
	if err == nil {
		err = errors.Join(unknownFlag(g.Args, flagList), misplaced(line, g.Args))
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
