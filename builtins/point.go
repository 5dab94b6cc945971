package builtins

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// A provider is the first field of a pattern.
type provider struct {
	name string
	// fields says what follows, for messages; min and max how many fields.
	// The last field takes the rest of the text with its colons.
	fields   string
	min, max int
}

var providers = map[string]provider{
	"tracepoint":    {"tracepoint", "CATEGORY:NAME", 2, 2},
	"rawtracepoint": {"rawtracepoint", "NAME", 1, 1},
	"kprobe":        {"kprobe", "FUNCTION[+OFFSET]", 1, 1},
	"kretprobe":     {"kretprobe", "FUNCTION", 1, 1},
	"fentry":        {"fentry", "FUNCTION, or bpf:PROGRAM", 1, 2},
	"fexit":         {"fexit", "FUNCTION, or bpf:PROGRAM", 1, 2},
	"uprobe":        {"uprobe", "BINARY:FUNCTION[+OFFSET]", 1, 2},
	"uretprobe":     {"uretprobe", "BINARY:FUNCTION", 1, 2},
	"usdt":          {"usdt", "BINARY:[PROVIDER:]NAME", 1, 3},
	"profile":       {"profile", "99hz", 1, 2},
	"interval":      {"interval", "1s", 1, 2},
	"software":      {"software", "EVENT[:N]", 1, 2},
	"hardware":      {"hardware", "EVENT[:N]", 1, 2},
	"watchpoint":    {"watchpoint", "ADDRESS:LENGTH:rw", 3, 4},
	"iter":          {"iter", "NAME", 1, 1},
	"syscall":       {"syscall", "NAME", 1, 1},
	"func":          {"func", "FUNCTION", 1, 1},
	"ufunc":         {"ufunc", "BINARY:FUNCTION", 1, 2},
}

// aliases are the short names.
var aliases = map[string]string{
	"t": "tracepoint", "rt": "rawtracepoint", "k": "kprobe", "kr": "kretprobe",
	"f": "fentry", "fr": "fexit", "u": "uprobe", "ur": "uretprobe", "U": "usdt",
	"p": "profile", "i": "interval", "s": "software", "h": "hardware",
	"w": "watchpoint", "it": "iter", "sc": "syscall",
}

// foreignProviders are the words of bpftrace, DTrace and perf with ours.
var foreignProviders = map[string]string{
	"BEGIN": "the top level of the script runs at the beginning", "END": "use at_exit(fn)",
	"begin": "the top level of the script runs at the beginning", "end": "use at_exit(fn)",
	"kfunc": "use fentry, or func for entry and return", "kretfunc": "use fexit, or func for entry and return",
	"rawtp": "use rawtracepoint", "raw_tp": "use rawtracepoint", "tp": "use tracepoint",
	"fbt": "use func:FUNCTION", "pid": "use ufunc:BINARY:FUNCTION", "tick": "use every(), or interval:1s",
	"asyncwatchpoint": "use watchpoint", "bench": "there are no bench probes", "self": "there are no self probes",
	"syscalls": "use syscall:NAME, or tracepoint:syscalls:NAME", "sdt": "use tracepoint or usdt",
	"io": "see std/block.star", "tcp": "see std/tcp.star", "proc": "see tracepoint:sched:*",
	"sched": "use tracepoint:sched:NAME", "vminfo": "see tracepoint:kmem:*",
	"test": "there are no test probes", "lsm": "use func:security_NAME",
	"perf":  "use hardware:EVENT, software:EVENT or profile:99hz",
	"timer": "use every(), or interval:1s", "kernel": "use func:FUNCTION", "process": "use ufunc:BINARY:FUNCTION",
	"cpu": "use hardware:EVENT",
}

// systemTap are points of SystemTap as regular expressions, with ours. They are compiled when one is asked for.
var systemTap = []struct{ form, ours string }{
	{`^(?:kernel|module\(.*?\))\.(?:function|statement)\("([^"@]*).*"\)`, "func:$1"},
	{`^kernel\.trace\("([^"]*)"\)`, "rawtracepoint:$1"},
	{`^process\("([^"]*)"\)\.(?:function|statement)\("([^"@]*).*"\)`, "ufunc:$1:$2"},
	{`^process\("([^"]*)"\)\.mark\("([^"]*)"\)`, "usdt:$1:$2"},
	{`^(?:nd_)?syscall\.(\w+)`, "syscall:$1"},
	{`^timer\.(?:profile|hz)\b.*`, "profile:99hz"},
	{`^timer\.(ns|us|ms|s)\((\d+)\)`, `every("$2$1", fn), or interval:$2$1`},
	{`^sys_(?:enter|exit)_(\w+)$`, "syscall:$1"},
}

// ParsePattern reads a point that is written as a string.
func ParsePattern(text string, pos plan.Pos) (*plan.Pattern, error) {
	word, rest, ok := strings.Cut(text, ":")
	name, known := Provider(word)
	p := providers[name]
	if !known {
		return nil, UnknownProvider(text, word)
	}
	if before, after, several := strings.Cut(text, ","); several && !strings.HasPrefix(name, "u") { // not of C++
		if second, _, point := strings.Cut(strings.TrimSpace(after), ":"); point {
			if _, is := Provider(second); is {
				return nil, &severalPoints{text, strings.TrimSpace(before), strings.TrimSpace(after)}
			}
		}
	}
	args := SplitFields(rest, p.max)
	if name == "syscall" && strings.HasPrefix(rest, ":") { // DTrace's syscall::open:entry
		call, end, _ := strings.Cut(rest[1:], ":")
		if end == "entry" {
			return nil, fmt.Errorf("%q: want syscall:%s with start=, for the moment of its start", text, call)
		}
		return nil, fmt.Errorf("%q: want syscall:%s: the event is the call's return, with its arguments", text, call)
	}
	if !ok || len(args) < p.min || args[0] == "" {
		return nil, fmt.Errorf("%q: want %s:%s", text, p.name, p.fields)
	}
	return &plan.Pattern{Text: text, Provider: p.name, Args: args, Pos: pos}, nil
}

// Provider gives the full name of a provider.
func Provider(word string) (string, bool) {
	if long, isAlias := aliases[word]; isAlias {
		word = long
	}
	_, known := providers[word]
	return word, known
}

// UnknownProvider explains a first field that is no provider.
func UnknownProvider(text, word string) error {
	if clock, interval, ok := strings.Cut(word, "-"); ok && (clock == "tick" || clock == "profile") && interval != "" {
		ours := map[string]string{"tick": "interval:" + interval + ", or every()", "profile": "profile:" +
			strings.TrimPrefix(interval, "hz:")}[clock]
		return fmt.Errorf("%q: there is no provider %s: use %s", text, word, ours)
	}
	for _, tap := range systemTap {
		form := regexp.MustCompile(tap.form)
		if at := form.FindStringSubmatchIndex(text); at != nil {
			return fmt.Errorf("%s: here it is %s", text, form.ExpandString(nil, tap.ours, text, at))
		}
	}
	if hint, ok := foreignProviders[word]; ok {
		return fmt.Errorf("%q: there is no provider %s: %s", text, word, hint)
	}
	names := make([]string, 0, len(providers))
	for n := range providers {
		names = append(names, n)
	}
	sort.Strings(names)
	if near := kernel.Suggest(word, names); near != "" {
		return fmt.Errorf("%q: there is no provider %s (did you mean %s?)", text, word, near)
	}
	if word == text && text != "" {
		example := text
		if strings.ContainsFunc(text, unicode.IsSpace) {
			example = "NAME"
		}
		return fmt.Errorf("%q: a point has a provider, such as func:%s; providers are %s", text, example,
			strings.Join(names, ", "))
	}
	return fmt.Errorf("%q: there is no provider %q; providers are %s", text, word, strings.Join(names, ", "))
}

// SplitFields splits at colons outside of braces into at most n fields.
func SplitFields(s string, n int) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s) && len(out) < n-1; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// A Point is a point as scripts hold it: a pattern, or a PointValue.
type Point struct {
	pattern *plan.Pattern
	value   *PointValue
}

// toPoints reads points: a string, a PointValue, or a list or tuple of them.
func toPoints(v starlark.Value, pos plan.Pos) ([]Point, error) {
	switch v := v.(type) {
	case starlark.String:
		p, err := ParsePattern(string(v), pos)
		return []Point{{pattern: p}}, err
	case *PointValue:
		return []Point{{value: v}}, nil
	case *starlark.List, starlark.Tuple, *starlark.Set:
		var out []Point
		for elem := range starlark.Elements(v.(starlark.Iterable)) {
			ps, err := toPoints(elem, pos)
			if err != nil {
				return nil, err
			}
			out = append(out, ps...)
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("points: got an empty %s, want at least one point", v.Type())
		}
		return out, nil
	}
	return nil, fmt.Errorf("points: got %s, want a string like \"tracepoint:sched:sched_switch\", an event, a span, or a list of them", v.Type())
}

func pointsText(ps []Point) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		if p.pattern != nil {
			parts[i] = p.pattern.Text
		} else {
			parts[i] = p.value.text()
		}
	}
	return strings.Join(parts, ", ")
}
