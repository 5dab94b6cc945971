package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Each tool and verb shows examples of itself, and they compile, and it is known what they cost at most.
func TestToolExamples(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	need.Long(t)
	need.Program(t, "bash")
	d := &document{t: t, folder: t.TempDir(), path: binFolder(t)}
	names, err := d.shell(`startrace tools | sed '/^std/d; s/ .*//'`)
	if err != nil {
		t.Fatal(err)
	}
	tools := strings.Fields(names)
	if len(tools) < 25 {
		t.Errorf("only %d tools and verbs", len(tools))
	}
	for _, name := range tools {
		t.Run(name, func(t *testing.T) { checkExamples(t, d, name) })
	}
}

// otherFormats are those of results; what explain shows has others.
var otherFormats = regexp.MustCompile(` --format \w+`)

func checkExamples(t *testing.T, d *document, name string) {
	help, err := d.shell("startrace " + name + " --help")
	if err != nil {
		t.Fatalf("%v\n%s", err, help)
	}
	found := 0
	for line := range strings.Lines(help) {
		command, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    startrace ")
		if !ok {
			continue
		}
		found++
		if !strings.HasPrefix(command, name) {
			t.Errorf("%s is no example of %s", command, name)
		}
		command, _, _ = strings.Cut(command, "    #")
		words := otherFormats.ReplaceAllString(command, "")
		out, err := d.shell("startrace explain " + words + " && startrace audit " + words)
		switch {
		case err == nil:
		case strings.Contains(out, "there is no process 77"), strings.Contains(out, "built without CONFIG_KPROBES"):
			t.Logf("not compiled here: startrace %s", command)
		default:
			t.Errorf("startrace explain or audit %s: %v\n%s", command, err, out)
		}
	}
	if found == 0 {
		t.Errorf("the help of %s has no examples:\n%s", name, help)
	}
}
