package session

import (
	"bytes"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/starlark/repl"
)

// A keyboard is what was typed and not yet taken. A goroutine reads it, so that
// Ctrl-C reaches a script that runs.
type keyboard struct {
	in *os.File

	mu      sync.Mutex
	buf     []byte
	ended   bool
	busy    bool // a chunk runs
	stopped bool // and was interrupted
	breaks  int  // interrupts by signal that nobody has taken
	cancel  func(reason string)
}

func newKeyboard(in *os.File) *keyboard { return &keyboard{in: in} }

// interruptKey is Ctrl-C, where the terminal gives keys as they are.
const interruptKey = 3

// start begins to read.
func (k *keyboard) start(o *outside, cancel func(reason string)) {
	k.cancel = cancel
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := k.in.Read(buf)
			k.take(buf[:n], err != nil)
			o.wake()
			if err != nil {
				return
			}
		}
	}()
}

// take adds what was typed. Ctrl-C ends what runs; what was typed before it is
// forgotten then. A second one also ends a callback that takes long.
func (k *keyboard) take(b []byte, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := bytes.LastIndexByte(b, interruptKey); i >= 0 {
		switch {
		case k.busy:
			k.stopped = true
			k.cancel(interruptedReason)
			k.buf, b = nil, b[i+1:]
		case bytes.Count(k.buf, []byte{interruptKey})+bytes.Count(b, []byte{interruptKey}) > 1:
			k.cancel(interruptedReason)
		}
	}
	k.buf = append(k.buf, b...)
	k.ended = k.ended || ended
}

// interruptedReason is what the interpreter says of a script that Ctrl-C ended.
const interruptedReason = "interrupted"

// signal is an interrupt that came as a signal.
func (k *keyboard) signal() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.busy || k.breaks > 0 {
		k.stopped = k.busy
		k.cancel(interruptedReason)
		return
	}
	k.breaks++
}

// begin says that a chunk runs, and reports false if Ctrl-C came before.
func (k *keyboard) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := bytes.LastIndexByte(k.buf, interruptKey); i >= 0 {
		k.buf = k.buf[i+1:]
		return false
	}
	k.busy, k.stopped = true, false
	return true
}

// done says that the chunk has ended.
func (k *keyboard) done() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = false
}

// key takes the next key.
func (k *keyboard) key() (key repl.Key, ok, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.breaks > 0 {
		k.breaks--
		return repl.Key{Code: repl.Interrupt}, true, false
	}
	key, n := repl.Decode(k.buf)
	k.buf = k.buf[n:]
	return key, n > 0, n == 0 && k.ended
}

// line takes the next line.
func (k *keyboard) line() (line string, ok, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, rest, found := bytes.Cut(k.buf, []byte("\n"))
	if !found && (!k.ended || len(k.buf) == 0) {
		return "", false, k.ended
	}
	k.buf = rest
	return string(bytes.TrimSuffix(text, []byte("\r"))), true, false
}

func (k *keyboard) takeInterrupt() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.breaks > 0
	k.breaks = 0
	return taken
}

// interrupted reports whether Ctrl-C ended the chunk that runs.
func (k *keyboard) interrupted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stopped
}

// waiting reports whether there may be something to take at once.
func (k *keyboard) waiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.breaks > 0
}

// watchPrompt passes signals on: an interrupt ends what runs, the others end
// the session in order, a second one of them at once.
func (p *prompt) watchPrompt(signals <-chan os.Signal) {
	s := p.s
	go func() {
		for sig := range signals {
			if sig == unix.SIGINT {
				p.keys.signal()
				s.wake()
				continue
			}
			if s.interrupted.Swap(true) {
				p.term.restore()
				s.abort()
			}
			s.host.Cancel(interruptedReason)
			s.wake()
		}
	}()
}
