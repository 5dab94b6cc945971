package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewer(t *testing.T) {
	releases := []string{"6.12.96+deb13", "6.12.117+deb13", "6.12.115+deb13.1", "6.12.117+deb12", "6.12.115+deb13"}
	slices.SortFunc(releases, func(a, b string) int {
		if newer(a, b) {
			return -1
		}
		return 1
	})
	want := []string{"6.12.117+deb13", "6.12.117+deb12", "6.12.115+deb13.1", "6.12.115+deb13", "6.12.96+deb13"}
	if diff := cmp.Diff(want, releases); diff != "" {
		t.Error(diff)
	}
	if !newer("6.1.0-56", "6.1.0-0.deb11.52") {
		t.Error("6.1.0-56 is newer than 6.1.0-0.deb11.52")
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("all")
	if err != nil || len(all) != 5 || slices.ContainsFunc(all, func(k kernel) bool { return k.arch.name != "amd64" }) {
		t.Errorf("all: got %v, %v", all, err)
	}
	if of, err := archOf(all); err != nil || of.name != "amd64" {
		t.Errorf("all: got %v, %v", of, err)
	}
	mixed, err := choose("6.12,6.12-arm64")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archOf(mixed); err == nil || !strings.Contains(err.Error(),
		"kernels 6.12 and 6.12-arm64 are of two architectures") {
		t.Errorf("two architectures: got error %v", err)
	}
	some, err := choose("7.2,5.10")
	if err != nil || len(some) != 2 || some[0].version != "7.2" || some[1].version != "5.10" {
		t.Errorf("got %v, %v", some, err)
	}
	if _, err := choose("5.9"); err == nil || !strings.Contains(err.Error(), `no kernel "5.9"`) {
		t.Errorf("got error %v", err)
	}
}

// The archive is read back by another cpio, busybox's, which guests need anyway.
func TestArchive(t *testing.T) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skipf("needs the program busybox: %v", err)
	}
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "odd"), []byte("12345"), 0o750); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	a := newArchive(&b)
	a.tree("a/b", source)
	a.link("a/link", "b/odd")
	a.file("init", modeExec, []byte("#!/bin/sh\n"))
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	into := t.TempDir()
	cmd := exec.Command(busybox, "cpio", "-idm")
	cmd.Dir, cmd.Stdin = into, &b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(into, "a/link"))
	if err != nil || string(text) != "12345" {
		t.Errorf("got %q, %v", text, err)
	}
	info, err := os.Stat(filepath.Join(into, "a/b/odd"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestArchiveKeepsFirstError(t *testing.T) {
	a := newArchive(&bytes.Buffer{})
	a.tree("x", filepath.Join(t.TempDir(), "missing"))
	a.file("y", modeFile, nil)
	if err := a.close(); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

// Output and markers on the serial line; the second job dies with the guest.
func TestTranscript(t *testing.T) {
	const serial = marker + "ready\r\n" + marker + "begin 0\n" +
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\nno newline" + marker + "end 0 0\n" +
		marker + "begin 1\n=== RUN   TestB\n    b_test.go:1: needs x\n--- SKIP: TestB (0.0s)\nhalf"
	var shown bytes.Buffer
	jobs := []job{{name: "a", tests: true}, {name: "b", tests: true}}
	ready := false
	v := &voice{printer: &printer{to: &shown, prefix: true}, kernel: fetched{kernel: kernel{version: "6.1"}}}
	used := time.Duration(0)
	cpu := func() time.Duration { used += time.Second; return used }
	tr := transcript{jobs: jobs, voice: v, ready: func() { ready = true }, cpu: cpu}
	tr.follow(strings.NewReader(serial))
	if !ready || tr.done || len(tr.results) != 2 {
		t.Fatalf("ready %v, done %v, %d results", ready, tr.done, len(tr.results))
	}
	if a := tr.results[0]; !a.ok() || a.tally.Passed != 1 || a.cpu != time.Second || a.current != "TestA" {
		t.Errorf("first job: %+v", a)
	}
	if b := tr.results[1]; b.ok() || b.status != -1 || len(b.tally.Skips) != 1 || b.tally.Skips[0].Reason != "needs x" {
		t.Errorf("second job: %+v", b)
	}
	if want := "[6.1] no newline\n"; !strings.Contains(shown.String(), want) ||
		!strings.HasSuffix(shown.String(), "[6.1] half\n") {
		t.Errorf("shown:\n%s", shown.String())
	}
}

func TestAgain(t *testing.T) {
	tests := []struct {
		name string
		o    outcome
		want bool
	}{
		{"ended", outcome{booted: 1, done: true}, false},
		{"no boot", outcome{}, true},
		{"died", outcome{booted: 1, console: []byte("Kernel panic")}, false},
	}
	for _, tt := range tests {
		if got := tt.o.again(); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestCarriedWords(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"x.test", "../outside"} {
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	absolute, err := filepath.Abs("x.test")
	if err != nil {
		t.Fatal(err)
	}
	got := carriedWords([]string{"./x.test", "-test.v", absolute, "/bin/sh", "../outside", "no-such-file"})
	want := []carry{{"./x.test", "/vm/x.test"}, {absolute, absolute}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(carry{})); diff != "" {
		t.Error(diff)
	}
}

func TestQuote(t *testing.T) {
	const odd = `it's "$HOME" \ *`
	out, err := exec.Command("sh", "-c", "printf %s "+quote(odd)).Output()
	if err != nil || string(out) != odd {
		t.Errorf("got %q, %v", out, err)
	}
}

// A program comes with its libraries and its loader.
func TestHostedPrograms(t *testing.T) {
	for _, program := range []string{"bash", "ldd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs the program %s: %v", program, err)
		}
	}
	found, err := hostedPrograms()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range found {
		names = append(names, c.to)
	}
	text := strings.Join(names, "\n")
	for _, want := range []string{`^/bin/bash\n`, `/libc\.so\.\d+\n`, `/ld-linux\S*\.so\.\d+\n`} {
		if !regexp.MustCompile(want).MatchString(text + "\n") {
			t.Errorf("nothing like %s in\n%s", want, text)
		}
	}
}
