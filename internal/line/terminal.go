package line

import (
	"bytes"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The terminal: its modes, its width, where results and messages go above the line.

// A terminal is where results and messages are written, and the line that is
// edited. What is written while a line is edited goes above it, in whole
// lines; a terminal that cannot move its cursor shows it after Enter.
type terminal struct {
	// in is what is typed on; its modes are changed while lines are edited.
	in *os.File
	w  io.Writer // results
	// isTerminal: somebody types and reads.
	isTerminal bool
	smart      bool // it can move the cursor

	mu      sync.Mutex // over what follows: liner's output comes at any time
	screen  screen
	editing bool   // a line is on the screen, or is to be
	partial []byte // of a line that is not whole
	held    []byte // what waits for Enter, or until the terminal is not lent
	lent    bool   // another program has the terminal
	asked   bool   // a dumb terminal shows the prompt
	column  bool   // the cursor is not at the beginning of a row

	prompt, text string // what is drawn
	// at is the byte of text at which the cursor was drawn, columns how wide the terminal was then.
	at, columns int

	// restoring lets restore do its work once; before are the modes to restore, nil if they were not changed.
	restoring sync.Once
	before    *unix.Termios
}

// IsTerminal reports whether w is one.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
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
	return t.takeKeys(*mode)
}

// takeKeys sets the modes of edit.
func (t *terminal) takeKeys(mode unix.Termios) error {
	mode.Iflag &^= unix.IXON | unix.ICRNL | unix.INLCR | unix.ISTRIP
	mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, &mode); err != nil {
		return err
	}
	return t.put([]byte(pasteOn))
}

// lend makes the terminal as it was before edit, and holds what is written.
func (t *terminal) lend() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lent = true
	if err := t.put([]byte(pasteOff)); err != nil {
		return err
	}
	return unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, t.before)
}

// takeBack ends lend.
func (t *terminal) takeBack() error {
	t.mu.Lock()
	t.lent = false
	err := t.takeKeys(*t.before)
	t.mu.Unlock()
	t.answered() // with what was held
	return err
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
	t.mu.Lock()
	defer t.mu.Unlock()
	width := t.width()
	if t.editing && t.prompt == prompt && t.text == text && t.at == at && t.columns == width {
		return
	}
	out := t.screen.erase(width)
	t.prompt, t.text, t.at, t.columns, t.editing = prompt, text, at, width, true
	_ = t.put([]byte(out + t.screen.draw(prompt, text, at, width))) // the next write of results reports it
}

// wipe clears the screen. The line is drawn again by who asks for it.
func (t *terminal) wipe() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.put([]byte("\x1b[H\x1b[2J")) // the next write of results reports it
	t.screen, t.editing = screen{}, false
}

// ask shows the prompt of a terminal that edits lines itself.
func (t *terminal) ask(prompt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked {
		t.asked = true
		_ = t.put([]byte(prompt)) // the next write of results reports it
	}
}

// entered leaves a line where it is: what is written now comes below.
func (t *terminal) entered(prompt, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	width := t.width()
	out := t.screen.erase(width) + t.screen.draw(prompt, text, len(text), width) + t.screen.below(width)
	t.screen, t.editing = screen{}, false
	_ = t.put([]byte(out)) // the next write of results reports it
}

// answered says that Enter was pressed.
func (t *terminal) answered() {
	t.mu.Lock()
	t.asked = false
	held := t.held
	t.held = nil
	t.mu.Unlock()
	if len(held) > 0 {
		_, _ = t.Write(held) // the next write of results reports it
	}
}

// abandoned says that Ctrl-C was pressed.
func (t *terminal) abandoned() {
	t.mu.Lock()
	if t.asked {
		_ = t.put([]byte("\n")) // the next write of results reports it
	}
	t.mu.Unlock()
	t.answered()
}

// Write shows results and messages.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	switch {
	case t.asked, t.lent: // a dumb terminal, and somebody may be typing; or another program's
		t.held = append(t.held, b...)
		return n, nil
	case t.editing:
		t.partial = append(t.partial, b...)
		whole := bytes.LastIndexByte(t.partial, '\n') + 1
		if whole == 0 {
			return n, nil
		}
		t.columns = t.width()
		out := append([]byte(t.screen.erase(t.columns)), t.partial[:whole]...)
		t.partial = append([]byte(nil), t.partial[whole:]...)
		out = append(out, t.screen.draw(t.prompt, t.text, t.at, t.columns)...)
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
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isTerminal && t.column {
		t.column = false
		_ = t.put([]byte("\n")) // the next write of results reports it
	}
}

// leave removes the line that is edited; what is written now comes at its
// place.
func (t *terminal) leave() {
	t.mu.Lock()
	out := t.screen.erase(t.width())
	if t.editing || t.asked {
		out += "\n"
	}
	t.editing, t.asked = false, false
	_ = t.put([]byte(out)) // the next write of results reports it
	t.mu.Unlock()
	t.answered()
}
