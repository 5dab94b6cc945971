package manual

import (
	"bytes"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/test/golden"
)

// book is a small one.
func book() *Book {
	b := &Book{
		Flags: []flags.Flag{
			{Long: "command", Short: "c", Value: "CMD", Help: "Start CMD."},
			{Long: "quiet", Short: "q", Help: "Print no messages."},
			{Long: "format", Value: "FORMAT", Help: "How results look.", Words: []string{"text", "json"}},
			{Long: "code", Short: "e", Value: "CODE", Help: "Run CODE."},
			{Long: "pid", Short: "p", Value: "PID", Help: ".begins with a dot, has a \\ and 'quotes'."},
		},
		Commands: Commands(),
		Verbs:    []Tool{{"count", "Counts events."}, {"hist", "A histogram."}},
		Tools:    []Tool{{"opensnoop", "Files as they are opened."}},
	}
	list, _ := b.Command("list")
	list.Flags = []flags.Flag{{Long: "verbose", Short: "v", Help: "Show arguments."}}
	return b
}

func TestMan(t *testing.T) {
	var b bytes.Buffer
	book().Man(&b, "v1-2")
	golden.Equal(t, "testdata/startrace.1", b.String())
}

func TestHelp(t *testing.T) {
	var b bytes.Buffer
	book().Help(&b)
	golden.Equal(t, "testdata/help.txt", b.String())
	b.Reset()
	list, _ := book().Command("list")
	list.Help(&b)
	golden.Equal(t, "testdata/list.txt", b.String())
}

// Every command says what it does, in a sentence, with examples of itself.
func TestCommands(t *testing.T) {
	for _, c := range Commands() {
		if !strings.HasSuffix(c.Summary, ".") || len(c.Usage) == 0 || len(c.Examples) == 0 {
			t.Errorf("%s has no summary, usage or example", c.Name)
		}
		for _, e := range c.Examples {
			if !strings.Contains(e, "startrace "+c.Name) {
				t.Errorf("%s: %q is no example of it", c.Name, e)
			}
		}
	}
}

// fixed is a machine for completion.
type fixed struct{}

func (fixed) ToolFlags(script string) []flags.Flag {
	switch script {
	case "opensnoop":
		return []flags.Flag{{Long: "failed", Short: "x"}, {Long: "name", Value: "VALUE"}}
	case "hist":
		return []flags.Flag{{Long: "where", Value: Expression},
			{Long: "unit", Value: "VALUE", Words: []string{"ns", "us"}}}
	}
	return nil
}

func (fixed) Points(typed string) []string { return []string{typed + "switch"} }

func (fixed) Fields(point string, path []string) []string {
	if len(path) == 0 {
		return []string{"comm", "args"}
	}
	return []string{strings.Join(append([]string{point}, path...), "/")}
}

func (fixed) Names() []string        { return []string{"printf", "count"} }
func (fixed) Processes() []Candidate { return []Candidate{{"77", "sh"}} }

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"startrace ex":                           "explain :",
		"startrace open":                         "opensnoop :",
		"startrace -c 'ls /' open":               "opensnoop :",
		"startrace -c":                           "",
		"startrace -c ":                          ":",
		"startrace --format j":                   "json",
		"startrace --format=j":                   "--format=json",
		"startrace -p ":                          "77",
		"startrace --":                           "--command --quiet --format --code --pid",
		"startrace opensnoop --":                 "--failed --name --command --quiet --format --pid",
		"startrace explain -q opensnoop --na":    "--name",
		"startrace opensnoop --name x --f":       "--failed --format",
		"startrace list --v":                     "--verbose",
		"startrace list t:sched:":                "t:sched:switch",
		"startrace hist -q t:":                   "t:switch",
		"startrace hist t:a:b e.":                "e.comm e.args",
		"startrace hist t:a:b ":                  "e.",
		"startrace hist t:a:b 'e.pid + e.args.":  "e.pid + e.args.t:a:b/args",
		"startrace hist t:a:b --where e.args.t":  "e.args.t:a:b/args",
		"startrace hist t:a:b --where=e.c":       "--where=e.comm",
		"startrace hist t:a:b --unit ":           "ns us",
		"startrace explain hist t:a:b e.co":      "e.comm",
		"startrace hist t:a:b e.pid more":        "",
		"startrace doc p":                        "printf",
		"startrace help c":                       "completion count",
		"startrace completion z":                 "zsh",
		"startrace completion zsh ":              "",
		"startrace -e 'x' ":                      "",
		"startrace \"two words\" --q":            "--quiet",
		`startrace --name\ x" y" open`:           "opensnoop :",
		"startrace explain opensnoop ":           ":",
		"startrace hist t:a:b some.e_value.comm": "",
	} {
		a := book().Complete(line, fixed{})
		var got []string
		for _, c := range a.Candidates {
			got = append(got, c.Word)
		}
		if a.Files {
			got = append(got, ":")
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", line, s, want)
		}
	}
}

// Of a word without quotes bash completes what is behind the last colon.
func TestWrite(t *testing.T) {
	for _, c := range []struct{ shell, line, want string }{
		{"bash", "startrace hist t:sched:", "switch\n"},
		{"bash", "startrace hist 't:sched:", "t:sched:switch\n"},
		{"zsh", "startrace hist t:sched:", "t:sched:switch\n"},
		{"fish", "startrace -p ", "77\tsh\n"},
		{"bash", "startrace hi", "hist\tA histogram.\n:\n"},
	} {
		var b bytes.Buffer
		a := book().Complete(c.line, fixed{})
		if err := a.Write(&b, c.shell, c.line); err != nil || b.String() != c.want {
			t.Errorf("%s, %s: got %q, %v, want %q", c.shell, c.line, b.String(), err, c.want)
		}
	}
}
