// Command run runs go test and ends with what was skipped and why, what failed, in its own words, and the counts:
//
//	go run ./test/run [-again] [-passed FILE] [-halves PACKAGE] [-slowest N] [--] [NAME=VALUE …] [FLAG …] PACKAGES
//
// NAME=VALUE is for the environment of go test: GOARCH is not that of this program. The FLAGs are those of go test, and
// where no NAME=VALUE stands before them there is the --. The packages begin with a dot.
// Of packages that pass it shows go test's own line, of those that fail what they complained of. With -again the tests
// that failed run a second time, alone. FILE gets a line for each test that passed at the first run with nothing
// skipped, for test/vm -passed. The exit status is go test's, of the last run. At SIGTERM, which timeout sends, it ends
// go test and tells what came until then and which tests still ran. The tests of the PACKAGE of -halves run in two
// processes beside the other packages: they wait more than they compute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
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
	slowest     int    // how many of the slowest tests are named
	environment []string
	flags       []string
	packages    []string
}

func main() {
	limit, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	status := 2
	o, err := parse(os.Args[1:])
	if err == nil {
		status, err = o.run(limit, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	os.Exit(status)
}

func parse(args []string) (order, error) {
	var o order
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	flags.BoolVar(&o.again, "again", false, "run the tests that failed a second time, alone")
	flags.StringVar(&o.passed, "passed", "", "a file for the tests that passed at the first run with nothing skipped")
	flags.StringVar(&o.halves, "halves", "", "a package whose tests run in two processes beside the others")
	flags.IntVar(&o.slowest, "slowest", 0, "list as many of the tests that took longest")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	args = flags.Args()
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
	return o, nil
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
	if o.slowest > 0 {
		first.tally.PrintSlowest(to, o.slowest)
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
