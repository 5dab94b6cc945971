package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// remedy is what to do about a sentence without a test.
const remedy = "Show it by a script in cmd/startrace/testdata/sentences, or, where a Go test does, quote it there: " +
	"// > …"

// described are the pages of which each sentence is to be true.
var described = []string{"language", "semantics", "builtins"}

// TestSentences holds the pages to what they say: each sentence, each row of a table and each line of a listing that
// has a remark stands word for word in the quotation of a test. Tests quote in comments of Go and in documents that are
// tests, with > before each line:
//
//	// > A key of None means "not this one".
//
// The documents are those of cmd/startrace/testdata/sentences, whose scripts TestSentences there runs. A quotation that
// no page has any more fails, too: its test is about something that the page says otherwise now.
func TestSentences(t *testing.T) {
	if _, err := os.Stat("../go.mod"); err != nil {
		t.Skipf("needs the source tree, which guests do not have: %v", err)
	}
	quoted := quotations(t)
	said := map[string]bool{}
	for _, page := range described {
		text, _ := Page(page)
		for _, s := range sentences(text) {
			said[s] = true
			_, bare := saysNothing[s]
			switch _, ok := quoted[s]; {
			case !ok && !bare:
				t.Errorf("docs/%s.md: no test quotes\n%s\n"+remedy, page, s)
			case ok && bare:
				t.Errorf("docs/%s.md: %s quotes what saysNothing has, too:\n%s", page, quoted[s], s)
			}
		}
	}
	for s, file := range quoted {
		if !said[s] {
			t.Errorf("%s quotes what no page says:\n%s", file, s)
		}
	}
	for s := range saysNothing {
		if !said[s] {
			t.Errorf("saysNothing has what no page says:\n%s", s)
		}
	}
}

// Sentences end before what begins another: a word with a capital, code, a quotation, our name.
var sentenceEnd = regexp.MustCompile("([.!?][)\"]?) (?:[A-Z`\"(\\[/]|startrace )")

// sentences are those of a text in Markdown, each with single spaces. A row of a table is one; code is none, but a line
// of an indented listing with a remark is.
func sentences(text string) (out []string) {
	var paragraph []string
	flush := func() {
		out = append(out, split(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			fenced = !fenced
		case fenced:
		case line == "", strings.HasPrefix(line, "#"):
			flush()
		case strings.HasPrefix(line, "|---"): // the row before was the head
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		case strings.HasPrefix(line, "|"):
			flush()
			out = append(out, line)
		case strings.HasPrefix(line, "    "):
			flush()
			if remarked.MatchString(line) {
				out = append(out, strings.Join(strings.Fields(line), " "))
			}
		case strings.HasPrefix(line, "* "):
			flush()
			paragraph = []string{line[2:]}
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return out
}

// remarked is a line of a listing that says something, too.
var remarked = regexp.MustCompile(`\S {3,}\S`)

// split gives the sentences of a paragraph. What stands in code ends none.
func split(text string) (out []string) {
	text = strings.Join(strings.Fields(text), " ")
	begin := 0
	for _, at := range sentenceEnd.FindAllStringSubmatchIndex(text, -1) {
		if end := at[3]; strings.Count(text[begin:end], "`")%2 == 0 {
			out = append(out, text[begin:end])
			begin = end + 1
		}
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

// quotations are the sentences that tests quote, with the file of each.
func quotations(t *testing.T) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var found []string
		switch dir := filepath.Base(filepath.Dir(path)); {
		case strings.HasSuffix(path, "_test.go"):
			found, err = quotesOfGo(path)
		case dir == "sentences" && strings.HasSuffix(path, ".md"):
			found, err = quotesOfText(path, ">")
		case dir == "testdata" && strings.HasSuffix(path, ".txtar"):
			found, err = quotesOfText(path, "# >")
		}
		for _, q := range found {
			for _, s := range sentences(q) {
				out[s] = path
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// quotesOfText are the quotations in a file, behind a mark.
func quotesOfText(path, mark string) ([]string, error) {
	text, err := os.ReadFile(path)
	return quotes(strings.Split(string(text), "\n"), mark), err
}

// quotesOfGo are the quotations in the comments of a file.
func quotesOfGo(path string) (out []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range f.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, c.Text)
		}
		out = append(out, quotes(lines, "// >")...)
	}
	return out, nil
}

// openRow is the last line of a quotation, a row of a table that goes on in the next line.
var openRow = regexp.MustCompile(`(?m)^(\|.*[^|\n])\n\z`)

// quotes are the runs of lines behind a mark.
func quotes(lines []string, mark string) (out []string) {
	quote := ""
	for _, line := range append(lines, "") {
		rest, ok := strings.CutPrefix(line, mark)
		if ok {
			quote = openRow.ReplaceAllString(quote, "$1 ") + strings.TrimPrefix(rest, " ") + "\n"
			continue
		}
		if quote != "" {
			out = append(out, quote)
		}
		quote = ""
	}
	return out
}
