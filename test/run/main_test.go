package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const events = `{"ImportPath":"m/c","Action":"build-output","Output":"c.go:1:1: expected 'package'\n"}
{"Action":"start","Package":"m/a"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"    x_test.go:3: needs "}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"root\n"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/b","Test":"TestZ","Output":"=== RUN   TestZ\n"}
{"Action":"output","Package":"m/b","Test":"TestZ","Output":"    z_test.go:9: another\n"}
{"Action":"output","Package":"m/b","Test":"TestZ","Output":"--- FAIL: TestZ (0.00s)\n"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"=== RUN   TestY\n"}
{"Action":"output","Package":"m/b","Test":"TestY/sub","Output":"=== RUN   TestY/sub\n"}
{"Action":"output","Package":"m/b","Test":"TestY/sub","Output":"    y_test.go:9: wrong\n"}
{"Action":"output","Package":"m/b","Test":"TestY/sub","Output":"    --- FAIL: TestY/sub (0.00s)\n"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"--- FAIL: TestY (0.00s)\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.004s\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
{"Action":"output","Package":"m/d","Test":"TestP","Output":"--- FAIL: TestP (0.00s)\n"}
{"Action":"output","Package":"m/d","Test":"TestP","Output":"panic: p\n"}
{"Action":"fail","Package":"m/d"}
`

func TestFollow(t *testing.T) {
	var shown strings.Builder
	all, err := follow(strings.NewReader(events), &shown)
	if err != nil {
		t.Fatal(err)
	}
	all.report(&shown)
	const want = `c.go:1:1: expected 'package'
ok  	m/a	0.004s
    z_test.go:9: another
--- FAIL: TestZ (0.00s)
    y_test.go:9: wrong
    --- FAIL: TestY/sub (0.00s)
--- FAIL: TestY (0.00s)
FAIL
FAIL	m/b	0.1s
--- FAIL: TestP (0.00s)
panic: p
skipped 1: needs root (m/a TestX)
failed: m/b TestZ
    z_test.go:9: another
--- FAIL: TestZ (0.00s)
failed: m/b TestY
    y_test.go:9: wrong
    --- FAIL: TestY/sub (0.00s)
--- FAIL: TestY (0.00s)
failed: m/d
--- FAIL: TestP (0.00s)
panic: p
0 passed, 4 failed, 1 skipped
`
	if shown.String() != want {
		t.Errorf("shown:\n%s\nwant:\n%s", shown.String(), want)
	}
	var again []string
	for _, f := range all.failed {
		again = append(again, strings.Join(f.again(), " "))
	}
	if want := []string{"-count=1 -run=^(TestZ|TestY)$ m/b", "-count=1 m/d"}; !slices.Equal(again, want) {
		t.Errorf("got %q, want %q", again, want)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"-again -passed f -halves ./a -slowest 3 ./b":   "true f ./a 3 [] [] [./b]",
		"-slowest 3 -halves ./a -- -again -vet=off ./b": "false  ./a 3 [] [-again -vet=off] [./b]",
		"-- A=1 -v ./b": "false   0 [A=1] [-v] [./b]",
		"":              "false   0 [] [] []",
		"GOARCH=arm64":  "false   0 [GOARCH=arm64] [] []",
		"./a":           "false   0 [] [] [./a]",
		"-again ./...":  "true   0 [] [] [./...]",
		"-again GOARCH=arm64 CGO_ENABLED=0 -exec q -run=X Y=1 ./a ./b/...": "true   0 [GOARCH=arm64 CGO_ENABLED=0] " +
			"[-exec q -run=X Y=1] [./a ./b/...]",
	} {
		o := parsed(t, strings.Fields(text)...)
		got := fmt.Sprintf("%t %s %s %d %s %s %s", o.again, o.passed, o.halves, o.slowest, o.environment, o.flags,
			o.packages)
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func parsed(t *testing.T, args ...string) order {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestExcerpt(t *testing.T) {
	text := strings.Repeat("a\n", 20) + strings.Repeat("b\n", 20)
	if got := excerpt(text); got != text {
		t.Errorf("of 40 lines: got %q", got)
	}
	const middle = "a\n… 3 lines that stand above\nb\n"
	if got := excerpt("a\n" + text + "b\nb\n"); len(got) != len(text)-4+len(middle) || !strings.Contains(got, middle) {
		t.Errorf("of 43 lines: got %q", got)
	}
}

// One test passes when it runs for the second time, another one fails then, too.
func TestAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":          "module m\n\ngo 1.26\n",
		"first/x_test.go": fails("first", `if os.Mkdir("mark", 0o755) == nil { t.Error("once") }`),
		"always/x_test.go": fails("always",
			`if os.Mkdir("mark", 0o755) == nil { t.Error("once") } else { t.Error("twice") }`),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args   []string
		status int
		shown  string // without times
	}{
		{[]string{"./first"}, 1, "FAIL\tm/first\t|failed: m/first TestX|    x_test.go:5: once|" +
			"--- FAIL: TestX |1 passed, 1 failed, 0 skipped"},
		{[]string{"-again", "./first"}, 0, "1 passed, 1 failed, 0 skipped|=== what failed, a second time|" +
			"ok  \tm/first\t|1 passed, 0 failed, 0 skipped"},
		{[]string{"-again", "./always"}, 1, "    x_test.go:5: once|--- FAIL: TestX |" +
			"1 passed, 1 failed, 0 skipped|=== what failed, a second time|    x_test.go:5: twice|" +
			"--- FAIL: TestX |FAIL|FAIL\tm/always\t|failed: m/always TestX|    x_test.go:5: twice|" +
			"--- FAIL: TestX |0 passed, 1 failed, 0 skipped"},
	} {
		if err := os.RemoveAll(tt.args[len(tt.args)-1] + "/mark"); err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		status, err := parsed(t, tt.args...).run(t.Context(), &shown)
		if err != nil || status != tt.status {
			t.Errorf("%q: status %d, %v", tt.args, status, err)
		}
		text := regexp.MustCompile(`\(?\d+\.\d+s\)?`).ReplaceAllString(shown.String(), "")
		if want := strings.ReplaceAll(tt.shown, "|", "\n") + "\n"; !strings.HasSuffix(text, want) {
			t.Errorf("%q: got\n%s\nwant at the end\n%s", tt.args, text, want)
		}
	}
}

// go test is ended at the limit, while a test runs: what passed and what failed until then is told, and which test ran.
func TestLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"x_test.go": "package m\n\nimport (\"os\"; \"testing\")\n\nfunc TestP(t *testing.T) {}\n" +
			"func TestF(t *testing.T) { t.Error(\"wrong\") }\n" +
			"func TestX(t *testing.T) { os.WriteFile(\"began\", nil, 0o644); select {} }\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	limit, end := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat("began"); err != nil && t.Context().Err() == nil; _, err = os.Stat("began") {
			time.Sleep(time.Millisecond)
		}
		end()
	}()
	var shown strings.Builder
	status, err := parsed(t, "-again", "-passed", "passed", ".").run(limit, &shown)
	text := regexp.MustCompile(`\(?\d+\.\d+s\)?`).ReplaceAllString(shown.String(), "")
	const want = "failed: m\n    x_test.go:6: wrong\n--- FAIL: TestF \nsignal: interrupt\nFAIL\tm\t\n" +
		"did not end: m TestX\n1 passed, 1 failed, 0 skipped\n"
	if err != nil || status != 1 || !strings.HasSuffix(text, want) {
		t.Errorf("status %d, %v, shown:\n%s\nwant at the end\n%s", status, err, text, want)
	}
	if passed, err := os.ReadFile("passed"); err != nil || string(passed) != "m TestP\n" {
		t.Errorf("noted %q, %v", passed, err)
	}
}

// The tests of one package run in two processes, each once, and so do those of the others.
func TestHalves(t *testing.T) {
	t.Chdir(t.TempDir())
	const three = "package m\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\nfunc TestY(t *testing.T) {}\n" +
		"func TestZ(t *testing.T) { t.Error(\"wrong\") }\n"
	files := map[string]string{"go.mod": "module m\n\ngo 1.26\n", "waits/x_test.go": three,
		"x_test.go": fails("m", "os.Getpid()")}
	for name, text := range files {
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	o := parsed(t, "-again", "-passed", "passed", "-halves", "./waits", "--", "-count=1", "./...")
	jobs, err := o.jobs(t.Context())
	want := fmt.Sprintf("[[-run=^(TestX|TestZ)$ ./waits] [-run=^(TestY)$ ./waits] [-p=%d m]]", beside())
	if err != nil || fmt.Sprint(jobs) != want {
		t.Errorf("runs %v, %v, want %s", jobs, err, want)
	}
	var shown strings.Builder
	status, err := o.run(t.Context(), &shown)
	for _, want := range []string{"4 passed, 1 failed, 0 skipped", "failed: m/waits TestZ", "0 passed, 1 failed,"} {
		if err != nil || status != 1 || !strings.Contains(shown.String(), want) {
			t.Errorf("status %d, %v, want %q, shown:\n%s", status, err, want, shown.String())
		}
	}
	passed, err := os.ReadFile("passed")
	if got := slices.Sorted(strings.Lines(string(passed))); err != nil || len(got) != 4 || got[3] != "m/waits TestY\n" {
		t.Errorf("noted %q, %v", got, err)
	}
}

// fails is a file of tests, of which one may fail.
func fails(name, body string) string {
	return "package " + name + "\n\nimport (\"os\"; \"testing\")\n\nfunc TestX(t *testing.T) { " + body +
		" }\nfunc TestY(t *testing.T) {}\n"
}
