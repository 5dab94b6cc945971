package main

import (
	"slices"
	"strings"
	"testing"
)

const events = `{"ImportPath":"m/c","Action":"build-output","Output":"c.go:1:1: expected 'package'\n"}
{"Action":"start","Package":"m/a"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"=== RUN   TestX\n"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"    x_test.go:3: needs "}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"root\n"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"    y_test.go:9: wrong\n"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"--- FAIL: TestY (0.00s)\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.004s\n"}
{"Action":"pass","Package":"m/a"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
`

func TestFollow(t *testing.T) {
	var shown strings.Builder
	total, err := follow(strings.NewReader(events), &shown)
	if err != nil {
		t.Fatal(err)
	}
	total.PrintSkips(&shown)
	const want = `c.go:1:1: expected 'package'
ok  	m/a	0.004s
    y_test.go:9: wrong
--- FAIL: TestY (0.00s)
FAIL	m/b	0.1s
skipped 1: needs root (m/a TestX)
`
	if shown.String() != want {
		t.Errorf("shown:\n%s\nwant:\n%s", shown.String(), want)
	}
	if got, want := total.String(), "0 passed, 1 failed, 1 skipped"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvironment(t *testing.T) {
	for text, want := range map[string]int{"": 0, "GOARCH=arm64": 1, "./a": 0, "GOARCH=arm64 CGO_ENABLED=0 -run=X Y=1 ./a": 2} {
		args := strings.Fields(text)
		env, rest := environment(args)
		if len(env) != want || !slices.Equal(slices.Concat(env, rest), args) {
			t.Errorf("%q: got %q and %q", text, env, rest)
		}
	}
}
