package tree

import "testing"

// Each way to attach has a word of its own, by which texts of trees name it.
func TestAttachWords(t *testing.T) {
	words := map[string]AttachKind{}
	for _, kind := range AttachKinds() {
		word := attachWords[kind]
		if other, taken := words[word]; taken || word == "" {
			t.Errorf("kinds %d and %d have one word, %q", kind, other, word)
		}
		words[word] = kind
	}
}
