package docs

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A long document begins with a list of its headings, in their order, each a link to it.
func TestContents(t *testing.T) {
	for _, page := range []string{"rationale", "architecture"} {
		text, _ := Page(page)
		want := contents(text)
		_, list, _ := strings.Cut(text, "\n## Contents\n\n")
		list, _, _ = strings.Cut(list, "\n\n")
		if list != want {
			t.Errorf("the contents of docs/%s.md are\n%s\nwant\n%s", page, list, want)
		}
	}
}

// A link within the documents leads to a page that is there, and to one of its headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([\w-]*)(?:\.md)?(?:#([^)]*))?\)`)
	for _, page := range Pages() {
		text, _ := Page(page)
		for _, m := range link.FindAllStringSubmatch(withoutFences(text), -1) {
			to := page
			if m[1] != "" {
				to = path.Join(path.Dir(page), m[1])
			}
			target, ok := Page(to)
			switch {
			case !ok:
				t.Errorf("docs/%s.md: there is no page %s", page, m[0])
			case m[2] != "" && !slices.Contains(anchors(target), m[2]):
				t.Errorf("docs/%s.md: there is no heading %s", page, m[0])
			}
		}
	}
}

// anchors are those of the headings of a page.
func anchors(text string) (out []string) {
	for _, m := range heading.FindAllStringSubmatch(withoutFences(text), -1) {
		out = append(out, anchor(m[2]))
	}
	return out
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
