package startrace_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateFiles = flag.Bool("update", false, "write the index of docs/architecture.md anew")

// Each Go file that is no test says behind its imports, in one sentence, what is in it, and docs/architecture.md lists
// these sentences, with the first lines of scripts that are given away: who is to change something finds the file by
// what they search for.
func TestFiles(t *testing.T) {
	rows := fileRows(t)
	if len(rows) < 1000 {
		t.Errorf("found %d files, want 1000 at least", len(rows))
	}
	said := map[string]string{}
	for name, sentence := range rows {
		if problem := unfit(sentence); problem != "" {
			t.Errorf("%s: the sentence that says what is in it %s: %q", name, problem, sentence)
		}
		key := path.Dir(name) + " " + sentence
		if other := said[key]; other != "" && sentence != onlyPackage {
			t.Errorf("%s and %s say the same of themselves: %q", name, other, sentence)
		}
		said[key] = name
	}
	const page, heading = "docs/architecture.md", "\n## Each file\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, have, ok := strings.Cut(string(data), heading)
	if !ok {
		t.Fatalf("%s has no list of files", page)
	}
	want := fileIndex(rows)
	switch {
	case have == want:
	case *updateFiles:
		if err := os.WriteFile(page, []byte(before+heading+want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the list of files in %s is not what the files say: go test . -run TestFiles -update\n%s", page,
			firstDifference(have, want))
	}
}

// onlyPackage is said of files that have the comment of their package and nothing else.
const onlyPackage = "The comment of the package."

// fileRows gives for each file what it says of itself. A name in backticks is in that file.
func fileRows(t *testing.T) map[string]string {
	rows := map[string]string{}
	for _, f := range productFiles(t) {
		rows[f.name] = headSentence(f)
		for _, m := range inBackticks.FindAllString(rows[f.name], -1) {
			name := strings.Trim(m, "`")
			if goName.MatchString(name) && len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(f.text, 2)) < 2 {
				t.Errorf("%s: its sentence names %s, which is not there: %q", f.name, name, rows[f.name])
			}
		}
	}
	for _, pattern := range []string{"stdlib/*.star", "stdlib/verbs/*.star", "examples/*.star"} {
		for _, name := range glob(t, pattern) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, doc, _ := strings.Cut(string(text), `"""`)
			line, _, _ := strings.Cut(doc, "\n")
			rows[name] = strings.TrimSuffix(line, `"""`)
		}
	}
	return rows
}

// headSentence is the first sentence of the first comment behind the imports that belongs to nothing else.
func headSentence(f sourceFile) string {
	begin, end := f.ast.Name.End(), token.Pos(0)
	documents := map[*ast.CommentGroup]bool{}
	for _, d := range f.ast.Decls {
		general, ok := d.(*ast.GenDecl)
		if ok && general.Tok == token.IMPORT {
			begin = general.End()
			continue
		}
		end = d.Pos()
		if ok {
			documents[general.Doc] = true
		} else {
			documents[d.(*ast.FuncDecl).Doc] = true
		}
		break
	}
	if end == 0 {
		return onlyPackage
	}
	for _, c := range f.ast.Comments {
		if c.Pos() > begin && c.End() < end && !documents[c] {
			return firstSentence(c.Text())
		}
	}
	return ""
}

// firstSentence is that of the first paragraph of a text, on one line.
func firstSentence(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	line := strings.Join(strings.Fields(paragraph), " ")
	if at := strings.Index(line, ". "); at >= 0 {
		return line[:at+1]
	}
	return line
}

var (
	inBackticks = regexp.MustCompile("`[^`]*`")
	goName      = regexp.MustCompile(`^\w+$`)
	actsInTable = regexp.MustCompile(`[*<|]|__`)
)

// unfit is what is wrong with a sentence for the list of files, "" for nothing.
func unfit(sentence string) string {
	switch {
	case sentence == "":
		return "is missing: want it as a comment behind the imports, with an empty line behind it"
	case !strings.HasSuffix(sentence, "."):
		return "does not end with a full stop"
	case len(sentence) > 200:
		return fmt.Sprintf("has %d characters, want 200 at most", len(sentence))
	case strings.Contains(sentence, "|"), actsInTable.MatchString(inBackticks.ReplaceAllString(sentence, "")):
		return "has characters that mean something in a table of Markdown: put them in backticks, no bar among them"
	}
	return ""
}

// fileIndex is the text of the list: a table for each folder.
func fileIndex(rows map[string]string) string {
	folders := map[string][]string{}
	for name := range rows {
		folders[path.Dir(name)] = append(folders[path.Dir(name)], name)
	}
	var names []string
	for folder := range folders {
		names = append(names, folder)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(`
This list is made of what each file says of itself at its head: of a Go file the first sentence behind the imports, of a
script the first line of its document. Who looks for the place of a change searches it for the words of a script, a
flag, a message or the kernel (` + "`e.ppid`, `--drain`, `sort=`, `DW_FORM`" + `). ` +
		"`go test . -run TestFiles -update` writes it.\n")
	for _, folder := range names {
		fmt.Fprintf(&b, "\n#### %s\n\n| file | what is in it |\n|---|---|\n", folder)
		slices.Sort(folders[folder])
		for _, name := range folders[folder] {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, rows[name])
		}
	}
	return b.String()
}

// firstDifference shows where two texts begin to differ.
func firstDifference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(h), len(w)) {
		if h[i] != w[i] {
			return fmt.Sprintf("have %s\nwant %s", h[i], w[i])
		}
	}
	return fmt.Sprintf("have %d lines, want %d", len(h), len(w))
}

// glob gives the files of a pattern, of which there are some.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %d files", pattern, err, len(names))
	}
	return names
}
