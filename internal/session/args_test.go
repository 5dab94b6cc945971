package session

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/builtins"
)

func TestSplitArgs(t *testing.T) {
	words := []builtins.FlagWord{{Name: "name", Short: "n"}, {Name: "pids", Short: "P", Switch: true},
		{Name: "by-file", Switch: true}}
	flags := []Flag{{Long: "pid", Short: "p", Value: "PID"}, {Long: "quiet", Short: "q"}, {Long: "format", Value: "F"},
		{Long: "output", Short: "o", Value: "FILE"}, {Long: "help", Short: "h"}}
	tests := []struct{ args, script, own string }{
		{"a --name x -nq -n y --name=z b", "a --name x -nq -n y --name=z b", ""},
		{"-P --pid 7 -q -p 8", "-P", "--pid 7 -q -p 8"},
		{"--format json -o f -of x --format=csv", "x", "--format json -o f -of --format=csv"},
		{"--no-by-file --by_file --other 5 -h --help", "--no-by-file --by_file --other 5 -h --help", ""},
		{"-q -- -q --format", "-- -q --format", "-q"},
		{"--format", "", "--format"},
		{"-", "-", ""},
	}
	for _, tt := range tests {
		a := argSplitter{words: words, flags: flags}
		a.split(strings.Fields(tt.args))
		if script, own := strings.Join(a.script, " "), strings.Join(a.own, " "); script != tt.script || own != tt.own {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.args, script, own, tt.script, tt.own)
		}
	}
}
