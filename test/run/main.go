// Command run runs go test and ends with what was skipped and why, what failed, in its own words, and the counts:
//
//	go run ./test/run [-again] [-passed FILE] [-halves PACKAGE] [-slowest N] [NAME=VALUE …] [FLAG …] PACKAGES
//
// NAME=VALUE is for the environment of go test: GOARCH is not that of this program. The FLAGs are those of go test. The
// packages begin with a dot.
// Of packages that pass it shows go test's own line, of those that fail what they complained of. With -again the tests
// that failed run a second time, alone. FILE gets a line for each test that passed at the first run with nothing
// skipped, for test/vm -passed. The exit status is go test's, of the last run. At SIGTERM, which timeout sends, it ends
// go test and tells what came until then and which tests still ran. The tests of the PACKAGE of -halves run in two
// processes beside the other packages: they wait more than they compute.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The command run, which runs go test and counts skips.

// order is the command line.
type order struct {
	again       bool
	passed      string // a file, "" for none
	halves      string // a package, "" for none
	slowest     string // how many of the slowest tests are named, "" for none
	environment []string
	flags       []string
	packages    []string
}

func main() {
	limit, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	status, err := parse(os.Args[1:]).run(limit, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	os.Exit(status)
}

func parse(args []string) order {
	var o order
	if len(args) > 0 && args[0] == "-again" {
		o.again, args = true, args[1:]
	}
	for _, flag := range []struct {
		name string
		text *string
	}{{"-passed", &o.passed}, {"-halves", &o.halves}, {"-slowest", &o.slowest}} {
		if len(args) > 1 && args[0] == flag.name {
			*flag.text, args = args[1], args[2:]
		}
	}
	n := 0
	for n < len(args) && assignment.MatchString(args[n]) {
		n++
	}
	o.environment, args = args[:n], args[n:]
	n = len(args)
	for n > 0 && strings.HasPrefix(args[n-1], ".") {
		n--
	}
	o.flags, o.packages = args[:n], args[n:]
	return o
}

var assignment = regexp.MustCompile(`^[A-Z]\w*=`)

// run returns the exit status. It ends early when the limit is done.
func (o order) run(limit context.Context, to io.Writer) (int, error) {
	jobs, err := o.jobs(limit)
	if err != nil {
		return 2, err
	}
	first, err := o.testAll(limit, to, jobs)
	if err != nil {
		return 2, err
	}
	first.report(to)
	if err := o.nameSlowest(to, first); err != nil {
		return 2, err
	}
	if err := o.notePassed(first); err != nil {
		return 2, err
	}
	if !o.again || len(first.failed) == 0 || limit.Err() != nil {
		return first.status, nil
	}
	fmt.Fprintln(to, "=== what failed, a second time")
	var second outcome
	for _, f := range first.failed {
		once, err := o.test(limit, to, f.again()...)
		if err != nil {
			return 2, err
		}
		second.add(once)
	}
	second.report(to)
	return second.status, nil
}

// nameSlowest lists the tests that took longest.
func (o order) nameSlowest(to io.Writer, first outcome) error {
	if o.slowest == "" {
		return nil
	}
	n, err := strconv.Atoi(o.slowest)
	if err != nil {
		return fmt.Errorf("-slowest: %w", err)
	}
	first.tally.PrintSlowest(to, n)
	return nil
}

// notePassed writes what passed with nothing skipped.
func (o order) notePassed(first outcome) error {
	if o.passed == "" {
		return nil
	}
	lines := strings.Join(first.tally.Whole(), "\n") + "\n"
	return os.WriteFile(o.passed, []byte(lines), 0o644)
}

// test runs go test with these arguments after the flags.
func (o order) test(limit context.Context, to io.Writer, args ...string) (outcome, error) {
	cmd := exec.CommandContext(limit, "go", slices.Concat([]string{"test", "-json"}, o.flags, args)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Tests end at SIGINT, and go test, which starts no others then, tells what they said.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(os.Environ(), o.environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	all, err := follow(out, to)
	if err != nil {
		return all, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || limit.Err() != nil {
		all.status = 1
		return all, nil
	}
	return all, err
}
