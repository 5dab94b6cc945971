package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/startrace/startrace/test/tried"
)

// What a pipe's reader has not taken at the end is said exactly, and the last line that it gets is whole.
func TestUnreadIsExact(t *testing.T) {
	lines := []int{10, 100, 1000, 3000}
	for _, size := range lines {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		o := New(w)
		o.Hurry(10 * time.Millisecond)
		var printed bytes.Buffer
		for i := range 300000 / size {
			line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", size))
			printed.WriteString(line)
			fmt.Fprint(o, line)
		}
		o.Flush()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var unread *UnreadError
		if !errors.As(o.Err(), &unread) || len(got)+unread.Bytes != printed.Len() {
			t.Errorf("lines of %d: %d bytes of %d were read: %v", size, len(got), printed.Len(), o.Err())
		}
		if !bytes.HasPrefix(printed.Bytes(), got) || !bytes.HasSuffix(got, []byte("\n")) {
			t.Errorf("lines of %d: %d bytes were read, to %q", size, len(got), got[max(0, len(got)-20):])
		}
	}
	tried.Many(t, "%d lengths of lines", len(lines))
}

// What was taken in the moment in which the patience ended was taken.
func TestNothingIsUnread(t *testing.T) {
	for range 5000 {
		var w bytes.Buffer
		o := New(&w)
		o.Hurry(time.Nanosecond)
		fmt.Fprint(o, "line\n")
		o.Flush()
		var unread *UnreadError
		if errors.As(o.Err(), &unread) && unread.Bytes == 0 {
			t.Fatal(o.Err())
		}
	}
}

// A stalled writer tells that it was called, and takes what it was given once it is let go.
type stalled struct {
	called, let chan struct{}
	got         bytes.Buffer
}

func (w *stalled) Write(text []byte) (n int, err error) {
	w.called <- struct{}{}
	<-w.let
	return w.got.Write(text)
}

// A sending that is given up while one of its pieces is written writes no other one: what follows was said to be lost.
func TestNothingFollowsWhatIsGivenUp(t *testing.T) {
	w := &stalled{called: make(chan struct{}), let: make(chan struct{})}
	s := newSending(w, bytes.Repeat([]byte("line\n"), wholePiece))
	done := make(chan bool)
	go func() {
		more, err := s.piece(true, true)
		if err != nil || !more {
			t.Errorf("first piece: %v, %v", more, err)
		}
		more, _ = s.piece(true, true)
		done <- more
	}()
	<-w.called
	s.giveUp()
	close(w.let)
	select {
	case more := <-done:
		if more || w.got.Len() > wholePiece {
			t.Errorf("%d bytes were written, and more: %v", w.got.Len(), more)
		}
	case <-w.called:
		t.Error("a piece is written after the sending was given up")
	}
}

// A reader that is merely slow gets all, in order, whatever the length of lines.
func TestSlowReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o, want := New(w), strings.Repeat(strings.Repeat("x", 50000)+"\n"+strings.Repeat("y", 30)+"\n", 10)
	read := make(chan string)
	go func() {
		got, err := io.ReadAll(r)
		if err != nil {
			got = []byte(err.Error())
		}
		read <- string(got)
	}()
	fmt.Fprint(o, want)
	o.Flush()
	if err := errors.Join(o.Err(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
