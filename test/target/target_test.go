package target

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// All programs can be built, and do their work to the end.
func TestBuild(t *testing.T) {
	words := map[string][]string{"calls": {"calls", "2"}, "thrower": {"2", "3"}, "static": {"2"}, "goroutines": {"2"},
		"accounts": {"threads", "2"}, "coroutines": {"turns", "2"}, "coroutines-shared": {"turns", "2"},
		"results": {"denied"}}
	for _, name := range Names() {
		if words[name] == nil { // the chains
			words[name] = []string{"changes", "2"}
		}
	}
	for _, name := range Names() {
		path, err := Build("testdata", t.TempDir(), name)
		if errors.Is(err, ErrNoCompiler) {
			t.Log(err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, words[name]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		needs, err := Needs(path)
		shared := strings.Contains(name, "shared") || name == "hosts" // what it calls is in the C library
		if err != nil || (len(needs) >= 2) != shared {
			t.Errorf("%s needs %v, %v", name, needs, err)
		}
	}
}
