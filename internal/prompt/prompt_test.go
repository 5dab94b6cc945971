package prompt

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/line"
	"github.com/startrace/startrace/internal/procs"
	"github.com/startrace/startrace/starlark/script"
)

// A fake is a session without a kernel: it writes down what it is asked for.
type fake struct {
	host    *script.Host
	log     strings.Builder
	wakes   chan bool
	gone    map[int]bool
	refuses string // the name of a probe that cannot be attached
}

var _ Session = (*fake)(nil)

func newFake() *fake {
	return &fake{host: script.New(script.Options{}), wakes: make(chan bool, 1), gone: map[int]bool{}}
}

func (f *fake) Host() *script.Host                    { return f.host }
func (f *fake) Guarded(g func() error) error          { return g() }
func (f *fake) Gone(probe int) bool                   { return f.gone[probe] }
func (f *fake) Loaded(probe int) bool                 { return !f.gone[probe] }
func (f *fake) Attached(probe int) bool               { return !f.gone[probe] }
func (f *fake) Points(int) int                        { return 1 }
func (f *fake) Command() string                       { return "" }
func (f *fake) Held() bool                            { return false }
func (f *fake) Released() bool                        { return false }
func (f *fake) CommandEnded() (int, bool)             { return 0, false }
func (f *fake) RunCommand() error                     { return nil }
func (f *fake) Open() error                           { return nil }
func (f *fake) Begin() error                          { return nil }
func (f *fake) Turn() error                           { return nil }
func (f *fake) WakeIn(time.Duration) uint64           { return 0 }
func (f *fake) InCallback() bool                      { return false }
func (f *fake) Over() bool                            { return false }
func (f *fake) AsScript()                             {}
func (f *fake) Close()                                {}
func (f *fake) Signals() <-chan os.Signal             { return nil }
func (f *fake) End() bool                             { return false }
func (f *fake) Abort()                                {}
func (f *fake) Print(text string)                     { f.log.WriteString(text) }
func (f *fake) Report(err error)                      { fmt.Fprintln(&f.log, "error:", err) }
func (f *fake) Flush(bool)                            {}
func (f *fake) List(string) error                     { return nil }
func (f *fake) HoldCommand(*procs.Streams) error      { return nil }
func (f *fake) HoldCommandAgain(*procs.Streams) error { return nil }

func (f *fake) Stats(int) (builtins.Stats, error)                { return builtins.Stats{}, nil }
func (f *fake) PointWords(string) (words, shown []string)        { return nil, nil }
func (f *fake) FieldWords(points, path []string) []string        { return nil }
func (f *fake) Finish(err error, _ bool) (exit int, ended error) { return 0, err }

func (f *fake) Show(v starlark.Value) error {
	fmt.Fprintln(&f.log, v)
	return nil
}

func (f *fake) Messagef(msg string, args ...any) { fmt.Fprintf(&f.log, msg+"\n", args...) }

func (f *fake) Settled() bool { return true }

func (f *fake) Wait() error {
	<-f.wakes
	return nil
}

func (f *fake) Wake() {
	select {
	case f.wakes <- true:
	default:
	}
}

func (f *fake) Attach(first int, replaced []int, quiet bool) error {
	probes := f.host.Env().Probes()
	for _, p := range probes[first:] {
		if p.Given() == f.refuses && f.refuses != "" {
			return errors.New(f.refuses + " is refused")
		}
	}
	if len(probes) > first || len(replaced) > 0 {
		fmt.Fprintf(&f.log, "attach %d from %d on for %v, quiet %v\n", len(probes)-first, first, replaced, quiet)
	}
	for _, id := range replaced {
		f.gone[id] = true
	}
	return nil
}

// typed gives the lines to a prompt by a pipe, and the log of its session.
func typed(t *testing.T, f *fake, lines ...string) string {
	t.Helper()
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := keys.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := keys.Close(); err != nil {
		t.Fatal(err)
	}
	p := &prompt{s: f, Console: line.New(in, nil)}
	if exit, err := p.run(); exit != 0 || err != nil {
		t.Errorf("exit %d, %v", exit, err)
	}
	return f.log.String()
}

// A probe takes the place of the one whose name it has; one that cannot be
// attached takes no place.
func TestReplaces(t *testing.T) {
	f := newFake()
	f.refuses = "bad"
	got := typed(t, f,
		`w = probe("tracepoint:a:b", lambda e: None, name = "first")`,
		`w = probe("tracepoint:a:c", lambda e: None, name = "second")`,
		`w = probe("tracepoint:a:d", lambda e: None, name = "bad")`,
		`w == probes[0]`,
		`len(probes)`,
		`w = None`)
	want := `attach 1 from 0 on for [], quiet false
attach 1 from 1 on for [0], quiet false
error: bad is refused
True
1
attach 0 from 2 on for [1], quiet false
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What uses a name is declared anew when the name is, in the place of what it
// declared, and without a word for each probe.
func TestDeclaresAgain(t *testing.T) {
	f := newFake()
	got := typed(t, f,
		`n = count()`,
		`def note(e):`,
		`    n.add()`,
		``,
		`    n.add()`,
		`w = probe("tracepoint:a:b", note, name = "w")`,
		`n = total()`)
	want := `attach 1 from 0 on for [], quiet false
Replaced the count n of prompt:1:5
attach 1 from 1 on for [0], quiet true
Attached again with the new n: w (prompt:6:5)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A block that is recalled is several lines, and ends as it did when it was
// typed; one whose brackets are open goes on.
func TestEntersBlocks(t *testing.T) {
	f := newFake()
	p := &prompt{s: f, Console: line.New(nil, nil)}
	for _, text := range []string{"def f(x):\n    y = x\n\n    return y", "f(\n  7)", "[f(1),\n f(2)", "]"} {
		p.enter(line.Input{Kind: line.Line, Text: text})
	}
	if got, want := f.log.String(), "7\n[1, 2]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if next := p.in.Next(); next != 12 {
		t.Errorf("the next line is %d", next)
	}
}

// Every word of the prompt is explained, and told by help.
func TestWordsAreExplained(t *testing.T) {
	text := (&prompt{words: wordTable()}).helpText()
	var names []string
	for name, w := range wordTable() {
		names = append(names, name)
		if w.doc == "" || !strings.HasPrefix(w.signature, name+"(") || !strings.Contains(text, w.signature) {
			t.Errorf("%s: %q, %q", name, w.signature, w.doc)
		}
	}
	if slices.Sort(names); !slices.Contains(names, "edit") {
		t.Errorf("words %q", names)
	}
}
