package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/startrace/startrace/test/need"
)

var updateDocs = flag.Bool("update-docs", false, "rewrite the output of commands in the documents")

// The documents' code is checked here, so that it stays true. In fences:
//
//	```python NAME   a script; it must compile. NAME, if there is one, is the
//	                 file of that name for the commands that follow
//	```console       commands behind "$ ", each with its output
//	```console once  the same for output that no two runs share: of that only
//	                 the first line is compared, numbers apart
//
// Outside of fences, lines that begin with ./bin/startrace and the commands in
// tables are such as a reader would type: what they would run must compile.
//
// > A probe can have both halves:
// >
// > All of this runs in the kernel:
func TestDocs(t *testing.T) {
	if !canTrace() {
		t.Skip(needsTypes)
	}
	need.Long(t)
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../../README.md"); err == nil {
		tools, err := filepath.Glob("../../docs/tools/*.md") // a guest has only docs, and few programs to trace
		if err != nil {
			t.Fatal(err)
		}
		files = append(append(files, "../../README.md"), tools...)
	}
	if len(files) == 0 {
		t.Skip("needs docs/ of the source tree, as make test has it")
	}
	checked := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { checked += newDocument(t, file).check() })
	}
	if checked < 8 {
		t.Errorf("only %d pieces of code were found", checked)
	}
}

// A document is a file whose code is checked in a folder of its own.
type document struct {
	t      *testing.T
	file   string
	lines  []string
	out    []string // the lines as they should be
	folder string
	path   string // PATH with startrace
	shows  bool   // it is a test: commands may fail, what they say on standard error counts, scripts are for them alone
}

func newDocument(t *testing.T, file string) *document {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{t: t, file: file, lines: strings.Split(string(text), "\n"), folder: t.TempDir()}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	d.path = binFolder(t)
	bin, _, _ := strings.Cut(d.path, ":")
	for name, folder := range map[string]string{"examples": examples, "bin": bin} { // as in the source tree
		if err := os.Symlink(folder, filepath.Join(d.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// binFolder is PATH with this test in front, as startrace.
func binFolder(t *testing.T) string {
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "startrace")); err != nil {
		t.Fatal(err)
	}
	return bin + ":" + os.Getenv("PATH")
}

// check gives the number of pieces of code.
func (d *document) check() (n int) {
	for i := 0; i < len(d.lines); i++ {
		fence, ok := strings.CutPrefix(d.lines[i], "```")
		if !ok {
			n += d.typed(i) + d.cells(i)
			d.out = append(d.out, d.lines[i])
			continue
		}
		end := i + 1
		for end < len(d.lines) && d.lines[end] != "```" {
			end++
		}
		if end == len(d.lines) {
			d.t.Fatalf("%s:%d: the fence is not closed", d.file, i+1)
		}
		d.out = append(d.out, d.lines[i])
		d.block(fence, i, d.lines[i+1:end])
		d.out = append(d.out, d.lines[end])
		i = end
		n++
	}
	if *updateDocs {
		if err := os.WriteFile(d.file, []byte(strings.Join(d.out, "\n")), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	return n
}

func (d *document) block(fence string, at int, lines []string) {
	kind, name, _ := strings.Cut(fence, " ")
	switch kind {
	case "python":
		d.script(name, at, lines)
		d.out = append(d.out, lines...)
	case "console":
		d.console(at, lines, name == "once")
	case "prompt": // TestTutorialPrompt types it
		d.out = append(d.out, lines...)
	default:
		d.t.Errorf("%s:%d: a fence is python or console, got %q", d.file, at+1, kind)
		d.out = append(d.out, lines...)
	}
}

// script compiles a script.
func (d *document) script(name string, at int, lines []string) {
	if name == "" {
		name = fmt.Sprintf("line%d.star", at+2)
	}
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(d.folder, name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if d.shows {
		return
	}
	if out, err := d.shell("startrace explain " + name); err != nil && !d.lacking(at, out) {
		d.t.Errorf("%s:%d: the script does not compile: %v\n%s", d.file, at+2, err, out)
	}
}

// missing is what a machine may lack, in startrace's words.
var missing = regexp.MustCompile("built without CONFIG_KPROBES|no such program or library|has no trampolines|" +
	"bpf is not among the security modules")

// lacking reports whether a command failed because of what this machine lacks.
func (d *document) lacking(at int, out string) bool {
	lack := missing.FindString(out)
	if lack != "" {
		d.t.Logf("%s:%d: not checked here: %s", d.file, at+2, lack)
	}
	return lack != ""
}

// console runs the commands and compares what they print.
func (d *document) console(at int, lines []string, once bool) {
	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			d.t.Fatalf("%s:%d: want a command behind \"$ \", got %q", d.file, at+2+i, lines[i])
		}
		first := i + 1
		for i = first; i < len(lines) && !strings.HasPrefix(lines[i], "$ "); i++ {
		}
		d.out = append(d.out, "$ "+command)
		d.out = append(d.out, d.printed(command, at+first, lines[first:i], once)...)
	}
}

// printed runs a command and gives the lines that should stand below it.
func (d *document) printed(command string, at int, want []string, once bool) []string {
	out, err := d.shell(command)
	if err != nil {
		if !d.lacking(at, out) {
			d.t.Errorf("%s:%d: %s: %v\n%s", d.file, at+1, command, err, out)
		}
		return want
	}
	got := strings.Split(strings.TrimRight(out, "\n"), "\n")
	diff := cmp.Diff(want, got)
	if once && len(want) > 0 {
		if diff = cmp.Diff(shape(want[0]), shape(got[0])); diff == "" {
			got = want
		}
	}
	if diff != "" && !*updateDocs {
		d.t.Errorf("%s:%d: %s prints something else (-document +command); run with -update-docs if that is right:\n%s",
			d.file, at+1, command, diff)
	}
	return got
}

var (
	numbers = regexp.MustCompile(`[-.:0-9]+`)
	keys    = regexp.MustCompile(`^(\w+)\[.*\]`)
)

// shape is a line without what differs from run to run: numbers, and which key of a table comes first.
func shape(line string) string {
	return strings.Join(strings.Fields(numbers.ReplaceAllString(keys.ReplaceAllString(line, "$1[]"), "0")), " ")
}

// asIs are the commands that may simply run.
var asIs = regexp.MustCompile(`^startrace (audit|explain|verify|tools|doc|list|doctor|help|completion)\b|--help`)

// typed checks a command that stands in the text.
func (d *document) typed(i int) int {
	command, ok := strings.CutPrefix(d.lines[i], "    ./bin/")
	if !ok {
		return 0
	}
	command, _, _ = strings.Cut(command, "    ") // a remark
	d.compiles(i, command)
	return 1
}

// compiles checks what a command would run.
func (d *document) compiles(i int, command string) {
	if !asIs.MatchString(command) {
		command = strings.Replace(command, "startrace", "startrace explain", 1)
	}
	if out, err := d.shell(command); err != nil && !d.lacking(i, out) {
		d.t.Errorf("%s:%d: %s: %v\n%s", d.file, i+1, command, err, out)
	}
}

var (
	cell = regexp.MustCompile("`(startrace [^ `]+ [^`]+)`")
	// stands is a word in place of one of the reader's: FILE, but not CMD.
	stands = regexp.MustCompile(`\b(FILE|CODE|NAME|PID|PROGRAM|POINT|PATTERN|EXPR|VERB|TOOL)\b|…`)
)

// cells checks the commands in the row of a table.
func (d *document) cells(i int) (n int) {
	if !strings.HasPrefix(d.lines[i], "|") {
		return 0
	}
	for _, m := range cell.FindAllStringSubmatch(d.lines[i], -1) {
		if !stands.MatchString(m[1]) {
			d.compiles(i, m[1])
			n++
		}
	}
	return n
}

// shell runs a command and gives what it prints, messages too if it fails.
func (d *document) shell(command string) (string, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = d.folder
	cmd.Env = append(os.Environ(), "PATH="+d.path, "LC_ALL=C.UTF-8")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case d.shows && errors.As(err, &exit):
		fmt.Fprintf(&messages, "exits with %d\n", exit.ExitCode())
		err = nil
		fallthrough
	case d.shows, err != nil:
		out.Write(messages.Bytes())
	}
	return out.String(), err
}
