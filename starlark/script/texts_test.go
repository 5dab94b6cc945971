package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/tried"
)

// ofTexts are expressions of s, a string, for each method and operator that strings have: ITS NAME: expressions.
const ofTexts = `
capitalize: s.capitalize()
codepoint_ords: list(s.codepoint_ords())[:2]
codepoints: list(s.codepoints()) | "".join(s.codepoints()) | str(s.codepoints())
count: s.count("a")
elem_ords: list(s.elem_ords())
elems: list(s.elems()) | s.elems()[5] | "".join(list(s.elems())) | str(s.elems())
endswith: s.endswith("a")
find: s.find("b")
format: "<{}>\n{x}".format(s, x = s) | "{0!r}|{0}".format(s) | "{}".format([s]) | "{} {}".format({s: s}, (s,))
index: s.index("b")
isalnum: s.isalnum()
isalpha: s.isalpha()
isdigit: s.isdigit()
islower: s.islower() | s.lower().islower()
isspace: s.isspace()
istitle: s.istitle()
isupper: s.isupper() | s.upper().isupper()
join: "\n".join([s, "x", s]) | s.join(["a", "b"]) | "".join([s[5], s[5]])
lower: s.lower() | getattr(s, "lower")()
lstrip: s.lstrip() | s.lstrip("/n")
partition: s.partition("a") | s.partition("\n")
removeprefix: s.removeprefix("/")
removesuffix: s.removesuffix("x")
replace: s.replace("b", "B") | s.replace("", "-") | s.replace("/", "", 1) | s.replace("z", "y") | s.replace("b", s) | s.replace("none", "")
rfind: s.rfind("b")
rindex: s.rindex("b")
rpartition: s.rpartition("b")
rsplit: s.rsplit("b", 1) | s.rsplit("b") | s.rsplit(None, 1) | s.rsplit()
rstrip: s.rstrip() | s.rstrip("z")
split: s.split("a") | s.split("/", 1) | s.split()
splitlines: s.splitlines() | s.splitlines(True)
startswith: s.startswith("/")
strip: s.strip() | s.strip("/z")
title: s.title() | [f() for f in [s.title]]
upper: s.upper() | [t.upper() for t in [s]]
x[i]: s[5] | s[-2]
x[i:j]: s[3:] | s[:-1] | s[::2] | s[::-1] | s[5:1:-1]
+: s + "x" | "x\n" + s | s + s | plus_to(s)
%: "%s\n" % s | "%r %s" % (s, s) | "%s" % [s] | "%(a)s %(b)r" % {"a": s, "b": s} | "%c" % s[5] | "%%%s%d" % (s[5:], 3)
*: s * 2 | 3 * s | s * n | s[5] * 2 | times_to(s)
str: str(s) | str([s]) | str({s: (s,)}) | str(record(a = s)) | str(bytes(s)[4:]) | str(set([s]))
repr: repr(s) | repr([s, [s]]) | repr(record(a = [s])) | repr((s,)) | repr({s: s})
sprintf: sprintf("%s\n", s) | sprintf("%-30s|%30s|", s, s) | sprintf("%.7s %.7v", s, [s]) | sprintf("%q %r %v", s, s, s) | sprintf("%c%s", s[5], [s])
min: min(s, "zz") | sorted([s, "a"]) | max([s])
json: json.encode([s]) | json.decode(json.encode([s]))
`

const textHelpers = `
n = 2
def plus_to(s):
    x = "<"
    x += s
    l = [x]
    l[0] += s
    return l
def percent_to(s, x):
    s %= x
    return s
def record_of(s):
    return {"a": s}
def times_to(s):
    s *= 2
    l = [s]
    l[0] *= 2
    return l
`

// evaluated gives what an expression of s, by its name in globals, comes to.
func evaluated(t *testing.T, expr string, s starlark.Value) starlark.Value {
	t.Helper()
	h, _ := runTest(t, "")
	h.predeclared["s"] = s
	f, err := h.parse("t.star", []byte(textHelpers+"out = "+expr+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	globals, err := h.exec(f)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return starlark.None
	}
	return globals["out"]
}

// each calls f for the expressions of each method and operator.
func eachOfTexts(t *testing.T, f func(expr string)) int {
	t.Helper()
	var names []string
	n := 0
	for line := range strings.SplitSeq(strings.TrimSpace(ofTexts), "\n") {
		name, list, _ := strings.Cut(line, ": ")
		names = append(names, name)
		for expr := range strings.SplitSeq(list, " | ") {
			f(expr)
			n++
		}
	}
	for _, name := range starlark.String("").AttrNames() {
		if !slices.Contains(names, name) {
			t.Errorf("strings have a method %s: want expressions of it here", name)
		}
	}
	return n
}

// Whatever is made of a string, it means what the interpreter makes of a plain one.
func TestTextsMeanTheSame(t *testing.T) {
	const text = "/z/aB\nb é\tx/zz"
	tr := &value.Traced{}
	eachOfTexts(t, func(expr string) {
		plain := evaluated(t, expr, starlark.String(text))
		for _, s := range []starlark.Value{tr.Text(text, false), tr.Text(text, true)} {
			got := evaluated(t, expr, s)
			if value.IsCut(string(s.(starlark.String))) &&
				(strings.HasPrefix(expr, "json") || strings.HasPrefix(expr, `sprintf("%-30s`)) {
				continue // which writes the mark, or leaves room for it
			}
			if same, err := starlark.Equal(got, plain); err != nil || !same && got.String() != plain.String() {
				t.Errorf("%s is %v, of a plain string %v", expr, got, plain)
			}
		}
	})
}

// What is made of a string that was traced forges no line: none of its line feeds and tabs are written as they are.
// Those of the script are.
//
// > Special characters in it are escaped when it is printed, so widths do not count the escapes.
func TestTextsForgeNothing(t *testing.T) {
	const text = "/z/aB\nb é\tx/zz"
	tr := &value.Traced{}
	n := eachOfTexts(t, func(expr string) {
		own := strings.Contains(expr, `\n`)
		for _, s := range stringsIn(evaluated(t, expr, tr.Text(text, false))) {
			if shown := value.Shown(s); strings.Contains(shown, "\t") || !own && strings.Contains(shown, "\n") {
				t.Errorf("%s is shown as %q", expr, shown)
			}
		}
	})
	mixtures := map[string]string{
		`"%s\n" % s`: `a\nb` + "\n", `"<{}>\n".format(s)`: `<a\nb>` + "\n",
		`"\n".join([s, s])`: `a\nb` + "\n" + `a\nb`,
		`"\n" + s + "\n"`:   "\n" + `a\nb` + "\n", `s.replace("b", "\n")`: `a\n` + "\n", `"\n" * 2`: "\n\n",
		`sprintf("\t%5s\n", s)`: "\t  " + `a\nb` + "\n", `"%s\n%c" % (s, s[1])`: `a\nb` + "\n" + `\n`,
		`"%(a)s\n" % {"a": s, s: 1}`: `a\nb` + "\n", `s[::-1] + "\n"`: `b\na` + "\n",
	}
	for expr, want := range mixtures {
		got := evaluated(t, expr, tr.Text("a\nb", false))
		if shown := value.Shown(string(got.(starlark.String))); shown != want {
			t.Errorf("%s is shown as %q, want %q", expr, shown, want)
		}
	}
	tried.Many(t, "%d expressions", n+len(mixtures))
}

// What is made of text of the script is the script's: its line feeds and tabs are written as they are, also beside text
// that was traced. What was read from JSON is data.
func TestTextsOfScript(t *testing.T) {
	const text = "/z/aB\nb é\tx/zz"
	n := eachOfTexts(t, func(expr string) {
		if strings.HasPrefix(expr, "json.decode") {
			return
		}
		for _, s := range stringsIn(evaluated(t, expr, value.Own(text))) {
			if shown := value.Shown(s); shown != s {
				t.Errorf("%s is %q, shown as %q", expr, s, shown)
			}
		}
	})
	mixtures := map[string]string{
		`"-\n" * 2 + "\t" * n`: "-\n-\n\t\t", `json.encode_indent([1], prefix = "", indent = " ")`: "[\n 1\n]",
		`json.indent("[\"\\n\"]")`:       "[\n\t\"\\n\"\n]",
		`json.indent("[1]", prefix = s)`: "[" + `\na\nb\t1\na\nb` + "]",
		`json.encode({"\n": s})`:         `{"\n":"a\nb"}`, `"%s\n" % ({"a": 1}) + "\n"`: `{"a": 1}` + "\n\n",
		`"%d\n%c\n" % (3, 10)`: "3\n" + `\n` + "\n", `sprintf("%c\n", 10)`: `\n` + "\n", `chr(10) + "\n"`: `\n` + "\n",
		`sprintf(s + "\n%d", 1)`: `a\nb\n1`, `[f for f in ["%s\n"]][0] % s`: `a\nb` + "\n",
		`{"k": "\n"}["k"] + s`: "\n" + `a\nb`, `str(b"\n") + s`: "\n" + `a\nb`, `percent_to("%s\n", s)`: `a\nb` + "\n",
		`"%(a)s\n" % record_of(s)`: `a\nb` + "\n",
	}
	for expr, want := range mixtures {
		got := evaluated(t, expr, starlark.String("a\nb"))
		if shown := value.Shown(string(got.(starlark.String))); shown != want {
			t.Errorf("%s is shown as %q, want %q", expr, shown, want)
		}
	}
	tried.Many(t, "%d expressions", n+len(mixtures))
}

// A format is the script's own or not, however often formats of the same text were printed before.
func TestFormatsOfOneText(t *testing.T) {
	const text = "a\nb%d\n"
	h, rt, _ := newTest()
	own, foreign := value.Own(text), starlark.String(strings.Clone(text))
	h.predeclared["formats"] = starlark.NewList([]starlark.Value{own, foreign, own, own[:len(own)-1], foreign})
	f, err := h.parse("t.star", []byte("def show():\n  for f in formats: printf(f, 1)\nshow()\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.exec(f); err != nil {
		t.Fatal(err)
	}
	if got, want := rt.out.String(), "a\nb1\n"+`a\nb1\n`+"a\nb1\n"+"a\nb1"+`a\nb1\n`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// That a string was cut is seen wherever its end is shown, whatever escapes its other bytes need: it prints as a string
// that ends with the mark.
//
// > They count the mark of a string that was cut.
func TestTextsCut(t *testing.T) {
	shows := regexp.MustCompile(`^(capitalize|format|join|lower|replace|title|upper|\+|%|\*|str|repr|json): `)
	exprs := []string{`sprintf("%s", s)`, `sprintf("%q %r %v %s", s, s, s, [s])`, `sprintf("%-4s|%4s|", s, s)`,
		`sprintf("%.99s %.99v", s, [s])`, `sprintf("%-30s|%30s|%-30q|%30r|%-40v|", s, s, s, [s], (s, s))`}
	for n := range 40 { // a mark is a character to precisions, also in the middle of a text
		exprs = append(exprs, fmt.Sprintf(`sprintf("%%.%ds|%%-12.%dv|%%20.%dq|", s, [s, s], s + "x" + s)`, n, n, n))
	}
	for line := range strings.SplitSeq(strings.TrimSpace(ofTexts), "\n") {
		if shows.MatchString(line) {
			exprs = append(exprs, strings.Split(shows.ReplaceAllString(line, ""), " | ")...)
		}
	}
	for _, expr := range exprs {
		for _, text := range []string{"/z/aBbb é/zz", "/z/a\"Bbb é/zz", "/z/\xffBbb é/zz", "/z/a\nBbb é/zz\xc3",
			"/z/abc\n"} {
			got := value.Text(evaluated(t, expr, value.Cut([]byte(text))))
			want := value.Text(evaluated(t, expr, starlark.String(text+"…")))
			if got != want && !strings.Contains(expr, `replace("", "-")`) { // the mark is no character

				t.Errorf("%s of %q prints as %q, want %q", expr, text, got, want)
			}
		}
	}
}

// A part of a string that was cut is cut where it ends with the last byte that was read, also where there is nothing in
// it, and whatever is made of that. Elsewhere an empty part is the empty string.
//
// > An empty part at that place is `…`: the last of `/usr/…`, split at each `/`, is. Several marks with no byte between
// > them are one, so that `s[9:] * 2` is `…`, too.
func TestTextsEmptyPart(t *testing.T) {
	exprs := map[string]string{
		`s[5:]`: "…", `s[9:]`: "…", `s[5:7]`: "…", `s[5:][:]`: "…", `s[2:2]`: "", `s[:0]`: "", `s[5::1]`: "",
		`s.split("/")`: `["", "usr", "…"]`, `s.split("/", 1)`: `["", "usr/…"]`, `s.split("r/", 1)`: `["/us", "…"]`,
		`s.rsplit("/")`: `["", "usr", "…"]`, `s.rsplit("/", 1)`: `["/usr", "…"]`, `s.split("/usr")`: `["", "/…"]`,
		`s.partition("/")`: `("", "/", "usr/…")`, `s.partition("r/")`: `("/us", "r/", "…")`,
		`s.partition("-")`: `("/usr/…", "", "")`, `s.rpartition("/")`: `("/usr", "/", "…")`,
		`s.rpartition("-")`: `("", "", "/usr/…")`, `s.removeprefix("/usr/")`: "…", `s.removesuffix("/usr/")`: "",
		`s.lstrip("/usr")`: "…", `s.rstrip("/usr")`: "", `s.strip("/usr")`: "", `s[5:].strip()`: "…",
		`[s[5:], {s[5:]: s[5:]}, (s[5:],)]`: `["…", {"…": "…"}, ("…",)]`, `s[5:] + "a"`: "…a", `"a" + s[5:]`: "a…",
		`s[5:].upper()`: "…", `s[5:].title()`: "…", `"%s" % s[5:]`: "…", `"{}".format(s[5:])`: "…", `str(s[5:])`: "…",
		`"-".join([s[5:], s[5:]])`: "…-…", `s[5:].join(["a", "b"])`: "a…b", `s[5:] * 1`: "…", `repr(s[5:])`: `"…"`,
		`[sprintf("%s|%-3s|%3s|%q|%.0s|%.1s", s, s, s, s, s, s) for s in [s[5:]]][0]`: `…|…  |  …|"…"||…`,
		`s[5:].replace("a", "b")`: "…", `s[5:].split("/")`: `["…"]`, `(s[5:] + "/").split("/")`: `["…", ""]`,
		`(s + "x")[5:5]`: "…", `(s + "x")[5:]`: "x", `json.encode([s[5:]])`: `["…"]`,
		`s[5:] == "" and not s[5:]`: "True",
		`s[5:] * 2`:                 "…", `s[5:] + s[5:]`: "…", `"".join([s[5:], s[5:]])`: "…",
		`"%s%s" % (s[5:], s[5:])`: "…",
		`s + s[5:]`:               "/usr/…", `s[5:] + s`: "…/usr/…",
		`s[4:] * 2`: "/…/…", `sum([s[5:], s[5:]], "")`: "…",
		`sum([s, "x"], "")`: "/usr/…x",
		`{"": 1}[s[5:]]`:    "1", `(lambda x = s[5:]: x)()`: "…",
		`min("b", s[5:])`: "…", `getattr(s[5:], "lower")()`: "…",
	}
	for expr, want := range exprs {
		if got := value.Text(evaluated(t, expr, value.Cut([]byte("/usr/")))); got != want {
			t.Errorf("%s is shown as %q, want %q", expr, got, want)
		}
		if got := value.Text(evaluated(t, expr, starlark.String("/usr/"))); strings.Contains(got, "…") {
			t.Errorf("%s of a whole string is shown as %q", expr, got)
		}
	}
}

// Strings that are not UTF-8 keep their bytes.
func TestTextsKeepBytes(t *testing.T) {
	for expr, want := range map[string]string{
		"s.upper()": "ABC\xff\xc3\x89D\xe2\x82", "s.lower()": "abc\xff\xc3\xa9d\xe2\x82",
		"s.title()": "Abc\xff\xc3\x89d\xe2\x82", "s.capitalize()": "Abc\xff\xc3\xa9d\xe2\x82",
		`"".join(s.codepoints())`: "abc\xff\xc3\xa9d\xe2\x82", `"".join(list(s.elems()))`: "abc\xff\xc3\xa9d\xe2\x82",
		`"%c" % s[3]`: "\xff", `"%s%(x)s" % {"x": 1} if False else "%(x)c" % {"x": s[3]}`: "\xff",
		`"{}".format(s)`: "abc\xff\xc3\xa9d\xe2\x82", `s.strip(str(b"\x82\xe2"))`: "abc\xff\xc3\xa9d",
		`s.strip(str(b"\xfe"))`: "abc\xff\xc3\xa9d\xe2\x82", `s.strip("a\uFFFD")`: "bc\xff\xc3\xa9d\xe2\x82",
		`s.replace("", "-", 5)`: "-a-b-c-\xff-\xc3\xa9d\xe2\x82", `sprintf("%s", s)`: "abc\xff\xc3\xa9d\xe2\x82",
		`sprintf("%c", s[3])`: "\xff", `s * 1`: "abc\xff\xc3\xa9d\xe2\x82",
		`str(s.upper().isupper())`: "True", `str(s.isupper())`: "False", `str(s.islower())`: "True",
	} {
		got := evaluated(t, expr, starlark.String("abc\xff\xc3\xa9d\xe2\x82"))
		if got != starlark.String(want) {
			t.Errorf("%s is %q, want %q", expr, fmt.Sprint(got), want)
		}
	}
	same := func(expr string) bool {
		of := func(b string) starlark.Value { return evaluated(t, expr, starlark.String(b)) }
		x, y := of("a\xfeb\xfec"), of("a\xffb\xffc")
		equal, err := starlark.Equal(x, y)
		return err == nil && equal
	}
	for _, expr := range []string{"s.upper()", "s.title()", "s.lower()", "s.capitalize()", "list(s.codepoints())",
		`"%c" % s[1]`, "repr(s)", "str([s])", `s.strip("a")`, `s.replace("a", "")`, "s[::-1]"} {
		if same(expr) {
			t.Errorf("%s is the same of different strings", expr)
		}
	}
}

// stringsIn are the strings in a value.
func stringsIn(v starlark.Value) (list []string) {
	if s, ok := v.(starlark.String); ok {
		return []string{string(s)}
	}
	if it, ok := v.(starlark.Iterable); ok {
		for e := range starlark.Elements(it) {
			list = append(list, stringsIn(e)...)
		}
	}
	return list
}
