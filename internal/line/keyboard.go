package line

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What was typed and not yet taken: Ctrl-C, pastes, how long Esc waits (`escapeTime`).

// A keyboard is what was typed and not yet taken. A goroutine reads it, so that
// Ctrl-C reaches a script that runs.
type keyboard struct {
	// in is the terminal, or whatever standard input is.
	in *os.File
	// wake tells who takes lines that something was typed.
	wake func()
	// cancel ends what the interpreter runs.
	cancel func(reason string)
	// edited: what comes are keys. Else they are lines, in which no byte means an interrupt.
	edited bool

	// mu guards what follows, up to ofPaste.
	mu sync.Mutex
	// changed is told when something was typed or is wanted.
	changed *sync.Cond
	// buf is what was typed and not yet taken.
	buf   []byte
	paste []byte // the rest of a paste, which comes before buf
	// came is when the last key came, which tells the Esc key from a sequence that begins so.
	came time.Time
	// ended: there will be no more keys.
	ended   bool
	busy    bool // a chunk runs
	stopped bool // and was interrupted
	breaks  int  // interrupts that nobody has taken
	// wanted: liner waits for keys of its line.
	wanted bool
	// ofPaste: the Enter that liner was given last was one of a paste.
	ofPaste bool

	// poke ends the wait for keys: the reader takes from pauses until when it
	// is to read nothing. Both are nil where lines are not edited.
	poked, poke *os.File
	pauses      chan chan struct{}
	over        chan struct{} // closed when nothing is read any more
}

func newKeyboard(in *os.File) *keyboard {
	k := &keyboard{in: in, pauses: make(chan chan struct{}), over: make(chan struct{})}
	k.changed = sync.NewCond(&k.mu)
	return k
}

// start begins to read.
func (k *keyboard) start(wake func(), cancel func(reason string)) {
	k.wake, k.cancel = wake, cancel
	go func() {
		defer close(k.over)
		buf := make([]byte, 64<<10)
		for {
			k.awaitKeys()
			n, err := k.in.Read(buf)
			k.take(buf[:n], err != nil)
			wake()
			if err != nil {
				return
			}
		}
	}()
}

// mayPause prepares for pause, before start.
func (k *keyboard) mayPause() (err error) {
	k.poked, k.poke, err = os.Pipe()
	return err
}

// pause lets somebody else read what is typed, until resume is called.
func (k *keyboard) pause() (resume func(), err error) {
	until := make(chan struct{})
	if _, err := k.poke.Write([]byte{0}); err != nil {
		return nil, err
	}
	select {
	case k.pauses <- until:
	case <-k.over:
	}
	return func() { close(until) }, nil
}

// awaitKeys waits until something can be read, and is to be.
func (k *keyboard) awaitKeys() {
	for k.poked != nil {
		fds := []unix.PollFd{{Fd: int32(k.in.Fd()), Events: unix.POLLIN},
			{Fd: int32(k.poked.Fd()), Events: unix.POLLIN}}
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || fds[1].Revents == 0:
			return // Read says what is wrong
		}
		if _, err := k.poked.Read(make([]byte, 1)); err != nil {
			return
		}
		<-<-k.pauses
	}
}

// take adds what was typed. Ctrl-C ends what runs; what was typed before it is
// forgotten then. A second one also ends a callback that takes long.
func (k *keyboard) take(b []byte, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.lastInterrupt(b); i >= 0 {
		if k.busy {
			k.stopped = true
			k.cancel(Interrupted)
			k.buf, k.paste, b = nil, nil, b[i+1:]
		} else if k.breaks += bytes.Count(b, []byte{interruptKey}); k.breaks > 1 {
			k.cancel(Interrupted)
		}
	}
	k.buf = append(k.buf, b...)
	k.came, k.ended = time.Now(), k.ended || ended
	k.changed.Broadcast()
}

// lastInterrupt is where Ctrl-C was typed last, -1 where it was not.
func (k *keyboard) lastInterrupt(b []byte) int {
	if !k.edited {
		return -1
	}
	return bytes.LastIndexByte(b, interruptKey)
}

// Interrupted is what the interpreter says of a script that Ctrl-C ended.
const Interrupted = "interrupted"

// signal is an interrupt that came as a signal, where lines are not edited.
func (k *keyboard) signal() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.busy || k.breaks > 0 {
		k.stopped = k.busy
		k.cancel(Interrupted)
		return
	}
	k.breaks++
}

// begin says that a chunk runs, and reports false if Ctrl-C came before.
func (k *keyboard) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := k.lastInterrupt(k.buf); i >= 0 {
		k.buf, k.paste, k.breaks = k.buf[i+1:], nil, 0
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

// want lets liner have the keys of a line.
func (k *keyboard) want() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wanted, k.ofPaste = true, false
	k.changed.Broadcast()
}

// wasPasted reports whether the line that liner was given last ended inside of
// a paste.
func (k *keyboard) wasPasted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ofPaste
}

// escapeTime is how long Esc may wait for the rest of a sequence. liner waits
// for 50 ms, too: what follows an Esc by itself comes to it later.
const escapeTime = 50 * time.Millisecond

// feed gives keys to liner while it wants some.
func (k *keyboard) feed(to *os.File) {
	for {
		keys, ended := k.next()
		_, err := to.WriteString(keys)
		if err == nil && keys == string(rune(escapeKey)) {
			time.Sleep(escapeTime + escapeTime/2)
		}
		if err != nil || ended {
			to.Close() // liner reads the end
			return
		}
	}
}

// next waits for keys that liner wants, and gives all that there are up to the
// end of the line.
func (k *keyboard) next() (keys string, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		if k.wanted {
			keys = k.whole()
			if ended = keys == "" && k.ended; keys != "" || ended {
				return keys, ended
			}
		}
		k.changed.Wait()
	}
}

// whole takes the keys that have come whole, up to one that ends the line.
func (k *keyboard) whole() string {
	var out []byte
	for k.wanted {
		if len(k.paste) > 0 {
			out = append(out, k.takePaste()...)
			continue
		}
		if len(k.buf) == 0 || len(out) > 0 && k.buf[0] == escapeKey {
			break
		}
		key, n := decode(k.buf)
		if n == 0 && k.escapeOver() {
			k.buf = k.buf[1:]
			return string(rune(escapeKey))
		}
		if n == 0 {
			break
		}
		k.buf = k.buf[n:]
		out, k.paste = append(out, key.keys...), key.paste
		k.wanted = key.keys != string(rune(enterKey)) && key.keys != string(rune(interruptKey))
	}
	return string(out)
}

// escapeOver reports whether Esc was pressed by itself; if that is not known
// yet, next looks again when it is.
func (k *keyboard) escapeOver() bool {
	if len(k.buf) != 1 || k.buf[0] != escapeKey {
		return false
	}
	left := escapeTime - time.Since(k.came)
	if left > 0 {
		time.AfterFunc(left, k.changed.Broadcast)
	}
	return left <= 0
}

// takePaste takes the text of a paste up to the end of a line.
func (k *keyboard) takePaste() (keys []byte) {
	end := slices.Index(k.paste, enterKey) + 1
	if end == 0 {
		end = len(k.paste)
	} else {
		k.wanted, k.ofPaste = false, true
	}
	keys, k.paste = k.paste[:end], k.paste[end:]
	return keys
}
