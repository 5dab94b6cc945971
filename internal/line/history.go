package line

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// What was entered before: the file of the history, and its size (`maxHistory`).

// maxHistory is how many entries the file keeps. liner recalls the last 1,000.
const maxHistory = 5000

// A history is what was entered, the oldest first: lines, and blocks of
// several.
type history struct {
	entries []string
	added   int // how many of them are of this run
}

// parseHistory reads what entriesText wrote: a line for each entry; of a block
// all lines but the last end with a backslash.
func parseHistory(text string) *history {
	h := &history{}
	entry := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if part, more := strings.CutSuffix(line, `\`); more {
			entry += part + "\n"
			continue
		}
		h.put(entry + line)
		entry = ""
	}
	return h
}

// add puts an entry at the end, unless it is there already.
func (h *history) add(entry string) {
	if h.put(entry) {
		h.added = min(h.added+1, len(h.entries))
	}
}

func (h *history) put(entry string) bool {
	if strings.TrimSpace(entry) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	if len(h.entries) > maxHistory {
		h.entries = h.entries[1:]
	}
	return true
}

// ofThisRun is the text of the entries of this run, to be added to a file that
// other runs may write too.
func (h *history) ofThisRun() string { return entriesText(h.entries[len(h.entries)-h.added:]) }

func (h *history) String() string { return entriesText(h.entries) }

func entriesText(entries []string) string {
	var b strings.Builder
	for _, entry := range entries {
		b.WriteString(strings.ReplaceAll(entry, "\n", "\\\n"))
		if strings.HasSuffix(entry, `\`) {
			b.WriteString(" ") // it goes on with nothing
		}
		b.WriteString("\n")
	}
	return b.String()
}

// historyFile is where the entries of all runs are (XDG base directory
// specification: state).
func historyFile() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "startrace", "history"), nil
}

func readHistory() *history {
	name, err := historyFile()
	if err != nil {
		return &history{}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return &history{} // there is none yet
	}
	return parseHistory(string(text))
}

// save adds the entries of this run to those of others. Once there are many,
// the oldest go.
func (h *history) save() error {
	if h.added == 0 {
		return nil
	}
	name, err := historyFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	old, err := os.ReadFile(name)
	if err == nil && strings.Count(string(old), "\n") > 2*maxHistory {
		return os.WriteFile(name, []byte(parseHistory(string(old)+h.ofThisRun()).String()), 0o600)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(h.ofThisRun())
	return errors.Join(err, f.Close())
}
