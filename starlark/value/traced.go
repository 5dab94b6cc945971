package value

import (
	"bytes"
	"slices"
	"strings"
)

// Traced remembers strings that came from traced programs and hold a line feed
// or a tab. Scripts print these characters too, to shape their output, so
// what print and printf write is escaped only where such a string occurs in
// it: the name of a file must not forge a line. Other control characters are
// always escaped.
//
// It knows strings by what they hold, since scripts put them together with others:
// each as a whole, and its parts between slashes.
type Traced struct {
	texts []string // no more than tracedMax
	next  int      // the one to forget next
	// own are constants of the script itself that kernel halves send and store: they
	// come back from there as what was traced does.
	own map[string]bool
}

// Own says what constants kernel halves have. Those of white space alone tell
// nothing: a file can have such a name.
func (t *Traced) Own(texts []string) {
	for _, text := range texts {
		if strings.ContainsAny(text, shaping) && strings.TrimSpace(text) != "" {
			if t.own == nil {
				t.own = map[string]bool{}
			}
			t.own[text] = true
		}
	}
}

// tracedMax bounds the memory; such names are rare.
const tracedMax = 256

// shaping are the characters that Screen leaves as they are.
const shaping = "\n\t"

// Note remembers b if it holds such a character, and says whether it does.
func (t *Traced) Note(b []byte) bool {
	if t == nil || bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\t') < 0 {
		return false
	}
	text := string(b)
	if t.own[text] {
		return false
	}
	t.add(text)
	for part := range strings.SplitSeq(text, "/") {
		t.add(part)
	}
	return true
}

func (t *Traced) add(text string) {
	switch {
	case !strings.ContainsAny(text, shaping) || slices.Contains(t.texts, text):
	case len(t.texts) < tracedMax:
		t.texts = append(t.texts, text)
	default:
		t.texts[t.next] = text
		t.next = (t.next + 1) % tracedMax
	}
}

// Escape escapes line feeds and tabs of s that are those of traced strings. One
// that is nothing but white space is recognised only if s is nothing else: the
// script's own would look the same.
func (t *Traced) Escape(s string) string {
	if t == nil || len(t.texts) == 0 || !strings.ContainsAny(s, shaping) {
		return s
	}
	if slices.Contains(t.texts, s) {
		return escapeShape.Replace(s)
	}
	for _, text := range t.texts {
		if strings.TrimSpace(text) != "" && strings.Contains(s, text) {
			s = strings.ReplaceAll(s, text, escapeShape.Replace(text))
		}
	}
	return s
}

var escapeShape = strings.NewReplacer("\n", `\n`, "\t", `\t`)
