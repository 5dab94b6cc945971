package output

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/mistake"
)

// counted counts writes, and fails once it is told to.
type counted struct {
	bytes.Buffer
	writes int
	fail   error
}

func (c *counted) Write(text []byte) (int, error) {
	c.writes++
	if c.fail != nil {
		return 0, c.fail
	}
	return c.Buffer.Write(text)
}

// What is printed is written in pieces, when it is asked for, or at once.
func TestPieces(t *testing.T) {
	var w counted
	o := New(&w)
	line := strings.Repeat("x", 1000) + "\n"
	for range 100 {
		if _, err := o.Lines().Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if w.writes != 1 || w.Len() < pieceSize {
		t.Errorf("%d writes of %d bytes, want one piece", w.writes, w.Len())
	}
	o.Flush()
	o.Flush()
	if w.writes != 2 || w.String() != strings.Repeat(line, 100) {
		t.Errorf("%d writes of %d bytes, want all in two", w.writes, w.Len())
	}
	o.Eager(true)
	if _, err := o.Write([]byte("now")); err != nil || w.writes != 3 {
		t.Errorf("%d writes, %v: not at once", w.writes, err)
	}
	o.Eager(false)
	_, _ = o.Write([]byte("never"))
	o.Drop()
	o.Flush()
	if w.writes != 3 {
		t.Error("what was dropped is written")
	}
}

// After a write that failed nothing is written any more, and the first error stays.
func TestBrokenOutput(t *testing.T) {
	full := errors.New("no space left")
	w := counted{fail: full}
	o := New(&w)
	for range 3 {
		_, _ = o.Write([]byte("text"))
		o.Flush()
	}
	if o.Err() != full || w.writes != 1 {
		t.Errorf("error %v after %d writes, want %v after one", o.Err(), w.writes, full)
	}
}

// Results go into the file of -o in the format that was asked for; one that there is not is a mistake in the command
// line.
func TestOpen(t *testing.T) {
	var w counted
	o := New(&w)
	var usage *mistake.Usage
	if err := o.SetFormat("jsno"); !errors.As(err, &usage) || !strings.HasSuffix(err.Error(), "(did you mean json?)") {
		t.Errorf("got %v", err)
	}
	name := filepath.Join(t.TempDir(), "results")
	if err := errors.Join(o.SetFormat("json"), o.Open(name)); err != nil {
		t.Fatal(err)
	}
	_, _ = o.Lines().Write([]byte("a\n"))
	o.Clear() // a file is no terminal
	o.Flush()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if want := `{"type":"print","text":"a\n"}` + "\n"; err != nil || string(text) != want || w.writes != 0 {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
}

// Of messages, who wants none gets none but of what results lack, and few want all.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		quiet, verbose bool
		want           string
	}{{false, false, "said 1\nlost 3\n"}, {false, true, "said 1\nmore 2\nlost 3\n"}, {true, false, "lost 3\n"},
		{true, true, "lost 3\n"}} {
		var w bytes.Buffer
		m := &Messages{W: &w, Quiet: tt.quiet, Verbose: tt.verbose}
		m.Sayf("said %d", 1)
		m.Verbosef("more %d", 2)
		m.Lackf("lost %d", 3)
		if w.String() != tt.want {
			t.Errorf("quiet %v, verbose %v: got %q, want %q", tt.quiet, tt.verbose, &w, tt.want)
		}
	}
}
