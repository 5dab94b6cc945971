package session

import "io"

// output collects what goes to standard output (or -o) and writes it in large
// pieces: after each drain that leaves the session idle, at the end, and when
// a piece is full.
type output struct {
	w   io.Writer
	buf []byte
	err error // of the first write that failed; then all is dropped
	// eager: what is printed is to be seen at once.
	eager bool
}

// outputSize is the piece in which output is written while events are coming
// faster than they are printed.
const outputSize = 64 << 10

func newOutput(w io.Writer) *output {
	return &output{w: w, buf: make([]byte, 0, 4096)}
}

// full writes the buffer if it has grown to a piece.
func (o *output) full() {
	if o.eager || len(o.buf) >= outputSize {
		o.flush()
	}
}

// flush writes what is there.
func (o *output) flush() {
	if len(o.buf) > 0 && o.err == nil {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
}

// broken reports whether output could not be written: nobody reads it any more,
// the disk is full. The run ends then.
func (o *output) broken() bool { return o.err != nil }
