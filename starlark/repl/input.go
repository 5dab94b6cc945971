package repl

import "strings"

// Lines gathered into whole chunks: when a block has ended.

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
	// read is what the lines of the chunk before rest come to. rest are those of a string or a continued line that is
	// not at its end: only they are read again with the next line.
	read reading
	rest []string
	// open and block are those of reading.over, of all lines.
	open, block bool
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
func (in *Input) Drop() { *in = Input{line: in.line, Pasted: in.Pasted} }

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
	in.look(line)
	switch {
	case in.open:
		return out
	case in.block && (in.Pasted || strings.TrimSpace(line) != ""):
		return out
	}
	return append(out, in.Flush()...)
}

// ends reports whether a line begins something new after a block.
func (in *Input) ends(line string) bool {
	if in.open || !in.block || line == "" || strings.ContainsRune(" \t#", rune(line[0])) {
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
	in.Drop()
	return []Chunk{c}
}

// look reads the line that was added.
func (in *Input) look(line string) {
	in.rest = append(in.rest, line)
	var whole bool
	read := in.read
	if in.open, in.block, whole = read.over(strings.Join(in.rest, "\n")); whole {
		in.read, in.rest = read, nil
	}
}

// A reading is what lines come to, up to the end of one of them.
type reading struct {
	depth int   // brackets that are open
	last  token // that is no comment and no line feed
	block bool  // a line opens a block
}

// over reads the lines that follow. It says whether their end lies inside brackets, a string or a continued line,
// whether a line opens a block, and whether no token goes on in the next line.
func (r *reading) over(text string) (open, block, whole bool) {
	for _, t := range lex(text) {
		switch {
		case t.kind == commentToken:
			continue
		case t.kind == newlineToken:
			r.endLine()
			continue
		case t.kind == stringToken && t.unclosed:
			begin := text[t.start:t.content()]
			return strings.Contains(begin, `"""`) || strings.Contains(begin, "'''"), r.block, false
		case strings.Contains("([{", t.text):
			r.depth++
		case strings.Contains(")]}", t.text):
			r.depth--
		}
		r.last = t
	}
	r.endLine()
	continued := r.last.kind == continueToken
	return r.depth > 0 || continued, r.block, !continued
}

func (r *reading) endLine() { r.block = r.block || r.depth == 0 && r.last.text == ":" }
