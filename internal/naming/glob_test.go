package naming

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string // words
	}{
		{"open", "open", "openat ope xopen"},
		{"open*", "open openat", "xopen"},
		{"*at", "at openat", "openat2"},
		{"*a*b*", "ab xaxbx aab", "ba a b"},
		{"open?", "opena", "open openat"},
		{"open{,at,at2}", "open openat openat2", "openat3 open,"},
		{"sys_{enter,exit}_{read,write}", "sys_enter_read sys_exit_write", "sys_enter_ sys__read"},
		{"{a,b{c,d}}e", "ae bce bde", "be abe"},
		{"{a}", "a", "{a}"},
		{"[ab]c", "ac bc", "cc abc"},
		{"[a-c]", "a b c", "d -"},
		{"[!a-c]x", "dx -x", "ax x"},
		{"[^a]", "b ^", "a"},
		{"[]a]", "] a", "b"},
		{"[a-]", "a -", "b"},
		{"{[,],x}y", ",y xy", "y"}, // a comma in a set
		{`a\*`, "a*", "ab"},
		{`\{a,b}`, "{a,b}", "a"},
		{"a}", "a}", "a"},
	} {
		g, err := Compile(c.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, s := range strings.Fields(c.yes) {
			if !g.Match(s) {
				t.Errorf("%s does not match %s", c.pattern, s)
			}
		}
		for _, s := range strings.Fields(c.no) {
			if g.Match(s) {
				t.Errorf("%s matches %s", c.pattern, s)
			}
		}
	}
}

func TestGlobEmpty(t *testing.T) {
	for pattern, want := range map[string]bool{"": true, "*": true, "{,a}": true, "?": false, "a": false} {
		if g, err := Compile(pattern); err != nil || g.Match("") != want {
			t.Errorf("%q: %v, want %v", pattern, err, want)
		}
	}
}

func TestBadGlob(t *testing.T) {
	many := strings.Repeat("{a,b}", 13) // 8192
	for pattern, want := range map[string]string{
		"[a": "[ without ]", "[]": "[ without ]", "{a,b": "{ without }", "{a,{b}": "{ without }", `a\`: `ends in \`,
		many: "too many alternatives",
	} {
		if _, err := Compile(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", pattern, err)
		}
	}
}

func TestGlobExpand(t *testing.T) {
	for pattern, want := range map[string][]string{
		"open":          {"open"},
		"open{,at,at2}": {"open", "openat", "openat2"},
		"{a,b}{c,d}":    {"ac", "ad", "bc", "bd"},
		"{a,a}":         {"a"},
		`a\*`:           {"a*"},
		"a*":            nil,
		"{a,b?}":        nil,
		"{a,[b]}":       nil,
	} {
		g, err := Compile(pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := g.Expand(); !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%s: got %q, %v", pattern, got, ok)
		}
	}
	if IsPattern("sched_switch") || !IsPattern("a{b}") || !IsPattern("a*") {
		t.Error("IsPattern is wrong")
	}
}

func TestEachOfBraces(t *testing.T) {
	for pattern, want := range map[string][]string{
		"open":            nil,
		"open{,at}":       {"open", "openat"},
		"{a,b}_{c*,d}":    {"a_{c*,d}", "b_{c*,d}", "{a,b}_c*", "{a,b}_d"},
		"{a,{b,c}d}":      {"a", "{b,c}d"},
		"{a}":             nil,
		`\{a,b}[{,]{c,d}`: {`\{a,b}[{,]c`, `\{a,b}[{,]d`},
		"{a,b":            nil,
	} {
		if got := EachOfBraces(pattern); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

// A glob against the same pattern as a regular expression.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"open{,at}", "*a?[b-d]", `\*[!x]`, "{a,{b,c}*}", "[]", "{"} {
		f.Add(p, "openat")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 40 || len(s) > 100 {
			return
		}
		g, err := Compile(pattern)
		if err != nil {
			return
		}
		got := g.Match(s)
		if list, ok := g.Expand(); ok && slices.Contains(list, s) != got {
			t.Errorf("%q %q: Match %v, Expand %q", pattern, s, got, list)
		}
		// Only where the two languages agree on sets and braces.
		if strings.ContainsAny(pattern, "[]{}\\") || !isASCII(pattern) || !isASCII(s) {
			return
		}
		re := regexp.QuoteMeta(pattern)
		re = strings.NewReplacer(`\*`, "(?s:.*)", `\?`, "(?s:.)").Replace(re)
		if want := regexp.MustCompile("^(?:" + re + ")$").MatchString(s); want != got && !strings.HasSuffix(s, "\n") {
			t.Errorf("%q %q: got %v", pattern, s, got)
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

func TestSuggest(t *testing.T) {
	words := []string{"tgid", "pid", "comm", "sched_switch", "sched_wakeup", "openat", "openat2", "e"}
	for name, want := range map[string]string{
		"tgidd":       "tgid",
		"cmom":        "comm", // two neighbours swapped
		"sched_swich": "sched_switch",
		"schedswitch": "sched_switch",
		"opneat":      "openat",
		"qqq":         "",
		"":            "",
		"x":           "", // nothing of it is in any
		"e2":          "e",
		"comm":        "", // itself
	} {
		if got := Suggest(name, words); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, words := range [][]string{{"num", "name"}, {"name", "num"}} {
		if got := Suggest("nam", words); got != "name" {
			t.Errorf("of %q: got %q, want name, which it begins", words, got)
		}
	}
	long := strings.Repeat("x", 1000)
	if got := Suggest(long, []string{long + "y", strings.Repeat("x", 300)}); got != "" {
		t.Errorf("got %q", got)
	}
	if got := Suggest("abcd", []string{strings.Repeat("é", 200)}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
		{"aaaa", "bbbb", 4}} {
		if got := editDistance(c.a, c.b, 10); got != c.want {
			t.Errorf("%s %s: got %d", c.a, c.b, got)
		}
	}
}
