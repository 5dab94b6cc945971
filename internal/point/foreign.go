package point

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/startrace/startrace/internal/naming"
)

// Words of bpftrace, DTrace, perf and SystemTap for points, with what they are here.

// foreign are words of bpftrace, DTrace and perf that mean no kind of points here, with what there is in their place.
// Those that mean one stand in its row.
var foreign = map[string]string{
	"BEGIN": "the top level of the script runs at the beginning", "END": "use at_exit(fn)",
	"begin": "the top level of the script runs at the beginning", "end": "use at_exit(fn)",
	"bench": "there are no bench probes", "self": "there are no self probes", "test": "there are no test probes",
	"io": "see std/block.star", "tcp": "see std/tcp.star", "proc": "see tracepoint:sched:*",
	"vminfo": "see tracepoint:kmem:*",
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

// Words are those that mean a kind of points: names, short names, and those of other tracers.
func Words() (out []string) {
	for _, k := range table {
		out = append(out, k.Name)
		if k.Short != "" {
			out = append(out, k.Short)
		}
		out = slices.AppendSeq(out, maps.Keys(k.Foreign))
	}
	slices.Sort(out)
	return out
}

// Unknown explains the first field of a point that is no kind.
func Unknown(text, word string) error {
	if ours := clock(word); ours != "" {
		return fmt.Errorf("%q: there is no provider %s: use %s", text, word, ours)
	}
	if ours := fromSystemTap(text); ours != "" {
		return fmt.Errorf("%s: here it is %s", text, ours)
	}
	if hint, ok := meant(word); ok {
		return fmt.Errorf("%q: there is no provider %s: %s", text, word, hint)
	}
	names := sortedNames()
	if near := naming.Suggest(word, names); near != "" {
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

// clock is what DTrace's tick-1s and profile-99 are here, "" for other words.
func clock(word string) string {
	kind, interval, ok := strings.Cut(word, "-")
	switch {
	case !ok || interval == "":
		return ""
	case kind == "tick":
		return "interval:" + interval + ", or every()"
	case kind == "profile":
		return "profile:" + strings.TrimPrefix(interval, "hz:")
	}
	return ""
}

// fromSystemTap is what a point of SystemTap is here, "" for other text.
func fromSystemTap(text string) string {
	for _, tap := range systemTap {
		form := regexp.MustCompile(tap.form)
		if at := form.FindStringSubmatchIndex(text); at != nil {
			return string(form.ExpandString(nil, tap.ours, text, at))
		}
	}
	return ""
}

// meant says what to do in place of a word of another tracer.
func meant(word string) (hint string, known bool) {
	for _, k := range table {
		if hint, known = k.Foreign[word]; known {
			return hint, true
		}
	}
	hint, known = foreign[word]
	return hint, known
}

func sortedNames() (out []string) {
	for _, k := range table {
		out = append(out, k.Name)
	}
	slices.Sort(out)
	return out
}
