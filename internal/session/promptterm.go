package session

import (
	"bytes"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/starlark/repl"
)

// A terminal is where the prompt writes: results, messages, and the line that
// is edited. What is written while a line is edited goes above it, in whole
// lines; a terminal that cannot move its cursor shows it after Enter.
type terminal struct {
	in         *os.File
	w          io.Writer // results
	isTerminal bool
	smart      bool // it can move the cursor

	screen  repl.Screen
	editing bool   // a line is on the screen, or is to be
	partial []byte // of a line that is not whole
	held    []byte // what waits for Enter
	asked   bool   // a dumb terminal shows the prompt
	column  bool   // the cursor is not at the beginning of a row

	prompt, text string // what is drawn
	at           int

	restoring sync.Once
	before    *unix.Termios
}

// newTerminal takes the place of standard output and error.
func newTerminal(o *Options) *terminal {
	t := &terminal{in: o.Stdin, w: o.Stdout}
	t.isTerminal = isTerminal(o.Stdin) && isTerminal(o.Stdout)
	kind := os.Getenv("TERM")
	t.smart = t.isTerminal && kind != "dumb" && kind != ""
	if t.isTerminal {
		o.Stdout = t
		if isTerminal(o.Stderr) {
			o.Stderr = t
		}
	}
	return t
}

// The modes of a terminal that tells pasted text from typed one (xterm's
// ctlseqs, "Bracketed Paste Mode").
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// edit makes the terminal give each key as it is. Output stays as it was: a
// newline begins a row.
func (t *terminal) edit() error {
	mode, err := unix.IoctlGetTermios(int(t.in.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	before := *mode
	t.before = &before
	mode.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.ISTRIP
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, mode); err != nil {
		return err
	}
	return t.put([]byte(pasteOn))
}

// restore gives the terminal back as it was.
func (t *terminal) restore() {
	if t.before == nil {
		return
	}
	t.restoring.Do(func() {
		_ = t.put([]byte(pasteOff)) // a terminal that is gone needs neither
		_ = unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, t.before)
	})
}

// width is how many columns the terminal has.
func (t *terminal) width() int {
	size, err := unix.IoctlGetWinsize(int(t.in.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 80
	}
	return int(size.Col)
}

func (t *terminal) put(b []byte) error {
	_, err := t.w.Write(b)
	return err
}

// draw shows the line that is edited.
func (t *terminal) draw(prompt, text string, at int) {
	if t.editing && t.prompt == prompt && t.text == text && t.at == at {
		return
	}
	out := t.screen.Erase(t.width())
	t.prompt, t.text, t.at, t.editing = prompt, text, at, true
	_ = t.put([]byte(out + t.screen.Draw(prompt, text, at, t.width()))) // the next write of results reports it
}

// ask shows the prompt of a terminal that edits lines itself.
func (t *terminal) ask(prompt string) {
	if !t.asked {
		t.asked = true
		_ = t.put([]byte(prompt))
	}
}

// entered leaves the line where it is: what is written now comes below.
func (t *terminal) entered() {
	out := t.screen.Erase(t.width()) + t.screen.Draw(t.prompt, t.text, len(t.text), t.width()) +
		t.screen.Below(t.width())
	t.screen, t.editing = repl.Screen{}, false
	_ = t.put([]byte(out))
}

// answered says that Enter was pressed.
func (t *terminal) answered() {
	t.asked = false
	held := t.held
	t.held = nil
	if len(held) > 0 {
		_, _ = t.Write(held)
	}
}

// abandoned says that Ctrl-C was pressed.
func (t *terminal) abandoned() {
	if t.asked {
		_ = t.put([]byte("\n"))
	}
	t.answered()
}

// Write shows results and messages.
func (t *terminal) Write(b []byte) (int, error) {
	n := len(b)
	switch {
	case t.asked: // a dumb terminal, and somebody may be typing
		t.held = append(t.held, b...)
		return n, nil
	case t.editing:
		t.partial = append(t.partial, b...)
		whole := bytes.LastIndexByte(t.partial, '\n') + 1
		if whole == 0 {
			return n, nil
		}
		out := append([]byte(t.screen.Erase(t.width())), t.partial[:whole]...)
		t.partial = append([]byte(nil), t.partial[whole:]...)
		out = append(out, t.screen.Draw(t.prompt, t.text, t.at, t.width())...)
		return n, t.put(out)
	}
	b = append(t.partial, b...)
	t.partial = nil
	if len(b) > 0 {
		t.column = b[len(b)-1] != '\n'
	}
	return n, t.put(b)
}

// fresh begins a new row, if something was printed that ended in the middle of
// one.
func (t *terminal) fresh() {
	if t.isTerminal && t.column {
		t.column = false
		_ = t.put([]byte("\n"))
	}
}

// leave removes the line that is edited; what is written now comes at its
// place.
func (t *terminal) leave() {
	out := t.screen.Erase(t.width())
	if t.editing || t.asked {
		out += "\n"
	}
	t.editing, t.asked = false, false
	_ = t.put([]byte(out))
	t.answered()
}
