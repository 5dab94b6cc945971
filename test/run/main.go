// Command run runs go test and ends with what was skipped and why, and with the counts:
//
//	go run ./test/run [NAME=VALUE …] [flags of go test] PACKAGES
//
// NAME=VALUE is for the environment of go test: GOARCH is not that of this program.
// Of packages that pass it shows go test's own line, of those that fail what they complained of. The exit status is go
// test's.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/verdict"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string // of build-output
}

// goPackage is a package whose tests run.
type goPackage struct {
	reader verdict.Reader
	said   strings.Builder
	part   string // of a line, whose rest has not come yet
}

func main() {
	status, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	os.Exit(status)
}

// environment splits off what stands before the arguments of go test.
func environment(args []string) (environment, rest []string) {
	n := slices.IndexFunc(args, func(arg string) bool { return !assignment.MatchString(arg) })
	if n < 0 {
		n = len(args)
	}
	return args[:n], args[n:]
}

var assignment = regexp.MustCompile(`^[A-Z]\w*=`)

func run(args []string, to io.Writer) (int, error) {
	environment, args := environment(args)
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 2, err
	}
	if err := cmd.Start(); err != nil {
		return 2, err
	}
	total, err := follow(out, to)
	if err != nil {
		return 2, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	total.PrintSkips(to)
	for _, name := range total.Failures {
		fmt.Fprintf(to, "failed: %s\n", name)
	}
	fmt.Fprintf(to, "%s\n", total)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// follow reads the events, prints a line for each package and returns the counts of all.
func follow(from io.Reader, to io.Writer) (verdict.Tally, error) {
	var total verdict.Tally
	packages := map[string]*goPackage{}
	events := json.NewDecoder(from)
	for {
		var e event
		err := events.Decode(&e)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, fmt.Errorf("read the output of go test: %w", err)
		}
		if e.Action == "build-output" {
			fmt.Fprint(to, e.Output)
			continue
		}
		p := packages[e.Package]
		if p == nil {
			p = &goPackage{reader: verdict.Reader{Package: e.Package}}
			packages[e.Package] = p
		}
		p.output(e.Output)
		if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			total.Add(p.reader.Tally())
			p.print(to, e.Action)
			delete(packages, e.Package)
		}
	}
}

// output takes a piece of output, which need not be a whole line.
func (p *goPackage) output(piece string) {
	p.part += piece
	for {
		line, rest, whole := strings.Cut(p.part, "\n")
		if !whole {
			return
		}
		p.part = rest
		p.reader.Line(line)
		p.said.WriteString(line + "\n")
	}
}

var summary = regexp.MustCompile(`^ok  \t`)

// print shows the last word on a package, or what it complained of if it failed.
func (p *goPackage) print(to io.Writer, action string) {
	if action == "fail" {
		fmt.Fprint(to, verdict.Complaints(p.said.String()))
		return
	}
	for line := range strings.Lines(p.said.String()) {
		if summary.MatchString(line) {
			fmt.Fprint(to, line)
		}
	}
}
