package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// A long document begins with a list of its headings, in their order, each a link to it.
func TestContents(t *testing.T) {
	for _, page := range []string{"rationale"} {
		text, _ := Page(page)
		want := contents(text)
		_, list, _ := strings.Cut(text, "\n## Contents\n\n")
		list, _, _ = strings.Cut(list, "\n\n")
		if list != want {
			t.Errorf("the contents of docs/%s.md are\n%s\nwant\n%s", page, list, want)
		}
	}
}

var heading = regexp.MustCompile(`(?m)^(##|###) (.*)$`)

// contents is the list of the headings of a page.
func contents(text string) string {
	var lines []string
	for _, m := range heading.FindAllStringSubmatch(withoutFences(text), -1) {
		if m[2] != "Contents" {
			indent := strings.Repeat("  ", len(m[1])-2)
			lines = append(lines, fmt.Sprintf("%s* [%s](#%s)", indent, m[2], anchor(m[2])))
		}
	}
	return strings.Join(lines, "\n")
}

// withoutFences is a text without its blocks of code, in which # begins a comment.
func withoutFences(text string) string {
	var out []string
	for i, part := range strings.Split(text, "\n```") {
		if i%2 == 0 {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n")
}

// anchor is what GitHub makes of a heading: letters, digits, - and _ in lower case, with - for a space.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
