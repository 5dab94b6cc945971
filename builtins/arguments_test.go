package builtins

import (
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

var parameter = regexp.MustCompile(`(?:[(,]\s*)([a-z_]+)\s*(=[^,)]*)?`)

// TestDocumentedArguments gives each builtin the arguments that its signature has, by their names.
func TestDocumentedArguments(t *testing.T) {
	for _, en := range Entries() {
		if en.call == nil || strings.Contains(en.Signature, "…") || strings.Contains(en.Signature, `("`) ||
			strings.Contains(en.Signature, "*values") {
			continue // by position, or an example
		}
		env := New(Idle{})
		_, arguments, _ := strings.Cut(en.Signature, "(")
		for _, m := range parameter.FindAllStringSubmatch("("+arguments, -1) {
			kwargs := []starlark.Tuple{{starlark.String(m[1]), starlark.None}}
			_, err := starlark.Call(new(starlark.Thread), en.bind(env), nil, kwargs)
			if err != nil && (strings.Contains(err.Error(), "unexpected keyword") ||
				strings.Contains(err.Error(), "keyword arguments")) {
				t.Errorf("%s has no argument %s: %v", en.Signature, m[1], err)
			}
		}
	}
}

// Words of options that mean nothing are refused, with those that mean something.
func TestUnknownOptions(t *testing.T) {
	for src, want := range map[string]string{
		`show(count(), top = -1)`: "show: top: got -1, want a number of rows, or 0 for all",
		`show(count(), sort = 3)`: "show: sort: got int, want the name of a column",
		`show(count(), sorted = "x")`: `show: unexpected keyword argument "sorted" ` +
			`(did you mean sort?)`,
		`every("1s", lambda e, f: 1)`: "every: fn: lambda is called with the time that has passed, in " +
			"ns, but wants also f",
		`every("1s", lambda *a, b = 2, **c: 1)`:        "",
		`after(delay = "1s", fn = lambda a, b = 1: 1)`: "after: fn: lambda is called without arguments, but wants a",
		`at_exit(lambda a: 1)`: "at_exit: fn: lambda is called without arguments, " +
			"but wants a",
		`every(1 << 70, print)`:    "every: got 1180591620717411303424, want a duration of at most 146 years",
		`duration(1e300)`:          "got 1e+300, want a duration of at most 146 years",
		`duration(float("nan"))`:   "got nan, want a duration of at most 146 years",
		`after("9999999h", print)`: `after: got "9999999h", want a duration of at most 146 years`,
		`every("1x", print)`: `every: got "1x", want a duration such as 100us, ` +
			`5ms, 1.5s, 1h30m`,
		`flag("a", "x", short = "ab")`:           `flag a: short: got "ab", want one letter or digit`,
		`flag("a", "x", short = 1)`:              "flag a: short: got 1, want one letter or digit",
		`flag("a", "xz", choices = ["xy", "z"])`: `flag a: default: got "xz", want one of the choices: xy, z`,
		`flag("a", "", choices = ["xy", "z"])`:   "",
		`flag("a", type = "int")`: "flag a: type: got string, want int, float, str, bool, " +
			"duration or a function",
		`flag("a", 1, least = "x")`: "flag a: least: got string, want a number",
		`flag("a", kind = int)`: `flag: unexpected keyword argument "kind" ` +
			`(did you mean type?)`,
		`lhist(0*MSEC, 10*MSEC, 3*MSEC, unit = MSEC)`: `lhist: lo = 0, hi = 10000000, step = 3000000 ` +
			`look like times in ns; with unit= they are in the unit: 0, 10, 3`,
		`lhist(0, 2*SEC, SEC, unit = SEC)`: `lhist: lo = 0, hi = 2000000000, step = 1000000000 ` +
			`look like times in ns; with unit= they are in the unit: 0, 2, 1`,
		`hist(unit = "ms")`:   `hist: unit: got "ms", want NSEC, USEC, MSEC or SEC`,
		`total(unit = 5)`:     `total: unit: got 5, want NSEC, USEC, MSEC or SEC`,
		`total(unit = -1000)`: `total: unit: got -1000, want NSEC, USEC, MSEC or SEC`,
		`total(unit = 1)`:     "",
		`count(unit = MSEC)`: "count: a count has no unit: total(unit = …) " +
			"sums what has one",
		`count(by = ("a", "b", "a"))`:                     `count: by: "a" stands there twice, want different names`,
		`table(by = ["a", "a"])`:                          `table: by: "a" stands there twice, want different names`,
		`group(by = ("a", "a"), n = count())`:             `group: by: "a" stands there twice, want different names`,
		`span("syscall:a", "syscall:b", again = "frist")`: `span: again: got "frist", want "last" or "first"`,
	} {
		_, err := starlark.ExecFileOptions(&syntax.FileOptions{}, new(starlark.Thread), "x.star", src,
			New(Idle{}).Predeclared())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", src, got, want)
		}
	}
}
