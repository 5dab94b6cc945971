package naming

import (
	"fmt"
	"strings"
)

// Glob, patterns of names: `*`, `?`, `[a-z]`, `{a,b}`.

// A Glob is a compiled pattern: `*` any text, `?` one byte, `[ab]` `[a-z]`
// `[!a]` one byte of a set, `{a,b}` one of several texts, which may be empty
// and may nest. A backslash takes away the meaning of the next byte.
type Glob struct {
	text string
	// alts are the pattern with its braces written out; each is a list of
	// elements without braces.
	alts [][]globElem
}

type globElem struct {
	kind byte // 'c' this byte, '?' any byte, '*' any text, '[' a set
	c    byte
	set  *[4]uint64
}

// maxAlternatives bounds what braces multiply to.
const maxAlternatives = 4096

// IsPattern reports whether s has a wildcard, braces or a backslash.
func IsPattern(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// Compile compiles a pattern.
func Compile(pattern string) (Glob, error) {
	texts, err := expandBraces(pattern)
	if err != nil {
		return Glob{}, fmt.Errorf("bad pattern %q: %w", pattern, err)
	}
	g := Glob{text: pattern}
	for _, t := range texts {
		elems, err := compileFlat(t)
		if err != nil {
			return Glob{}, fmt.Errorf("bad pattern %q: %w", pattern, err)
		}
		g.alts = append(g.alts, elems)
	}
	return g, nil
}

// String gives the pattern as written.
func (g Glob) String() string { return g.text }

// IsPattern reports whether the pattern can match more than its own text.
func (g Glob) IsPattern() bool { return IsPattern(g.text) }

// Match reports whether all of s matches.
func (g Glob) Match(s string) bool {
	for _, alt := range g.alts {
		if matchFlat(alt, s) {
			return true
		}
	}
	return false
}

// Expand gives the texts that match if they are few and known: the pattern
// has no wildcard but braces. Each text is there once, in the order written.
func (g Glob) Expand() ([]string, bool) {
	var out []string
	seen := map[string]bool{}
	for _, alt := range g.alts {
		var b strings.Builder
		for _, e := range alt {
			if e.kind != 'c' {
				return nil, false
			}
			b.WriteByte(e.c)
		}
		if s := b.String(); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out, true
}

// A GlobElement is a part of a pattern: any text (Star), or one byte for which Accepts is true.
type GlobElement struct {
	Star    bool
	Accepts func(c byte) bool
}

// Alternatives gives the pattern without braces: what matches one of these lists of elements matches it.
func (g Glob) Alternatives() [][]GlobElement {
	out := make([][]GlobElement, len(g.alts))
	for i, alt := range g.alts {
		for _, e := range alt {
			out[i] = append(out[i], GlobElement{e.kind == '*', e.matches})
		}
	}
	return out
}

// matchFlat is the usual two-pointer match: on a mismatch go back to the last
// star and let it take one byte more. Linear for one star, O(n·m) at worst.
func matchFlat(p []globElem, s string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i].kind == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i].matches(s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i].kind == '*' {
		i++
	}
	return i == len(p)
}

func (e globElem) matches(c byte) bool {
	switch e.kind {
	case 'c':
		return e.c == c
	case '?':
		return true
	}
	return e.set != nil && e.set[c>>6]>>(c&63)&1 != 0
}
