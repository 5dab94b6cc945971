package script

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/builtins"
)

func TestRunCode(t *testing.T) {
	h, rt, warnings := newTest()
	err := h.RunCode([]string{"count = count()", `probe("t:raw_syscalls:sys_enter", lambda e: count[e.comm].add())`,
		"print('hi', 1, sep = '-')"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rt.out.String() != "hi-1\n" || len(h.Plan().Probes) != 1 || h.Plan().Probes[0].Pos.String() != "-e:2:1" {
		t.Errorf("printed %q, %d probes", rt.out.String(), len(h.Plan().Probes))
	}
	if want := []string{"-e:1:1: count is a builtin; this file redefines it"}; !slices.Equal(*warnings, want) {
		t.Errorf("warnings %q", *warnings)
	}
}

func TestErrorsOfAFile(t *testing.T) {
	h, _, _ := newTest()
	err := h.RunCode([]string{"x = foo", "def f(e):", "    return e.x + nsecs", "y = hsit()"}, nil)
	want := "-e:1:5: undefined: foo\n-e:3:18: undefined: nsecs (here it is e.time)\n" +
		"-e:4:5: undefined: hsit (did you mean hist?)"
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
}

func TestExit(t *testing.T) {
	h, rt, _ := newTest()
	err := h.RunCode([]string{"print(1)", "exit(3)", "print(2)"}, nil)
	var exit *builtins.ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || rt.exit != 3 || rt.out.String() != "1\n" {
		t.Errorf("%v, printed %q", err, rt.out.String())
	}
}

func TestTimers(t *testing.T) {
	h, rt := runTest(t, `
n = {}
def tick():
    n["a"] = n.get("a", 0) + 1
    n["a"] += 1
def bad():
    n["zz"]
every("1s", tick)
after(5 * MSEC, tick)
at_exit(bad)
`)
	if got := strings.Join(rt.timers, ", "); got != "every 1s, after 5ms, at_exit" {
		t.Error(got)
	}
	for range 2 {
		if _, err := h.Call(rt.fns[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.globals["n"].String(); got != `{"a": 4}` {
		t.Errorf("n is %s", got)
	}
	_, err := h.Call(rt.fns[2])
	if err == nil || err.Error() != `test.star:7:6: key "zz" not in dict` {
		t.Errorf("error %v", err)
	}
}

// TestTraceback checks what is shown of an error below several calls.
func TestTraceback(t *testing.T) {
	h, _, _ := newTest()
	err := h.RunCode([]string{"def f(x):", "    return sorted([1], key = lambda y: x // 0)", "def g():", "    f(1)",
		"g()"}, nil)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := `Traceback (most recent call last):
  -e:5:2: in <toplevel>
  -e:4:6: in g
  -e:2:18: in f
  <builtin>: in sorted
  -e:2:42: in lambda
-e:2:42: division by zero`
	if e.Traceback() != want {
		t.Errorf("traceback\n%s, want\n%s", e.Traceback(), want)
	}
}

// A function that was called with the wrong arguments has not begun: the mistake is where it is called, be it by a
// builtin.
func TestWrongArgumentsAreTheCallersMistake(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{"f(1, c = 3)", `-e:4:6: f has no parameter "c"`},
		{"f(1, 2, 3)", "-e:4:6: f takes at most 2 arguments, got 3"},
		{"f(1, a = 2)", `-e:4:6: f got two values for "a"`},
		{"f()", "-e:4:6: f wants an argument for a"},
		{"sorted([1], key = lambda: 1)", "-e:4:11: lambda takes no arguments, got 1"},
	} {
		h, _, _ := newTest()
		err := h.RunCode([]string{"def f(a, b = 1):", "    return a + b", "def g():", "    " + c.call, "g()"}, nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.call, err, c.want)
		}
	}
}

func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("main.star",
		"load('./sub/a.star', 'a')\nload('./c.star', 'seen')\nload('./b.star', 'b')\na()\nb()\nprint(seen)\n")
	write("sub/a.star",
		"load('../c.star', 'seen')\ndef a():\n    seen['a'] = 1\ndef main():\n    fail('the main of a module')\n")
	write("b.star", "load('./c.star', 'seen')\ndef b():\n    probe('k:f')\n    seen['b'] = 2\n")
	write("c.star", "print('once')\nseen = {}\n")
	h, rt, _ := newTest()
	if err := h.RunFile(filepath.Join(dir, "main.star"), nil); err != nil {
		t.Fatal(err)
	}
	if got := rt.out.String(); got != "once\n{\"a\": 1, \"b\": 2}\n" || len(h.Plan().Probes) != 1 {
		t.Errorf("printed %q", got)
	}
	if pos := h.Plan().Probes[0].Pos; pos.Filename() != filepath.Join(dir, "b.star") || pos.Line != 3 {
		t.Errorf("the probe is at %s", pos)
	}
}

// TestFrozen checks that what kernel halves use as constants cannot change.
func TestFrozen(t *testing.T) {
	h, _ := runTest(t, `
names, free = {1: "a"}, {}
t = table()
def helper(e):
    return e.pid in names
probe("k:f", lambda e: free.update({e.pid: 1}), where = lambda e: helper(e) and t.get(1))
def change():
    free[1] = 1
    t[1] = 1
    names[2] = "b"
`)
	h.Plan()
	_, err := h.Call(h.globals["change"].(starlark.Callable))
	want := "test.star:10:10: this dict or set cannot change any more (a kernel half uses it as a constant; " +
		"what changes belongs into a table())"
	if err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

func TestColumns(t *testing.T) {
	_, rt := runTest(t, `
out = columns(pid = "%-7d", comm = "%s")
out(1, "x")
show(count(), top = 3, sort = "count")
`)
	if got := rt.out.String(); got != "pid=1 comm=x0 \nshow <count> top=3 sort=count\n" {
		t.Errorf("printed %q", got)
	}
}
