package repl

import "strings"

// A Chunk is a whole piece of input: statements that are run together.
type Chunk struct {
	Line int // of its first line, counted from 1 over all input
	// Text has its lines, without the last line feed.
	Text string
}

// An Input gathers lines into chunks. A statement is whole with its line,
// unless a bracket or a string is open; a block (def, if, for) is whole at an
// empty line, or when a line follows that does not belong to it.
type Input struct {
	lines []string
	line  int // lines taken so far
	// Pasted says that lines come from a paste or a pipe: there empty lines may
	// stand in the middle of a block.
	Pasted bool
}

// Next is the number of the next line.
func (in *Input) Next() int { return in.line + 1 }

// Open reports whether a chunk has begun.
func (in *Input) Open() bool { return len(in.lines) > 0 }

// Text is the chunk that has begun.
func (in *Input) Text() string { return strings.Join(in.lines, "\n") }

// Drop forgets the chunk that has begun.
func (in *Input) Drop() { in.lines = nil }

// Add takes a line and gives the chunks that it completes.
func (in *Input) Add(line string) (out []Chunk) {
	if in.Open() && in.ends(line) {
		out = append(out, in.Flush()...)
	}
	in.line++
	if blank := strings.TrimSpace(line) == ""; blank && !in.Open() {
		return out
	}
	in.lines = append(in.lines, line)
	open, block := state(in.Text())
	switch {
	case open:
		return out
	case block && (in.Pasted || strings.TrimSpace(line) != ""):
		return out
	}
	return append(out, in.Flush()...)
}

// ends reports whether a line begins something new after a block.
func (in *Input) ends(line string) bool {
	open, block := state(in.Text())
	if open || !block || line == "" || strings.ContainsRune(" \t#", rune(line[0])) {
		return false
	}
	first := line[:length(line, inName)]
	return first != "elif" && first != "else"
}

// Flush gives what has been gathered, whole or not.
func (in *Input) Flush() []Chunk {
	if !in.Open() {
		return nil
	}
	c := Chunk{in.line - len(in.lines) + 1, in.Text() + "\n"}
	in.lines = nil
	return []Chunk{c}
}

// state says of a text whether its end lies inside brackets, a string or a
// continued line, and whether it has a line that opens a block.
func state(text string) (open, block bool) {
	depth := 0
	var last token
	for _, t := range lex(text) {
		switch {
		case t.kind == commentToken:
			continue
		case t.kind == newlineToken:
			block = block || depth == 0 && last.text == ":"
			continue
		case t.kind == stringToken && t.unclosed:
			return strings.Contains(text[t.start:t.content()], `"""`) ||
				strings.Contains(text[t.start:t.content()], "'''"), block
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			depth--
		}
		last = t
	}
	return depth > 0 || last.kind == continueToken, block || depth == 0 && last.text == ":"
}
