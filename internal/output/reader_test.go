package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/tried"
)

// A run that prints nothing for long learns that nobody will read its end.
func TestReaderGone(t *testing.T) {
	tried.Many(t, "%d pipe", 1)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	o := New(w)
	o.Flush()
	if o.Err() != nil {
		t.Fatalf("somebody reads: %v", o.Err())
	}
	r.Close()
	o.reader.asked = o.reader.asked.Add(-askEvery)
	o.Flush()
	if !errors.Is(o.Err(), unix.EPIPE) {
		t.Errorf("nobody reads: %v, want EPIPE", o.Err())
	}
}

// Files, and a terminal or /dev/null, are no pipes that somebody must read.
func TestReaderOfFile(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "file"), os.DevNull} {
		o := New(nil)
		if err := o.Open(name); err != nil {
			t.Fatal(err)
		}
		o.Flush()
		if err := errors.Join(o.Err(), o.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// -o of a pipe that nobody reads is refused, and does not block or lose what is written.
func TestPipeWithoutReader(t *testing.T) {
	tried.Many(t, "%d pipe", 1)
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(nil).Open(name); err == nil || !strings.Contains(err.Error(), "nobody reads this pipe") {
		t.Errorf("got %v", err)
	}
	r, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	o := New(nil)
	if err := o.Open(name); err != nil {
		t.Fatal(err)
	}
	_, _ = o.Write([]byte("text"))
	o.Flush()
	got := make([]byte, 10)
	n, err := r.Read(got)
	if o.Err() != nil || err != nil || string(got[:n]) != "text" {
		t.Errorf("got %q, %v, %v", got[:n], err, o.Err())
	}
}
