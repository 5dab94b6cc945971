package docs

import (
	"regexp"
	"testing"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/point"
)

// The description of the language names each word of it.
func TestLanguageIsComplete(t *testing.T) {
	text, ok := Page("language")
	if !ok {
		t.Fatal("there is no page language")
	}
	var words []string
	for _, kind := range point.Kinds() {
		words = append(words, kind.Name)
	}
	for _, entry := range builtins.Entries() {
		words = append(words, entry.Name)
	}
	if len(words) < 80 {
		t.Errorf("only %d words", len(words))
	}
	for _, word := range words {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text) {
			t.Errorf("docs/language.md does not name %s", word)
		}
	}
}
