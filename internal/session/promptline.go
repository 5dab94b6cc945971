package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/startrace/startrace/starlark/repl"
)

// takeKey takes one key of the line that is edited.
func (p *prompt) takeKey() (more, ended bool) {
	key, ok, end := p.keys.key()
	if !ok {
		return false, end
	}
	if lines := strings.Split(key.Text, "\n"); key.Code == repl.Paste && len(lines) > 1 {
		p.paste(lines)
		return true, false
	}
	switch p.edit.Key(key) {
	case repl.Submit:
		p.enter()
	case repl.Abandon:
		p.ask()
		p.term.text += "^C"
		p.term.entered()
		p.in.Drop()
		p.edit.Clear()
	case repl.Leave:
		return false, true
	case repl.Show:
		p.ask()
		p.s.out.flush()
		_, _ = p.term.Write([]byte(repl.Columns(p.edit.Offers, p.term.width(), maxOfferRows)))
	case repl.Wipe:
		_ = p.term.put([]byte("\x1b[H\x1b[2J"))
		p.term.screen, p.term.editing = repl.Screen{}, false
	}
	p.ask()
	return true, false
}

// maxOfferRows bounds how much completion shows at once.
const maxOfferRows = 20

// enter takes the line as it is.
func (p *prompt) enter() {
	line := p.edit.Line()
	p.edit.History.Add(line)
	p.edit.Key(repl.Key{Code: repl.LineEnd})
	p.ask()
	p.term.entered()
	p.edit.Clear()
	p.runAll(p.in.Add(line))
}

// paste enters all lines but the last, which can still be changed. Empty lines
// inside a block do not end it.
func (p *prompt) paste(lines []string) {
	p.in.Pasted = true
	for i, line := range lines {
		p.edit.Insert(line)
		p.ask()
		if i < len(lines)-1 {
			p.enter()
		}
	}
	p.in.Pasted = false
}

// historyFile is where the lines of all runs are (XDG base directory
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

func readHistory() *repl.History {
	name, err := historyFile()
	if err != nil {
		return &repl.History{}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return &repl.History{} // there is none yet
	}
	return repl.ParseHistory(string(text))
}

// saveHistory adds the lines of this run to those of others. Once there are
// many, the oldest go.
func (p *prompt) saveHistory() {
	if p.edit == nil || p.edit.History.Added() == "" {
		return
	}
	if err := appendHistory(p.edit.History.Added()); err != nil {
		p.s.messagef("startrace: the history is not kept: %v", err)
	}
}

func appendHistory(added string) error {
	name, err := historyFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	old, err := os.ReadFile(name)
	if err == nil && strings.Count(string(old), "\n") > 2*repl.MaxHistory {
		return os.WriteFile(name, []byte(repl.ParseHistory(string(old)+added).String()), 0o600)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(added)
	return errors.Join(err, f.Close())
}
