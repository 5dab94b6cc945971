package script

import (
	"regexp"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/point"
)

// Messages about lines and operators of other languages: BEGIN, class, try, with, `&&`, `$1`, braces, 5ms without
// quotes.

// foreign is a form of lines, with what is written here.
type foreign struct {
	line *regexp.Regexp
	hint string
}

// foreignLines are lines of other tracers and languages by how they begin,
// with what is written here. They are asked only where a line cannot be
// parsed.
var foreignLines = sync.OnceValue(func() []foreign {
	return []foreign{
		{regexp.MustCompile(`^\s*(BEGIN|dtrace:::BEGIN|begin)\s*\{?`),
			"there is no BEGIN here: the top level of the script runs at the beginning"},
		{regexp.MustCompile(`^\s*(END|dtrace:::END)\s*\{?`),
			"there is no END here: at_exit(lambda: …) runs at the end"},
		{regexp.MustCompile(`^\s*probe\s+(begin|end)\b`),
			"here the top level runs at the beginning, and at_exit(lambda: …) at the end"},
		{regexp.MustCompile(`^\s*probe\s+timer\b`), `here it is every("1s", lambda: …)`},
		{regexp.MustCompile(`^\s*probe\s+(syscall|nd_syscall)\.`),
			`probes are declared by a call: probe("syscall:NAME", lambda e: …)`},
		{regexp.MustCompile(`^\s*probe\s+(kernel|module)\b`),
			`probes are declared by a call: probe("kprobe:FUNCTION", lambda e: …)`},
		{regexp.MustCompile(`^\s*probe\s+process\b`),
			`probes are declared by a call: probe("uprobe:BINARY:FUNCTION", lambda e: …)`},
		{regexp.MustCompile(`^\s*probe\s+[\w.]+`), `probes are declared by a call: probe("POINT", lambda e: …)`},
		{regexp.MustCompile(`^\s*syscall:[^:]*:[^:]*:(entry|return)`),
			`probes are declared by a call, and entry and return are one event: probe("syscall:NAME", lambda e: …)`},
		{regexp.MustCompile(`^\s*(fbt|pid\$\w+|pid\d+):`), `probes are declared by a call: ` +
			`probe("func:FUNCTION", lambda e: …), of a program probe("ufunc:BINARY:FUNCTION", …)`},
		{regexp.MustCompile(`^\s*(profile|tick|interval)(-|:)`),
			`probes are declared by a call: probe("profile:99hz", lambda e: …); every("1s", lambda: …) is a timer`},
		{regexp.MustCompile(`^\s*(proc|io|ip|tcp|udp|vminfo|` + strings.Join(point.Words(), "|") + `):\S`),
			`probes are declared by a call: probe("POINT", lambda e: …)`},
		{regexp.MustCompile(`^\s*/[^*/].*/\s*\{?\s*$`),
			`a filter is a function: probe("POINT", …, where = lambda e: CONDITION)`},
		{regexp.MustCompile(`^\s*@\w*\[.*\]\s*=\s*(count|sum|avg|min|max|hist|lhist|stats|quantize|lquantize)\b`),
			`maps are containers here: n = count() at the top, n[KEY].add() in a function`},
		{regexp.MustCompile(`^\s*@\w*\s*=\s*(count|sum|avg|min|max|hist|lhist|stats|quantize|lquantize)\b`),
			`maps are containers here: n = count() at the top, n.add() in a function`},
		{regexp.MustCompile(`^\s*(from\s+\S+\s+)?import\b`), `modules are loaded by load("std/NAME.star", "name")`},
		{regexp.MustCompile(`^\s*#?include\b`),
			`modules are loaded by load("std/NAME.star", "name"); kernel types need no headers`},
		{regexp.MustCompile(`^\s*(function|func|fn|sub)\s+\w+`), "functions are: def NAME(e): and an indented block"},
		{regexp.MustCompile(`^\s*(let|var|my|local|long|int|char|string|self->|this->)\s+\$?\w+`),
			"variables are assigned without a declaration: x = 1"},
		{regexp.MustCompile(`^\s*(global|nonlocal)\s+\w+`), "names need no declaration; " +
			"a function cannot assign a name of the top level: use a table(), a cell(), or a list"},
		{regexp.MustCompile(`^\s*else\s+if\b`), "here it is elif"},
		{regexp.MustCompile(`^\s*for\s*\(.*;.*;`), "loops are: for i in range(10): and an indented block"},
		{regexp.MustCompile(`^\s*(foreach|unroll)\b`), "loops are: for x in LIST: and an indented block"},
		{regexp.MustCompile(`^\s*(class|struct)\b`),
			"there are no classes here: record(a = 1, b = 2) makes a value with named fields"},
		{regexp.MustCompile(`^\s*(try|except|finally|raise)\b`),
			"there are no exceptions here: test the value before; fail(…) ends the script"},
		{regexp.MustCompile(`^\s*assert\b`), `there is no assert here: if not CONDITION: fail("…")`},
		{regexp.MustCompile(`^\s*with\b`), "there is no with here: a script opens no files"},
		{regexp.MustCompile(`^\s*(yield|async|await)\b`), "there are no generators here: make a list"},
		{regexp.MustCompile(`^\s*del\s`), "here it is x.pop(KEY)"},
		{regexp.MustCompile(`^\s*delete\s*[(@]`), "here it is t.pop(KEY)"},
		{regexp.MustCompile(`^\s*(switch|case|match)\b`), "here it is if, elif and else, or a dict"},
		{regexp.MustCompile(`^\s*do\b`), "loops are: for i in range(10): and an indented block"},
	}
})

func foreignLine(line string) string {
	for _, f := range foreignLines() {
		if f.line.MatchString(line) {
			return f.hint
		}
	}
	return ""
}

// foreignSyntax are operators of C and its kin, the longest first.
var foreignSyntax = []struct{ text, hint string }{
	{"&&", "here it is: and"},
	{"||", "here it is: or"},
	{"->", "here it is: ."},
	{"++", "here it is: += 1"},
	{"--", "here it is: -= 1"},
	{"/*", "comments begin with #"},
	{"//", "comments begin with #"},
	{":=", "here it is: ="},
	{"**", "there is no power here; 1 << n is a power of two"},
	{"<>", "here it is: !="},
	{"@", "maps are containers here: n = count() at the top, n[key].add() in a function"},
	{"?", "here it is: A if CONDITION else B"},
	{"$", `variables have no $ here; an argument of the script is flag("name", positional = True)`},
	{"!", "here it is: not"},
	{"{", "functions are: def f(e): and an indented block, or lambda e: expression"},
	{"“", `strings stand in plain quotes: "`},
	{"”", `strings stand in plain quotes: "`},
	{"‘", "strings stand in plain quotes: '"},
	{"’", "strings stand in plain quotes: '"},
}

// operatorHint recognises operators of C, bpftrace and DTrace at the place of
// the error or just before it.
func (f *file) operatorHint(at position) string {
	line := []rune(f.line(int(at.line)))
	col := min(max(int(at.col)-1, 0), len(line))
	around := string(line[max(0, col-2):min(len(line), col+2)])
	before := strings.TrimRight(string(line[:col]), " ")
	for _, h := range foreignSyntax {
		if strings.Contains(around, h.text) || len(h.text) == 2 && strings.HasSuffix(before, h.text) {
			return h.hint
		}
	}
	return ""
}

// reserved are Python's words that Starlark keeps free.
var reserved = map[string]string{
	"is": "here it is ==", "while": "loops are: for i in range(10):",
	"import": `modules are loaded by load("std/NAME.star", "name")`,
	"from":   "", "as": "", "assert": "", "async": "", "await": "", "class": "", "del": "", "except": "", "finally": "",
	"global": "", "nonlocal": "",
	"raise": "", "try": "", "with": "", "yield": "",
	"in": "", "not": "", "and": "", "or": "", "if": "", "else": "", "for": "", "def": "", "lambda": "", "return": "",
	"pass": "", "break": "", "continue": "", "load": "", "elif": "",
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+$`) })

// units of durations and rates, as they are written behind a number.
var units = map[string]string{
	"ns": "NSEC", "us": "USEC", "ms": "MSEC", "s": "SEC", "sec": "SEC", "msec": "MSEC", "usec": "USEC", "nsec": "NSEC",
	"m": "60 * SEC", "min": "60 * SEC",
}

// syntaxHint says what was probably meant by the words around a mistake.
func syntaxHint(words []word, at position, got, msg string) string {
	if strings.Contains(msg, "non-ASCII") && strings.Contains(msg, "escape") {
		return `a string of bytes that are not UTF-8 is str(b"\xff")`
	}
	prev := before(words, at)
	hint, kept := reserved[got]
	switch {
	case kept && prev == ".":
		return "a reserved word as a field has a _ behind it: ." + got + "_"
	case kept && hint != "":
		return hint
	case got == "return" && prev == ":":
		return "a lambda is one expression, without return"
	case strings.HasPrefix(msg, "keyword argument must") && got == "=":
		return "a lambda is one expression and assigns nothing: use def"
	case got == "=" && strings.HasSuffix(msg, "want ':'"):
		return "a comparison is =="
	case got == "=" && strings.HasSuffix(msg, "want ','"):
		return "a comparison is ==; an argument by name has a plain name before the ="
	case got == "=" && strings.HasSuffix(msg, "want newline"):
		return "one assignment a line; a comparison is =="
	case units[got] != "" && digits().MatchString(prev):
		return `a duration is "` + prev + got + `" or ` + prev + " * " + units[got]
	case strings.EqualFold(got, "hz") && digits().MatchString(prev):
		return `a rate stands in a point: "profile:` + prev + `hz"`
	case prev == "print" || prev == "printf":
		return prev + " is a function: " + prev + "(…)"
	case (prev == "f" || prev == "F") && len(got) > 1 && strings.ContainsAny(got[:1], `"'`), len(got) > 1 &&
		strings.ContainsAny(got[:1], "fF") && strings.ContainsAny(got[1:2], `"'`):
		return `there are no f-strings: sprintf("%d", x), or "…" + str(x)`
	case strings.HasPrefix(msg, "not an identifier") && prev == "lambda":
		return "the parameters of a lambda stand without parentheses: lambda e: …"
	case got == "if" && prev == "else":
		return "here it is elif"
	case strings.HasPrefix(msg, "unexpected ") && strings.Contains(")]}", got) && got != "":
		return "no bracket is open here"
	}
	return missing(msg)
}

// missing says what a parser that wanted something else did not find.
func missing(msg string) string {
	switch {
	case strings.HasPrefix(msg, "got newline, want ':'"):
		return "def, if, elif, else and for end in a colon"
	case strings.HasSuffix(msg, "want ')'"), strings.HasSuffix(msg, "want ']'"), strings.HasSuffix(msg, "want '}'"),
		strings.HasSuffix(msg, "want ','"):
		if strings.HasPrefix(msg, "got ')'") || strings.HasPrefix(msg, "got ']'") || strings.HasPrefix(msg, "got '}'") {
			return "the brackets do not match"
		}
		if strings.HasPrefix(msg, "got int") || strings.HasPrefix(msg, "got string") ||
			strings.HasPrefix(msg, "got ident") {
			return "is a comma missing?"
		}
	case strings.HasPrefix(msg, "got indent"):
		return "remove the blanks at its beginning"
	}
	return ""
}

// before gives the word before a place.
func before(words []word, at position) (prev string) {
	for _, w := range words {
		if w.from.before(at) {
			prev = w.text
		}
	}
	return prev
}
