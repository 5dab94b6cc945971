package point_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/point"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"sched:sched_switch", 2, []string{"sched", "sched_switch"}},
		{"a:b:c", 2, []string{"a", "b:c"}}, // the last field has the rest
		{"a{b:c,d}:e", 2, []string{"a{b:c,d}", "e"}},
		{"{a:{b:c}}:d:e", 3, []string{"{a:{b:c}}", "d", "e"}},
		{"", 3, []string{""}},
		{"a", 1, []string{"a"}},
	} {
		if got := point.Split(c.text, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Split(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// A kind is found by its name and its short name, and the name says what it wants.
func TestFields(t *testing.T) {
	for _, c := range []struct{ word, kind, text, message string }{
		{word: "tracepoint", kind: "tracepoint", text: "tracepoint:sched:sched_switch"},
		{word: "kprobe", kind: "kprobe", text: "kprobe:vfs_read"},
		{word: "tracepoint", kind: "tracepoint", text: "tracepoint:sched",
			message: `"tracepoint:sched": want tracepoint:CATEGORY:NAME`},
		{word: "kprobe", kind: "kprobe", text: "kprobe:", message: `"kprobe:": want kprobe:`},
	} {
		k, known := point.Named(c.word)
		if !known || k.Name != c.kind {
			t.Fatalf("%s is the kind %v, %t", c.word, k, known)
		}
		_, err := k.Fields(c.text)
		switch {
		case c.message == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.message != "" && (err == nil || !strings.HasPrefix(err.Error(), c.message)):
			t.Errorf("%s: %v, want %s", c.text, err, c.message)
		}
	}
	for _, k := range point.Kinds() {
		if by, known := point.Named(k.Short); k.Short != "" && (!known || by != k) {
			t.Errorf("%s is not found by %s", k.Name, k.Short)
		}
	}
	if _, known := point.Named("nothing"); known {
		t.Error("there is a kind nothing")
	}
}

// TestSourceNeedsDebugInformation checks that who asks for e.source where a program has no debug information is told.
func TestSourceNeedsDebugInformation(t *testing.T) {
	if text := (&point.Family{}).Having("source"); !strings.Contains(text, "debug information (gcc -g)") {
		t.Error(text)
	}
}

// What is said of parts of e names points that there are.
func TestHaving(t *testing.T) {
	form := regexp.MustCompile(`\((\w+):`)
	for _, f := range []*point.Family{point.SystemCalls, point.KernelFunctions, point.UserFunctions} {
		for _, part := range []string{"vars", "globals", "source", "start", "addr", "ip", "usermode", "ret",
			"duration"} {
			text := f.Having(part)
			if text == "" {
				t.Errorf("nothing is said of e.%s", part)
			}
			for _, m := range form.FindAllStringSubmatch(text, -1) {
				k, known := point.Named(m[1])
				if !known || part == "ret" && !k.Has("ret") {
					t.Errorf("e.%s: %s, and there is no such point", part, text)
				}
			}
		}
	}
}
