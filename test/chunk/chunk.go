// Package chunk reads files of short scripts that are wrong on purpose, and compares what is found with what the
// scripts say is wrong with them.
//
// Chunks are separated by lines of three dashes. A line in which something is found ends in a mark:
//
//	print(e.foo)          ### "no field foo"
//	x = e.pid / 2         ### 11 `/ makes a float: use //`
//	print(e.foo, e.bar)   ### 13 "foo" 20 "bar"
//	print(e.regs.rax)     ### arm64 14 "no register rax"
//
// A text in double quotes is a regular expression that matches some of the message, one in back quotes is all of it.
// The number in front of it is the column, in characters from 1; without one any column will do. The name of an
// architecture in front of all says that the mark holds on that one only.
package chunk

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Files of short scripts with marks of what is wrong on each line, read and compared with what was found.

// A Chunk is one of the scripts of a file.
type Chunk struct {
	// File is the file as it was opened.
	File string
	// Line is the line of the file on which the chunk begins, from 1.
	Line int
	// Text is the script, with the comments that say what is wrong.
	Text string

	wants []*want
}

// A Mistake is what was found in a chunk, in the words Msg: Line is counted from 1 in the chunk, Col in characters from
// 1.
type Mistake struct {
	Line, Col int
	Msg       string
}

// want is a mistake that a chunk says it has.
type want struct {
	line, col int // col is 0 where any will do
	text      string
	matches   func(msg string) bool
}

// Read gives the chunks of a file.
func Read(file string) ([]*Chunk, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []*Chunk
	line := 1
	for _, src := range strings.Split(string(text), "\n---\n") {
		c := &Chunk{File: file, Line: line, Text: src}
		if err := c.readMarks(); err != nil {
			return nil, err
		}
		out = append(out, c)
		line += strings.Count(src, "\n") + 2
	}
	return out, nil
}

// Title is what the first line of the chunk says, without its mark.
func (c *Chunk) Title() string {
	first, _, _ := strings.Cut(c.Text, "\n")
	if i := strings.Index(first, "### "); i > 0 {
		first = first[:i]
	}
	return strings.TrimSpace(first)
}

func (c *Chunk) readMarks() error {
	for i, l := range strings.Split(c.Text, "\n") {
		_, mark, ok := strings.Cut(l, "### ")
		if !ok {
			continue
		}
		list, err := parseMark(i+1, strings.TrimSpace(mark))
		if err != nil {
			return fmt.Errorf("%s:%d: %w", c.File, c.Line+i, err)
		}
		c.wants = append(c.wants, list...)
	}
	return nil
}

// parseMark reads the mark of a line.
func parseMark(line int, mark string) (out []*want, err error) {
	if word, rest, ok := strings.Cut(mark, " "); ok && (word == "amd64" || word == "arm64") {
		if word != runtime.GOARCH {
			return nil, nil
		}
		mark = rest
	}
	for mark != "" {
		w := &want{line: line}
		if word, rest, ok := strings.Cut(mark, " "); ok {
			if n, err := strconv.Atoi(word); err == nil {
				w.col, mark = n, strings.TrimSpace(rest)
			}
		}
		quoted, err := strconv.QuotedPrefix(mark)
		if err != nil {
			return nil, fmt.Errorf("%s: want a text in quotes", mark)
		}
		if err := w.read(quoted); err != nil {
			return nil, err
		}
		out = append(out, w)
		mark = strings.TrimSpace(mark[len(quoted):])
	}
	return out, nil
}

// read takes the text of a mark in its quotes.
func (w *want) read(quoted string) (err error) {
	if w.text, err = strconv.Unquote(quoted); err != nil {
		return err
	}
	if quoted[0] == '`' {
		w.matches = func(msg string) bool { return msg == w.text }
		return nil
	}
	re, err := regexp.Compile(w.text)
	if err != nil {
		return err
	}
	w.matches = re.MatchString
	return nil
}

// Differences says what was found and is not marked, and what is marked and was not found.
func (c *Chunk) Differences(found []Mistake) (out []string) {
	met := map[*want]bool{}
	for _, m := range found {
		if w := c.find(m, met); w != nil {
			met[w] = true
			continue
		}
		out = append(out, fmt.Sprintf("%s:%d:%d: not marked: %s", c.File, c.Line+m.Line-1, m.Col, m.Msg))
	}
	for _, w := range c.wants {
		if !met[w] {
			out = append(out, fmt.Sprintf("%s:%d:%d: not found: %s", c.File, c.Line+w.line-1, w.col, w.text))
		}
	}
	return out
}

// find gives the mark of a mistake that no other has met.
func (c *Chunk) find(m Mistake, met map[*want]bool) *want {
	for _, w := range c.wants {
		if !met[w] && w.line == m.Line && (w.col == 0 || w.col == m.Col) && w.matches(m.Msg) {
			return w
		}
	}
	return nil
}
