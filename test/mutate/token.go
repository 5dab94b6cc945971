package mutate

import "regexp"

// Words of scripts, and odd words and expressions (`oddWords`) that are put in.

// A token is a word of a text; blanks between words are none.
type token struct{ span }

var word = regexp.MustCompile(`"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*|` +
	`[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9a-zA-Z.]*|\*\*|//=|//|<<|>>|[-+*%/&|^=!<>]=|\n[ \t]*|[^ \t]`)

func tokens(text string) []token {
	var out []token
	for _, at := range word.FindAllStringIndex(text, -1) {
		if text[at[0]] != '#' {
			out = append(out, token{span{at[0], at[1]}})
		}
	}
	return out
}

// oddParts are expressions that put a script at its limits, or mean nothing where they stand.
var oddParts = []string{
	"0", "-1", "1", "2", "63", "64", "255", "256", "257", "4095", "8184", "10240", "65536", "0x7fffffff", "0x80000000",
	"0xffffffff",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
	"18446744073709551616", "1e300", "0.5", "-0.0",
	"None", "True", "False", `""`, `"\x00"`, `"é"`, `b"\xff"`, `"%d"`, `"%"`, `"%-*s"`, "[]", "{}", "()", "(1,)",
	"[1, 2, 3]", `{"a": 1}`, `{1: 2, 3: 4}`,
	"e", "e.args", "e.start", "e.comm", "e.pid", "e.time", "e.ret", "e.task", "e.duration", "e.args.x", "e.args[0]",
	"e.file(0)", "e.stack()", "e.start.args", "e.value",
	"e.task.mm.owner.comm", "e.task.real_parent", "lambda e: e", "lambda: 0", "lambda e: e.pid", "lambda *a: a",
	"lambda **k: k",
	"table()", "count()", "hist()", "cell(0)", "group(by = (\"a\",), n = count())", "quantiles()", "stats()",
	"record(a = 1)", "record()", "FAULT", "path", "cstr", "mem", "cast", "names", "errno", "ksym",
	"usym", "inet", "sizeof", "container_of", "strftime", "duration", "MSEC", "print", "printf", "record", "len", "abs",
	"min", "max", "int", "bool", "str", "range", "hasattr", "getattr", "type", "sorted",
	"nsecs", "kstack", "args", "comm",
	`"syscall:*"`, `"syscall:open{,at}"`, `"tracepoint:sched:sched_*"`, `"rt:sched_switch"`, `"profile:99hz"`,
	`"interval:1s"`, `"profile:0hz"`, `"syscall:["`, `"k:{"`, `"kprobe:vfs_read"`,
}

// oddWords are words of the grammar, and of other tracers.
var oddWords = []string{
	"and", "or", "not", "in", "not in", "if", "else", "elif", "for", "def", "lambda", "return", "break", "continue",
	"pass", "while", "load",
	"+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "~", "==", "!=", "<", ">=", "=", "+=", "//=", ",", ":",
	"(", ")", "[", "]", "{", "}", ".", ";",
	"@", "$1", "&&", "||", "->", "++", "?", "!",
}
