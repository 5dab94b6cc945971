package script

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/chunk"
)

// testRuntime records what a script asked for.
type testRuntime struct {
	out    strings.Builder
	timers []string
	fns    []starlark.Callable
	exit   int
	event  int64
}

func (r *testRuntime) Every(d time.Duration, fn starlark.Callable) error {
	r.timers = append(r.timers, "every "+d.String())
	r.fns = append(r.fns, fn)
	return nil
}

func (r *testRuntime) After(d time.Duration, fn starlark.Callable) error {
	r.timers = append(r.timers, "after "+d.String())
	r.fns = append(r.fns, fn)
	return nil
}

func (r *testRuntime) AtExit(fn starlark.Callable) error {
	r.timers = append(r.timers, "at_exit")
	r.fns = append(r.fns, fn)
	return nil
}

func (r *testRuntime) Exit(code int)            { r.exit = code }
func (r *testRuntime) Out() io.Writer           { return &r.out }
func (r *testRuntime) Announce(string)          {}
func (r *testRuntime) Now() int64               { return 5_000_000_000 }
func (r *testRuntime) EventTime() (int64, bool) { return r.event, r.event != 0 }
func (r *testRuntime) Wall(mono int64) time.Time {
	return time.Unix(1_700_000_000, 0).UTC().Add(time.Duration(mono))
}

func (r *testRuntime) Show(v starlark.Value, o builtins.ShowOptions) error {
	fmt.Fprintf(&r.out, "show %s top=%d sort=%s\n", v, o.Top, o.Sort)
	return nil
}

func (r *testRuntime) Columns(names, _ []string) (func([]format.Arg) error, error) {
	return func(row []format.Arg) error {
		for i := range row {
			fmt.Fprintf(&r.out, "%s=%v ", names[i], row[i].Str+strconv.FormatInt(row[i].Int, 10))
		}
		r.out.WriteString("\n")
		return nil
	}, nil
}

var testStd = fstest.MapFS{
	"sched.star": {Data: []byte("def runnable(e):\n    return e.args.prev_state == 0\n")},
	"slow.star": {Data: []byte(`load("./sched.star", "runnable")
def slow(t):
    return event(("rt:sched_switch", lambda e: record(waited = t) if runnable(e) else None))
`)},
	"probing.star": {Data: []byte("probe(\"k:f\")\nx = 1\n")},
	"a.star":       {Data: []byte("load(\"./b.star\", \"b\")\na = 1\n")},
	"b.star":       {Data: []byte("load(\"./a.star\", \"a\")\nb = 1\n")},
}

var testConstants = map[string]int64{"O_CREAT": 0o100, "AF_INET6": 10}

// newTest makes a host with a runtime that records.
func newTest() (*Host, *testRuntime, *[]string) {
	rt := &testRuntime{}
	warnings := &[]string{}
	h := New(Options{
		Runtime:  rt,
		Std:      testStd,
		Constant: func(n string) (int64, bool) { v, ok := testConstants[n]; return v, ok },
		Warn:     func(p plan.Pos, msg string) { *warnings = append(*warnings, p.String()+": "+msg) },
		Command:  "tool",
	})
	return h, rt, warnings
}

// runTest runs a script that must not fail.
func runTest(t *testing.T, src string, args ...string) (*Host, *testRuntime) {
	t.Helper()
	h, rt, _ := newTest()
	if err := h.ParseText("test.star", []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(args); err != nil {
		t.Fatal(err)
	}
	return h, rt
}

// addAsserts gives test scripts eq(x, y) and fails(fn, regexp).
func addAsserts(h *Host) {
	h.predeclared["eq"] = starlark.NewBuiltin("eq", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		ok, err := starlark.Equal(args[0], args[1])
		if err == nil && !ok {
			err = fmt.Errorf("%s != %s", args[0], args[1])
		}
		return starlark.None, err
	})
	h.predeclared["fails"] = starlark.NewBuiltin("fails", func(th *starlark.Thread, _ *starlark.Builtin,
		args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		_, err := starlark.Call(th, args[0], nil, nil)
		if err == nil {
			return nil, errors.New("did not fail")
		}
		pattern, _ := starlark.AsString(args[1])
		if !regexp.MustCompile(pattern).MatchString(err.Error()) {
			return nil, fmt.Errorf("failed with %q, want %s", err, pattern)
		}
		return starlark.None, nil
	})
}

// TestScripts runs the chunks of testdata/*.star; what must fail stands on its line (test/chunk).
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no test scripts", err)
	}
	for _, path := range files {
		chunks, err := chunk.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(path), c.Line), func(t *testing.T) { runChunk(t, c) })
		}
	}
}

func runChunk(t *testing.T, c *chunk.Chunk) {
	h, _, _ := newTest()
	addAsserts(h)
	err := h.ParseText(c.File, []byte(c.Text))
	if err == nil {
		err = h.Run(nil)
	}
	var found Errors
	if err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	var list []chunk.Mistake
	for _, e := range found {
		at := e.Pos
		for i := 0; i < len(e.Trace) && at.Filename() != c.File; i++ {
			at = e.Trace[len(e.Trace)-1-i].Pos // the mistake is in a module: the line that loads it
		}
		list = append(list, chunk.Mistake{Line: int(at.Line), Col: int(at.Col), Msg: e.Msg})
	}
	for _, d := range c.Differences(list) {
		t.Error(d)
	}
}
