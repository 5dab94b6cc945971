package session

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/stdlib"
)

// Which tool or verb a word of the command line means, and the hint at another one.

// parseScript reads the script that a word of the command line means. A word
// without a slash and without .star is a tool of the standard library, even if
// there is a file of that name (./NAME is that file); what is no tool is a
// file, and - is standard input.
func (s *session) parseScript(word string) error {
	if word == "-" {
		text, err := io.ReadAll(s.Stdin)
		if err != nil {
			return err
		}
		return s.host.ParseText("stdin", text)
	}
	if strings.Contains(word, "/") || strings.HasSuffix(word, ".star") {
		return s.host.ParseFile(word)
	}
	if m, ok := stdlib.Find(word); ok {
		if !m.Tool {
			return mistake.Usagef("%s is no tool: it is loaded, load(\"std/%s.star\", …)", word, word)
		}
		return s.host.ParseStd(m.File())
	}
	err := s.host.ParseFile(word)
	if pathErr, ok := err.(*fs.PathError); ok && os.IsNotExist(pathErr) {
		return fmt.Errorf("%s is neither a file nor a tool%s; startrace tools lists the tools", word, nearTool(word))
	}
	return err
}

// nearTool is a hint for a misspelt tool.
func nearTool(word string) string {
	var names []string
	for _, c := range manual.Commands() {
		names = append(names, c.Name)
	}
	for _, m := range stdlib.Modules() {
		if m.Tool {
			names = append(names, m.Name)
		}
	}
	return mistake.Near(word, names)
}
