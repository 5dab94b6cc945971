package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSentences runs the scripts that show what docs/language.md, semantics.md and builtins.md say, and compares what
// they print. Each follows the sentences that it shows, as quotations; a test of docs says which sentences nothing
// quotes. What a script prints was known before: -update-docs writes it, and whoever does that compares it with the
// sentence.
func TestSentences(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	if _, err := os.Stat("../../go.mod"); err != nil {
		t.Skip("needs the programs of a whole system, which guests do not have: make test runs it")
	}
	files, err := filepath.Glob("testdata/sentences/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			d := newDocument(t, file)
			d.shows = true
			d.check()
		})
	}
}
