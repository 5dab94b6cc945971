package script

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// Parsing of files, how deep a tree may be (`mostDeep`), and the message that a file is a program and no script.

// parse parses a file and keeps it. The tree is rewritten, not resolved.
func (h *Host) parse(name string, src []byte) (*file, error) {
	f, err := h.parseAs(parseOptions, name, src)
	return f, h.conceal(name, err)
}

func (h *Host) parseAs(options *syntax.FileOptions, name string, src []byte) (*file, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // a byte order mark
	if isProgram(src) {
		return nil, fmt.Errorf("%s is a program, not a script: startrace -c %s traces what it does", name, name)
	}
	if err := checkText(name, string(src)); err != nil {
		return nil, err
	}
	f := &file{name: name, lines: strings.Split(string(src), "\n"),
		funcs: make(map[position]syntax.Node), calls: make(map[position]callSite)}
	tree, err := options.Parse(name, src, 0)
	if err != nil {
		return nil, f.syntaxError(err)
	}
	if deep := tooDeep(tree); deep != nil {
		at, _ := deep.Span()
		return nil, fmt.Errorf("%s: this goes on for more than %d parts, as a + b + c + … has: use a list or a loop",
			at, mostDeep)
	}
	f.tree = tree
	f.index()
	tree.Stmts = rewriteUpdates(tree.Stmts)
	h.files[name] = f
	return f, nil
}

// mostDeep bounds how deep a tree is, which has a level for each part of a + b + c, a.b.c, f(a)(b) and of a chain of
// elif: all that goes over trees calls itself for a level.
const mostDeep = 10000

// tooDeep is the first node that is too deep in a tree; nil: there is none.
func tooDeep(tree *syntax.File) (deep syntax.Node) {
	depth := 0
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if depth++; depth > mostDeep && deep == nil {
			deep = n
		}
		return true
	})
	return deep
}

// Sources are the files of a script, those that it has loaded among them, by
// their names.
type Sources map[string]*file

// Sources gives what has been loaded up to now, and sees what is loaded later.
func (h *Host) Sources() Sources { return h.files }

// Uses reports whether a file that was loaded has x.name somewhere, or the
// string "name", as getattr takes it.
func (s Sources) Uses(name string) bool {
	return anyNode(s, name, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			return n.Name.Name == name
		case *syntax.Literal:
			return n.Value == name
		}
		return false
	})
}

// Names reports whether a file that was loaded has the word somewhere, as the
// name of a builtin.
func (s Sources) Names(word string) bool {
	return anyNode(s, word, func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		return ok && id.Name == word
	})
}

// asks is what builtins.Env.Asks asks.
func (s Sources) asks(variable, attr string) bool {
	return anyNode(s, attr, func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok || dot.Name.Name != attr {
			return false
		}
		id, ok := dot.X.(*syntax.Ident)
		return ok && id.Name == variable
	})
}

// anyNode looks through the trees of files for a node that is what is sought, and has a word.
func anyNode(files Sources, word string, is func(syntax.Node) bool) bool {
	found := false
	for _, f := range files {
		if !f.mayHave(word) {
			continue
		}
		syntax.Walk(f.tree, func(n syntax.Node) bool {
			found = found || n != nil && is(n)
			return !found
		})
	}
	return found
}

// mayHave reports whether a node of the tree can have a word: a line has it, or a string with escapes. A run asks for
// some ten words that most files do not have, and to look through their lines takes a tenth of a walk over their trees.
func (f *file) mayHave(word string) bool {
	return slices.ContainsFunc(f.lines, func(line string) bool {
		return strings.Contains(line, word) || strings.Contains(line, `\`)
	})
}

// callAt is what builtins.Env.CallAt asks.
func (h *Host) callAt(pos plan.Pos) (string, plan.Pos) {
	if f := h.files[pos.Filename()]; f != nil {
		if c, ok := f.calls[placeOf(pos)]; ok {
			return c.name, c.begin
		}
	}
	return "", pos
}

// textOf is what builtins.Env.TextOf asks.
func (s Sources) textOf(pos plan.Pos) plan.Literal {
	if f := s[pos.Filename()]; f != nil {
		return f.calls[placeOf(pos)].text
	}
	return plan.Literal{}
}

// Line gives a line of a script, counted from 1; "" where there is none.
func (h *Host) Line(name string, n int) string {
	if f := h.files[name]; f != nil && n >= 1 && n <= len(f.lines) {
		return f.lines[n-1]
	}
	return ""
}

// isProgram reports whether a file is an ELF file, which would be as many mistakes as it has lines.
func isProgram(src []byte) bool { return bytes.HasPrefix(src, []byte(elf.ELFMAG)) }
