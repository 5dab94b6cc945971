// Package output is where results and messages of a run go.
package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/render"
)

// Output: where results go (-o, --format), when they are written, what -q and -v leave out or add (Messages), and the
// message that nobody reads.

// Output collects what goes to standard output (or -o) and writes it in large
// pieces: after each drain that leaves the session idle, at the end, and when
// a piece is full.
type Output struct {
	// w is where pieces are written.
	w    io.Writer
	file *os.File // of -o, nil for standard output
	// printer has the format, and what the next result depends on.
	printer render.Printer
	// buf is what has not been written yet.
	buf []byte
	err error // of the first write that failed; then all is dropped
	// eager: what is printed is to be seen at once.
	eager bool
	// screen: results go to a terminal on which the cursor can be moved.
	screen bool
	reader reader
	// hurried is closed when the end of the run is wanted: from then on a write waits no longer than patience, in
	// nanoseconds, for who reads the output.
	hurried  chan struct{}
	once     sync.Once
	patience atomic.Int64
	// waited is how long writes have taken up to the last one that has ended, in nanoseconds; since is when the one
	// under way began, in nanoseconds after begun, 0 where none is.
	waited, since atomic.Int64
	begun         time.Time
}

// An UnreadError says that what reads the output did not take what was written.
type UnreadError struct {
	// Bytes were not taken, those within Time and what was printed after that.
	Bytes int
	Time  time.Duration
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("nobody has read the output for %v: its last %s %s lost", e.Time, format.Count(e.Bytes, "byte"),
		map[bool]string{true: "is", false: "are"}[e.Bytes == 1])
}

// pieceSize is the piece in which output is written while events are coming
// faster than they are printed.
const pieceSize = 64 << 10

// New makes an output of text to a writer.
func New(w io.Writer) *Output {
	o := &Output{w: w, buf: make([]byte, 0, 4096), hurried: make(chan struct{}), begun: time.Now()}
	o.printer.Piece = o.piece
	return o
}

// SetFormat takes the name of a format, "" for text.
func (o *Output) SetFormat(name string) (err error) {
	if name == "" {
		name = render.Text.String()
	}
	if o.printer.Format, err = render.ParseFormat(name); err != nil {
		return mistake.Usagef("%w%s", err, mistake.Near(name, render.FormatNames()))
	}
	return nil
}

// Guard makes cells of CSV no formulas to spreadsheets, where they could be.
func (o *Output) Guard(at bool) { o.printer.Guard = at }

// Open opens the file of -o if it is given. The format is known by then.
func (o *Output) Open(file string) (err error) {
	if file != "" {
		if o.file, err = create(file); err != nil {
			return err
		}
		o.w, o.buf = o.file, o.buf[:0]
	}
	o.screen = o.printer.Format == render.Text && canDraw(o.w)
	return nil
}

// canDraw reports whether what is written can move the cursor.
func canDraw(w io.Writer) bool {
	if c, ok := w.(*line.Console); ok {
		return c.Edits()
	}
	return line.IsTerminal(w)
}

// Close closes the file of -o.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// LeftOut is how many results had no place in the format.
func (o *Output) LeftOut() uint64 { return o.printer.LeftOut }

// Format is that of results.
func (o *Output) Format() render.Format { return o.printer.Format }

// Apart begins anew: what comes next has no empty line before it.
func (o *Output) Apart() {
	old := &o.printer
	o.printer = render.Printer{Format: old.Format, Guard: old.Guard, LeftOut: old.LeftOut, Piece: old.Piece}
}

// Write adds text as it is.
func (o *Output) Write(text []byte) (int, error) {
	o.buf = append(o.buf, text...)
	o.Full()
	return len(text), nil
}

// Lines takes the lines of a script, each by a call of Write.
func (o *Output) Lines() io.Writer { return lines{o} }

type lines struct{ *Output }

func (w lines) Write(line []byte) (int, error) {
	w.buf = w.printer.AppendLine(w.buf, line)
	w.Full()
	return len(line), nil
}

// Clear clears the terminal, if there is one.
func (o *Output) Clear() {
	if o.screen {
		o.buf = append(o.buf, "\x1b[H\x1b[2J"...)
	}
}

// Table adds a table.
func (o *Output) Table(t *render.Table, opts render.Options) (err error) {
	o.buf, err = o.printer.AppendTable(o.buf, t, opts)
	o.Full()
	return err
}

// Row adds a row of columns.
func (o *Output) Row(c *render.Columns, row []format.Arg) (err error) {
	o.buf, err = o.printer.AppendRow(o.buf, c, row)
	o.Full()
	return err
}

// Event adds the line of an event. The caller asks for the piece to be written
// when the event is over (Full).
func (o *Output) Event(e *render.Event) (err error) {
	o.buf, err = o.printer.AppendEvent(o.buf, e)
	return err
}

// Drop forgets what has not been written.
func (o *Output) Drop() { o.buf = o.buf[:0] }

// Full writes the buffer if it has grown to a piece.
func (o *Output) Full() {
	if o.eager || len(o.buf) >= pieceSize {
		o.Flush()
	}
}

// piece writes what a table has so far if that is a piece, and gives the buffer for the rest.
func (o *Output) piece(text []byte) []byte {
	o.buf = text
	if len(o.buf) >= pieceSize {
		o.Flush()
	}
	return o.buf
}

// Flush writes what is there.
func (o *Output) Flush() {
	switch {
	case o.err != nil:
		var unread *UnreadError
		if errors.As(o.err, &unread) {
			unread.Bytes += len(o.buf)
		}
	case len(o.buf) > 0:
		o.err = o.write()
	default:
		o.err = o.reader.gone(o.w)
	}
	if o.buf = o.buf[:0]; cap(o.buf) > 4*pieceSize { // of a long line
		o.buf = nil
	}
}

// write writes the buffer. A pager, or a connection that is stalled, can keep a write waiting for ever. That is right
// until the end of the run is wanted.
func (o *Output) write() error {
	o.since.Store(int64(time.Since(o.begun)))
	defer func() { o.waited.Add(int64(time.Since(o.begun)) - o.since.Swap(0)) }()
	done := make(chan error, 1)
	text := newSending(o.w, o.buf)
	go func() { done <- text.send() }()
	select {
	case err := <-done:
		return err
	case <-o.hurried:
	}
	patience := time.Duration(o.patience.Load())
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		left := text.giveUp()
		if left == 0 {
			return <-done // all was taken, and the write is about to say so
		}
		o.buf = nil // the write may still have it
		return &UnreadError{left, patience}
	}
}

// Waited is how long the run has waited for writes in all. Any goroutine may call it.
func (o *Output) Waited() time.Duration {
	waited := o.waited.Load()
	if since := o.since.Load(); since != 0 {
		waited += int64(time.Since(o.begun)) - since
	}
	return time.Duration(waited)
}

// Hurry bounds how long each write waits from now on, also one that waits already. Any goroutine may call it.
func (o *Output) Hurry(patience time.Duration) {
	o.patience.Store(int64(patience))
	o.once.Do(func() { close(o.hurried) })
}

// Eager makes all that is printed be seen at once, or not any more.
func (o *Output) Eager(at bool) { o.eager = at }

// Err is that of the first write that failed: nobody reads the output any more,
// the disk is full. The run ends then.
func (o *Output) Err() error { return o.err }

// Messages tell the user what is not a result.
type Messages struct {
	// W is where they are written, as they come: standard error.
	W io.Writer
	// Quiet: nothing but results, what they lack, warnings and errors is wanted. Verbose: all is.
	Quiet, Verbose bool
}

// Sayf says something. Words among the arguments are names, which stay on their line.
func (m *Messages) Sayf(msg string, args ...any) {
	if !m.Quiet {
		text := mistake.Shorten(fmt.Sprintf(msg+"\n", escape.Args(args)...))
		_, _ = m.W.Write(escape.Append(nil, text, escape.Screen)) // that nobody reads it is no failure
	}
}

// Lackf says what results lack. Quiet does not hide it: who reads results must know.
func (m *Messages) Lackf(msg string, args ...any) {
	loud := Messages{W: m.W}
	loud.Sayf(msg, args...)
}

// Warnf says what is likely to be wrong at a place of a script. Quiet does not hide it: the results would be taken for
// what the script seems to say.
func (m *Messages) Warnf(at fmt.Stringer, msg string, args ...any) {
	m.Lackf("%s: warning: "+msg, append([]any{at.String()}, args...)...)
}

// Say says what a script has put in words.
func (m *Messages) Say(text string) {
	if !m.Quiet {
		_, _ = m.W.Write(escape.Append(nil, text+"\n", escape.Screen))
	}
}

// Verbosef says what few want to know.
func (m *Messages) Verbosef(msg string, args ...any) {
	if m.Verbose {
		m.Sayf(msg, args...)
	}
}
