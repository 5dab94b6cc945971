package command

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/docs"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/stdlib"
)

// `startrace doc` and `startrace help` of a word: builtins, modules, documents, and what is said of a word that there
// is not.

// Doc prints the reference: of all builtins, or of one name: a builtin, a
// module of the standard library, a constant, a document.
func Doc(w io.Writer, name string) error {
	if name == "" {
		_, err := w.Write(builtins.AppendReference(nil))
		return err
	}
	if en, ok := builtins.Lookup(name); ok {
		fmt.Fprintf(w, "%s\n\n%s\n", en.Signature, en.Text())
		return nil
	}
	if m, ok := stdlib.Find(strings.TrimSuffix(strings.TrimPrefix(name, "std/"), ".star")); ok {
		return docModule(w, m)
	}
	if v, ok := kernel.Constant(name); ok {
		fmt.Fprintf(w, "%s = %d (%#x)\n", name, v, v)
		return nil
	}
	if text, ok := docs.Page(name); ok {
		_, err := io.WriteString(w, text)
		return err
	}
	return mistake.Usagef("there is nothing of the name %s%s; startrace doc prints the whole reference",
		escape.Line(name), nearName(name))
}

// Help is Doc for a word that is no command; commands are the words that may
// have been meant.
func Help(w io.Writer, name string, commands []string) error {
	if near := naming.Suggest(name, commands); near != "" {
		if _, known := builtins.Lookup(name); !known {
			return mistake.Usagef("there is no help for %s (did you mean %s?)", name, near)
		}
	}
	return Doc(w, name)
}

func nearName(name string) string {
	names := docs.Pages()
	for _, en := range builtins.Entries() {
		names = append(names, en.Name)
	}
	return mistake.Near(name, names)
}

// docModule prints the text of a module and of its functions.
func docModule(w io.Writer, m stdlib.Module) error {
	file := m.File()
	text, err := fs.ReadFile(stdlib.Files(), file)
	if err != nil {
		return err
	}
	tree, err := (&syntax.FileOptions{}).Parse(file, text, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, strings.TrimRight(m.Doc, "\n"))
	if m.Tool {
		fmt.Fprintf(w, "\nstartrace %s --help shows its flags, startrace doc tools/%s what it prints.\n", m.Name,
			m.Name)
	}
	var names []string
	for _, stmt := range tree.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name != "main" && def.Name.Name[0] != '_' {
			names = append(names, def.Name.Name)
			fmt.Fprintf(w, "\n%s\n", strings.TrimSuffix(header(string(text), def), ":"))
			if doc := docOf(def.Body); doc != "" {
				fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(Text(doc), "\n", "\n    "))
			}
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		fmt.Fprintf(w, "\n%s\n", loading("std/"+file, names))
	}
	return nil
}

// Text is what stands at the top of a function, without the blanks that all its lines have in front but the first,
// which is behind the quotes.
func Text(doc string) string {
	lines := strings.Split(strings.TrimSpace(doc), "\n")
	common := len(doc)
	for _, line := range lines[1:] {
		if text := strings.TrimLeft(line, " "); text != "" {
			common = min(common, len(line)-len(text))
		}
	}
	for i, line := range lines[1:] {
		lines[i+1] = line[min(common, len(line)):]
	}
	return strings.Join(lines, "\n")
}

// header is the first line of a def, without the word.
func header(text string, def *syntax.DefStmt) string {
	line := strings.Split(text, "\n")[def.Def.Line-1]
	return strings.TrimPrefix(strings.TrimSpace(line), "def ")
}

// docOf is the text at the top of a function.
func docOf(body []syntax.Stmt) string {
	if len(body) == 0 {
		return ""
	}
	expr, ok := body[0].(*syntax.ExprStmt)
	if !ok {
		return ""
	}
	l, ok := expr.X.(*syntax.Literal)
	if !ok || l.Token != syntax.STRING {
		return ""
	}
	doc, _ := l.Value.(string)
	return doc
}

// widestLoad is how many columns a statement that loads names has on one line.
const widestLoad = 100

// loading is the statement that loads names from a module: on one line, or where that is too wide on several.
func loading(file string, names []string) string {
	out, width := fmt.Sprintf("load(%q", file), len(file)
	for _, name := range names {
		before := ", "
		if width += len(name) + 4; width > widestLoad {
			before, width = ",\n    ", len(name)
		}
		out += before + fmt.Sprintf("%q", name)
	}
	return out + ")"
}
