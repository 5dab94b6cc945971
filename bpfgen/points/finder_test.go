package points_test

import (
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/test/smallkernel"
)

// pattern reads a point as probe() does.
func pattern(t *testing.T, text string) *plan.Pattern {
	t.Helper()
	file := "t.star"
	p, err := builtins.ParsePattern(text, syntax.MakePosition(&file, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func patterns(t *testing.T, texts ...string) (list []plan.Point) {
	for _, text := range texts {
		list = append(list, pattern(t, text))
	}
	return list
}

func newFinder(t *testing.T) *points.Finder {
	return &points.Finder{Facts: kernel.Open(kernel.Options{
		BTF: smallkernel.BTF(t, smallkernel.Types()...), TracefsPath: t.TempDir()})}
}

func names(f *points.Found) (out []string) {
	for _, target := range f.Targets {
		out = append(out, target.Names()...)
	}
	return out
}

// Find gives each point of a list once, what first() has chosen, or what is wrong with a point, at its place.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name    string
		points  []plan.Point
		want    []string
		chosen  []string
		refused string
	}{
		{name: "one", points: patterns(t, "interval:1s"), want: []string{"interval:1s"}},
		{name: "a point of two patterns", points: patterns(t, "syscall:openat", "syscall:{openat,close}"),
			want: []string{"syscall:openat", "syscall:close"}},
		{name: "first() takes what is there", points: []plan.Point{&plan.First{
			Points: patterns(t, "tracepoint:no:such", "profile:99hz", "interval:1s")}},
			want: []string{"profile:99hz"}, chosen: []string{"profile:99hz"}},
		{name: "a misspelt call", points: patterns(t, "syscall:opennat"),
			refused: "t.star:1:1: no system call matches syscall:opennat (did you mean openat?)"},
		{name: "calls with a comma between", points: patterns(t, "syscall:read*,write"),
			refused: "t.star:1:1: syscall:read*,write: several names stand in braces: syscall:{read*,write}"},
		{name: "a rate of nothing", points: patterns(t, "profile:0hz"),
			refused: "t.star:1:1: profile:0hz: the rate is"},
		{name: "a program where none can be looked at", points: patterns(t, "uprobe:sh:main"),
			refused: "t.star:1:1: uprobe:sh:main: programs cannot be looked at here"},
		{name: "a span in a span", points: []plan.Point{&plan.Span{Start: patterns(t, "syscall:openat"),
			End: patterns(t, "interval:1s")}}, refused: "syscall:openat is a span itself"},
	} {
		found, r := newFinder(t).Find(&plan.Probe{ID: 3, Points: c.points}, nil)
		switch {
		case c.refused == "" && r != nil:
			t.Errorf("%s: %v", c.name, r)
			continue
		case c.refused != "" && (r == nil || !strings.Contains(r.Error(), c.refused) || !r.Final):
			t.Errorf("%s: it is refused by %v, want %s", c.name, r, c.refused)
			continue
		}
		if got := names(found); !slices.Equal(got, c.want) {
			t.Errorf("%s: it is %q, want %q", c.name, got, c.want)
		}
		var chosen []string
		for _, choice := range found.Choices {
			chosen = append(chosen, choice.Chosen...)
			if choice.Probe != 3 || len(choice.Refused) != 1 || choice.Rest != 1 {
				t.Errorf("%s: the choice is %+v", c.name, choice)
			}
		}
		if !slices.Equal(chosen, c.chosen) {
			t.Errorf("%s: chosen are %q, want %q", c.name, chosen, c.chosen)
		}
	}
}

// A warning names the texts in braces by which a pattern matches nothing.
func TestUnmatchedInBraces(t *testing.T) {
	for text, want := range map[string]string{
		"syscall:{read,write}":             "",
		"syscall:{read,nope}":              "nothing matches syscall:nope",
		"syscall:{read,nope,none*}":        "nothing matches syscall:nope, syscall:none*",
		"syscall:{read,pread,uname}":       "", // names of C libraries
		"syscall:open{,at,_tree}":          "",
		"syscall:open{,at,nope}":           "nothing matches syscall:opennope",
		"syscall:{un,m}link{,at}":          "nothing matches syscall:mlink{,at}",
		"syscall:{mk,rm}dir{,at}":          "", // there is no rmdirat, but each text is in a name
		"syscall:{p{read,write}64,p{no}*}": "nothing matches syscall:p{no}*",
		"syscall:{read}":                   "",
	} {
		found, r := newFinder(t).Find(&plan.Probe{Points: patterns(t, text)}, nil)
		if r != nil {
			t.Errorf("%s: %v", text, r)
			continue
		}
		if want != "" {
			want = "t.star:1:1: " + text + ": " + want
		}
		if got := found.Warnings.Error(); got != want {
			t.Errorf("%s: it says %q, want %q", text, got, want)
		}
	}
}

// A late search finds only what modules can bring.
func TestLate(t *testing.T) {
	f := newFinder(t)
	f.Late = true
	found, r := f.Find(&plan.Probe{Points: patterns(t, "syscall:openat", "interval:1s")}, nil)
	if r != nil || len(found.Targets) > 0 {
		t.Errorf("a late search finds %q, %v", names(found), r)
	}
}
