package builtins

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

var update = flag.Bool("update", false, "write docs/builtins.md")

func TestReference(t *testing.T) {
	const path = "../docs/builtins.md"
	got := AppendReference(nil)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what the builtins say; run: go test ./builtins -update", path)
	}
}

// TestSignatures checks that signatures are Starlark and that names are said
// once.
func TestSignatures(t *testing.T) {
	seen := make(map[string]bool)
	for _, en := range Entries() {
		if seen[en.Name] {
			t.Errorf("%s is there twice", en.Name)
		}
		seen[en.Name] = true
		if en.Doc == "" || en.Family == "" || !strings.Contains(en.Signature, en.Name) {
			t.Errorf("%s has no doc, family or signature", en.Name)
		}
		src := strings.NewReplacer("…", "etc", "*values", "values", "*, ", "").Replace(en.Signature)
		opts := &syntax.FileOptions{}
		if _, err := opts.ParseExpr(en.Name, src, 0); err != nil {
			t.Errorf("signature of %s: %v", en.Name, err)
		}
	}
	if _, ok := Lookup("hist"); !ok {
		t.Error("hist is not found")
	}
}

func TestParsePattern(t *testing.T) {
	for text, want := range map[string]string{
		"t:sched:sched_*":                "tracepoint sched sched_*",
		"tracepoint:a:b":                 "tracepoint a b",
		"rt:sched_wakeup{,_new}":         "rawtracepoint sched_wakeup{,_new}",
		"k:vfs_read+0x10":                "kprobe vfs_read+0x10",
		"kr:f":                           "kretprobe f",
		"u:/bin/{a:b}:main":              "uprobe /bin/{a:b} main",
		"u:c:std::vector::size":          "uprobe c std::vector::size",
		"U:/usr/sbin/mysqld:mysql:query": "usdt /usr/sbin/mysqld mysql query",
		"p:99hz":                         "profile 99hz",
		"profile:hz:99":                  "profile hz 99",
		"sc:open{,at,at2}":               "syscall open{,at,at2}",
		"w:0x1234:8:rw":                  "watchpoint 0x1234 8 rw",
		"it:task":                        "iter task",
		"ufunc:readline":                 "ufunc readline",
	} {
		p, err := ParsePattern(text, plan.Pos{})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.Provider + " " + strings.Join(p.Args, " "); got != want || p.Text != text {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":           `"": there is no provider "";`,
		"tracepoint": "want tracepoint:CATEGORY:NAME",
		"t:sched":    "want tracepoint:CATEGORY:NAME",
		"k:":         "want kprobe:FUNCTION",
		"kprob:x":    "did you mean kprobe?",
		"END":        "use at_exit(fn)",
	} {
		if _, err := ParsePattern(text, plan.Pos{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestStrftime(t *testing.T) {
	at := time.Date(2026, 3, 9, 4, 5, 6, 7_008_009, time.UTC)
	for f, want := range map[string]string{
		"%Y-%m-%dT%H:%M:%S.%L%z": "2026-03-09T04:05:06.007+0000",
		"%a %A %b %B %e %j %y":   "Mon Monday Mar March  9 068 26",
		"%I %p %f %N %s %u %w":   "04 AM 007008 007008009 1773029106 1 1",
		"%F %T %R %D %%%n%t":     "2026-03-09 04:05:06 04:05 03/09/26 %\n\t",
		"no time at all %":       "no time at all %",
	} {
		if got, err := Strftime(f, at); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", f, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"5ms": 5e6, "100ns": 100, "1.5s": 15e8, "1h30m": 5400e9, "20us": 20e3, "3µs": 3000, "0": 0, "2d": 172800e9,
		"1m1s": 61e9,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "ms", "5 ms", "-5ms", "5msx", "1e3s", "99999999999d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q gave %d", text, got)
		}
	}
}

// FuzzFlags feeds arguments to flags of all kinds.
func FuzzFlags(f *testing.F) {
	f.Add("--rows 3 -xD --no-disk -- a")
	f.Add("-r=5 --rows= - --")
	f.Fuzz(func(t *testing.T, args string) {
		fs := &Flags{Args: strings.Fields(args), Words: []FlagWord{{Name: "rows", Short: "r"},
			{Name: "disk", Short: "D", Switch: true}, {Name: "all", Short: "x", Switch: true}}}
		p := fs.parse()
		if n := len(p.rest) + len(p.given) + len(p.unknown); n > len(args) {
			t.Errorf("%d outcomes of %q", n, args)
		}
	})
}

func TestPlainValue(t *testing.T) {
	if _, ok := PlainValue(starlark.Tuple{starlark.MakeInt(1), starlark.NewList(nil)}); ok {
		t.Error("a list is no plain value")
	}
	v, ok := PlainValue(starlark.Tuple{starlark.True, starlark.String("x")})
	if tuple, isTuple := v.(plan.Tuple); !ok || !isTuple || tuple[1] != plan.String("x") {
		t.Errorf("got %v", v)
	}
}

// FuzzPattern reads any text as a point: what is read has a provider and its
// fields.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"syscall:open{,at}", "tracepoint:sched:sched_*", "k:vfs_read+4", "profile:99hz",
		"usdt:/bin/x:a:b", "w:0x10:8:rw", "k:{", "::", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePattern(text, plan.Pos{})
		if err != nil {
			return
		}
		kind, known := point.Named(p.Provider)
		if !known || len(p.Args) < kind.Min || len(p.Args) > kind.Max || p.Args[0] == "" {
			t.Errorf("%q is read as %+v", text, p)
		}
	})
}

// FuzzDuration reads any text as a duration: none is negative.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"1s", "1.5ms", "1h30m", "9223372036854775807ns", "999999999999h", "-1s", "1", "s",
		".5s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil && d < 0 {
			t.Errorf("%q is %d ns", text, d)
		}
	})
}
