package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"go.starlark.net/syntax"
)

// The good scripts that changes start from.

// A Script is a text that scripts are made of, and the Name of the file that it is from.
type Script struct {
	Name string
	// Text is the whole script.
	Text   string
	tokens []token
	exprs  []span
}

// A span is a part of a text, in bytes.
type span struct{ from, to int }

// A Corpus is the Scripts that changes start from and take their parts from.
type Corpus struct {
	Scripts []*Script
}

// Read reads the scripts that match the patterns. A line of three dashes
// separates scripts of one file.
func Read(patterns ...string) (*Corpus, error) {
	c := &Corpus{}
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("no scripts match %s: %w", pattern, err)
		}
		sort.Strings(names)
		for _, name := range names {
			if err := c.readFile(name); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func (c *Corpus) readFile(name string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i, text := range strings.Split(string(src), "\n---\n") {
		s := &Script{Name: fmt.Sprintf("%s#%d", filepath.Base(name), i), Text: text, tokens: tokens(text)}
		if s.exprs, err = exprs(text); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		c.Scripts = append(c.Scripts, s)
	}
	return nil
}

var options = &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}

// exprs finds the expressions of a text.
func exprs(text string) ([]span, error) {
	tree, err := options.Parse("corpus", text, 0)
	if err != nil {
		return nil, err
	}
	lines := lineStarts(text)
	var out []span
	syntax.Walk(tree, func(n syntax.Node) bool {
		if e, ok := n.(syntax.Expr); ok {
			from, to := e.Span()
			s := span{offset(text, lines, from), offset(text, lines, to)}
			if s.from < s.to && s.to <= len(text) {
				out = append(out, s)
			}
		}
		return true
	})
	return out, nil
}

func lineStarts(text string) []int {
	out := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// offset is the byte at a position, whose columns count characters.
func offset(text string, lines []int, p syntax.Position) int {
	at := lines[min(int(p.Line), len(lines))-1]
	col := 1
	for i := range text[at:] {
		if col == int(p.Col) {
			return at + i
		}
		col++
	}
	return len(text)
}
