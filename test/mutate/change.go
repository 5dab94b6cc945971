package mutate

import (
	"math/rand/v2"
	"unicode/utf8"
)

// The changes that are made to good scripts at random.

// Make gives the script of a seed, and the name of the one it was made of.
func (c *Corpus) Make(seed uint64) (name, text string) {
	m := &maker{c, rand.New(rand.NewPCG(seed, 0x5eed))}
	s := c.Scripts[m.IntN(len(c.Scripts))]
	text = m.change(s)
	// More than one change: the later ones find no tree any more.
	for m.IntN(3) == 0 {
		changed := &Script{Name: s.Name, Text: text, tokens: tokens(text)}
		if parts, err := exprs(text); err == nil {
			changed.exprs = parts
		}
		text = m.change(changed)
	}
	return s.Name, text
}

type maker struct {
	*Corpus
	*rand.Rand
}

// change changes a script once. Most changes are such that a tree remains, as
// those come furthest.
func (m *maker) change(s *Script) string {
	switch n := m.IntN(20); {
	case n == 0 || len(s.tokens) == 0:
		return m.characters(s.Text)
	case n < 5 || len(s.exprs) == 0:
		return m.words(s)
	}
	return m.subtree(s)
}

// characters changes single characters, or bytes.
func (m *maker) characters(text string) string {
	if text == "" {
		return string(m.char())
	}
	at := m.IntN(len(text))
	switch m.IntN(5) {
	case 0:
		return text[:at] + text[at+1:]
	case 1:
		return text[:at] + string(m.char()) + text[at:]
	case 2:
		return text[:at] + string([]byte{byte(m.IntN(256))}) + text[at+1:]
	case 3:
		return text[:at] // the rest is lost
	}
	to := min(len(text), at+1+m.IntN(40))
	return text[:to] + text[at:] // twice
}

func (m *maker) char() rune {
	const often = "\t\n\x00 ()[]{}:;,.=+-*/%&|<>!\"'\\#@$0aeéß€😀"
	runes := []rune(often)
	if m.IntN(8) == 0 {
		return rune(m.IntN(utf8.MaxRune))
	}
	return runes[m.IntN(len(runes))]
}

// words removes, repeats, exchanges or replaces words.
func (m *maker) words(s *Script) string {
	t := s.tokens[m.IntN(len(s.tokens))]
	switch m.IntN(5) {
	case 0:
		return s.replace(t.span, "")
	case 1:
		return s.replace(t.span, s.text(t.span)+" "+s.text(t.span))
	case 2:
		u := s.tokens[m.IntN(len(s.tokens))]
		if u.from < t.from {
			t, u = u, t
		}
		if t == u {
			return s.replace(t.span, m.oddWord())
		}
		return s.Text[:t.from] + s.text(u.span) + s.Text[t.to:u.from] + s.text(t.span) + s.Text[u.to:]
	case 3:
		other := m.Scripts[m.IntN(len(m.Scripts))]
		u := other.tokens[m.IntN(len(other.tokens))]
		return s.replace(t.span, other.text(u.span))
	}
	return s.replace(t.span, m.oddWord())
}

func (m *maker) oddPart() string { return oddParts[m.IntN(len(oddParts))] }

func (m *maker) oddWord() string {
	if m.IntN(2) == 0 {
		return m.oddPart()
	}
	return oddWords[m.IntN(len(oddWords))]
}

// subtree puts another expression in the place of one.
func (m *maker) subtree(s *Script) string {
	at := s.exprs[m.IntN(len(s.exprs))]
	switch m.IntN(4) {
	case 0:
		return s.replace(at, m.oddPart())
	case 1:
		return s.replace(at, s.text(s.exprs[m.IntN(len(s.exprs))]))
	case 2:
		return s.replace(at, m.around(s.text(at)))
	}
	other := m.Scripts[m.IntN(len(m.Scripts))]
	if len(other.exprs) == 0 {
		return s.replace(at, m.oddPart())
	}
	return s.replace(at, other.text(other.exprs[m.IntN(len(other.exprs))]))
}

// around builds an expression of x.
func (m *maker) around(x string) string {
	y := m.oddPart()
	forms := []string{
		"(" + x + " + " + y + ")", "(" + x + " // " + y + ")", "(" + x + " << " + y + ")", "(" + x + " if " + y +
			" else " + x + ")",
		"(" + x + " and " + y + ")", "(" + x + " == " + y + ")", "(" + x + " < " + y + ")", "(" + x + " in " + y + ")",
		"-" + x, "not " + x, "~" + x,
		x + "." + "pid", x + "[" + y + "]", x + "[0:1]", x + "(" + y + ")", x + "()", "len(" + x + ")", "int(" + x +
			")", "str(" + x + ")", "(" + x + ", " + y + ")",
		"[" + x + "]", "record(a = " + x + ")", "(lambda q: q)(" + x + ")", "[i for i in (" + x + ",)][0]", "(" + x +
			" or None)", "path(" + x + ")", "cstr(" + x + ")",
		"mem(" + x + ", 8)", "names(" + x + ")", "ksym(" + x + ")", "cast(\"struct task_struct\", " + x + ")",
		"sizeof(" + x + ")", "getattr(" + x + ", \"pid\", None)", "hasattr(" + x + ", \"pid\")",
		x + ".get(" + y + ")", x + ".add(" + y + ")", x + ".pop(" + y + ", None)", x + ".startswith(" + y + ")", x +
			".args.filename", "max(" + x + ", " + y + ")",
		"(" + x + " % " + y + ")", "(" + x + " * " + y + ")", "(" + y + " - " + x + ")", "abs(" + x + ")", "bool(" + x +
			")", "inet(" + x + ")", "matches(" + x + ", \"a*\")",
	}
	return forms[m.IntN(len(forms))]
}

func (s *Script) text(at span) string { return s.Text[at.from:at.to] }

func (s *Script) replace(at span, by string) string {
	return s.Text[:at.from] + by + s.Text[at.to:]
}
