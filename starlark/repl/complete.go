package repl

import (
	"slices"
	"strings"
)

// Completion at the prompt: what can stand at a place of the text, a name, a field, a point, an argument.

// A Completion says what could stand at the cursor.
type Completion struct {
	From int // where the words begin in the text before the cursor
	// Words are those that could stand there. They extend what is typed.
	Words []string
	// Shown are words that only say what there is: they extend nothing.
	Shown []string
}

// A Source knows what there is.
type Source interface {
	// Names are all words that can begin an expression or a statement.
	Names() []string
	// Arguments are the names of arguments that a function takes.
	Arguments(function string) []string
	// Strings says what strings among the arguments of a function are.
	Strings(function string) Strings
	// Attributes are those of the value that a path of names leads to.
	Attributes(path []string) []string
	// Fields are those of an event of one of the points, or of the part of it
	// that a path leads to. Without points, what all events have.
	Fields(points, path []string) []string
	// Points are those that could follow what is typed of one; shown are what
	// a pattern matches.
	Points(typed string) (words, shown []string)
	// Files are those whose names begin so; modules only: .star and std/.
	Files(typed string, modules bool) []string
}

// Strings says what the strings are that a function takes.
type Strings uint8

// What strings can be.
const (
	Texts   Strings = iota
	Points          // patterns of points
	Modules         // files of scripts, and modules of the standard library
	Files           // files of scripts
)

// Complete gives what could stand at the end of text, which is all of the chunk
// before the cursor.
func Complete(text string, src Source) Completion {
	tokens := lex(text)
	if n := len(tokens); n > 0 && tokens[n-1].kind == stringToken && tokens[n-1].unclosed {
		return inString(tokens, text, src)
	}
	path, partial, from := chain(tokens, text)
	switch {
	case len(path) == 0 && partial == "":
		return Completion{From: len(text)}
	case len(path) == 0:
		words := append(src.Names(), arguments(tokens, src)...)
		return Completion{From: from, Words: matching(words, partial)}
	}
	if points, is := parameter(tokens, path[0], src); is {
		return Completion{From: from, Words: matching(src.Fields(points, path[1:]), partial)}
	}
	return Completion{From: from, Words: matching(src.Attributes(path), partial)}
}

// matching are the words that begin so, sorted.
func matching(words []string, begin string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begin) && (begin != "" || !strings.HasPrefix(w, "_")) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// chain takes apart a.b.par at the end: the names before the last dot, and what
// is behind it.
func chain(tokens []token, text string) (path []string, partial string, from int) {
	i, from := len(tokens)-1, len(text)
	if i >= 0 && tokens[i].kind == nameToken && tokens[i].end == len(text) {
		partial, from = tokens[i].text, tokens[i].start
		i--
	}
	for i >= 1 && tokens[i].text == "." && tokens[i-1].kind == nameToken {
		path = append([]string{tokens[i-1].text}, path...)
		i -= 2
	}
	if i >= 0 && tokens[i].text == "." { // of something that is no name
		return nil, "", len(text)
	}
	return path, partial, from
}

// An open bracket with the name before it, and where both are.
type open struct {
	function string
	at       int // in the tokens
}

// opens are the brackets that are open at the end, the outermost first.
func opens(tokens []token) (out []open) {
	for i, t := range tokens {
		switch {
		case t.kind != otherToken:
		case strings.Contains("([{", t.text):
			o := open{at: i}
			if t.text == "(" && i > 0 && tokens[i-1].kind == nameToken {
				o.function = tokens[i-1].text
			}
			out = append(out, o)
		case strings.Contains(")]}", t.text) && len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return out
}

// inString completes a point or a file.
func inString(tokens []token, text string, src Source) Completion {
	last := tokens[len(tokens)-1]
	from := min(last.content(), len(text))
	typed := text[from:]
	all := opens(tokens[:len(tokens)-1])
	for _, o := range slices.Backward(all) {
		if o.function == "" {
			continue
		}
		switch what := src.Strings(o.function); what {
		case Points:
			words, shown := src.Points(typed)
			return Completion{From: from, Words: matching(words, typed), Shown: shown}
		case Modules, Files:
			return Completion{From: from, Words: matching(src.Files(typed, what == Modules), typed)}
		}
		return Completion{From: len(text)}
	}
	return Completion{From: len(text)}
}

// arguments are the names that the call around the end takes.
func arguments(tokens []token, src Source) (out []string) {
	all := opens(tokens)
	if len(all) == 0 || all[len(all)-1].function == "" {
		return nil
	}
	for _, name := range src.Arguments(all[len(all)-1].function) {
		out = append(out, name+" = ")
	}
	return out
}

// parameter reports whether a name is that of a function that is being typed,
// and for a lambda of a probe the points that stand before it.
func parameter(tokens []token, name string, src Source) (points []string, is bool) {
	lambda := -1
	for i := 0; i+1 < len(tokens); i++ {
		switch {
		case tokens[i].text == "lambda" && tokens[i+1].text == name:
			lambda, is = i, true
		case tokens[i].text == "def" && i+3 < len(tokens) && tokens[i+3].text == name:
			lambda, is = -1, true
		}
	}
	if lambda < 0 {
		return nil, is
	}
	for _, o := range opens(tokens[:lambda]) {
		if o.function != "" && src.Strings(o.function) != Points {
			continue
		}
		for _, t := range tokens[o.at:lambda] {
			if t.kind == stringToken && strings.Contains(t.text, ":") {
				points = append(points, strings.Trim(t.text[t.content()-t.start:], `"'`))
			}
		}
	}
	slices.Sort(points)
	return slices.Compact(points), true
}
