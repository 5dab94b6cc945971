package command

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/docs"
	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/stdlib"
)

// The words of the machine and the library for completion in shells.

// Complete prints what a shell may put at the end of a line.
func Complete(o session.Options, book *manual.Book, shell, line string) (exit int, err error) {
	defer session.Guard(&o, &exit, &err)
	src := machineNames{machine.Open(), o}
	defer src.m.Close() // what it has read
	answer := book.Complete(line, src)
	return session.Done, answer.Write(o.Stdout, shell, line)
}

// Library completes the table of the commands with what the standard library
// has.
func Library(book *manual.Book) {
	for _, m := range stdlib.Modules() {
		t := manual.Tool{Name: m.Name, Summary: m.Summary()}
		switch {
		case m.Verb:
			book.Verbs = append(book.Verbs, t)
		case m.Tool:
			book.Tools = append(book.Tools, t)
		}
	}
}

// machineNames are the names of this machine that completion asks for. What cannot be read has no candidates: there is
// nobody to tell.
type machineNames struct {
	m *machine.Machine
	o session.Options
}

var _ manual.Source = machineNames{}

func (s machineNames) ToolFlags(script string) []flags.Flag {
	words, err := session.ScriptFlags(s.o, script)
	if err != nil {
		return nil
	}
	return builtins.FlagsOf(slices.DeleteFunc(words, func(w builtins.FlagWord) bool { return w.Positional }))
}

func (s machineNames) Points(typed string) []string {
	words, _ := s.m.PointWords(typed)
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			out = append(out, w)
		}
	}
	return out
}

func (s machineNames) Fields(point string, path []string) []string {
	return s.m.FieldWords([]string{point}, path)
}

func (s machineNames) Names() (out []string) {
	for _, en := range builtins.Entries() {
		out = append(out, en.Name)
	}
	return append(out, docs.Pages()...)
}

// Processes are those of /proc, with their names.
func (s machineNames) Processes() (out []manual.Candidate) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		comm, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
		if err != nil {
			continue // it has ended
		}
		out = append(out, manual.Candidate{Word: e.Name(), What: strings.TrimSpace(string(comm))})
	}
	return out
}
