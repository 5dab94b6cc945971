package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/test/verdict"
)

// A package whose tests mostly wait, run in two halves beside the other packages.

// A job is a run of go test: its flags and packages, which come after the flags of all.
type job []string

// jobs are the runs of go test that make the first one: one with all packages, or, with -halves PACKAGE, two for the
// tests of that package, of which each takes every other test, and one for the packages that remain.
func (o order) jobs(limit context.Context) ([]job, error) {
	if o.halves == "" {
		return []job{o.packages}, nil
	}
	tests, err := o.list(limit, "test", "-list=^(Test|Example)", o.halves)
	if err != nil {
		return nil, err
	}
	whole, err := o.list(limit, "list", o.halves)
	if err != nil {
		return nil, err
	}
	packages, err := o.list(limit, append([]string{"list"}, o.packages...)...)
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(packages, func(name string) bool { return slices.Contains(whole, name) })
	jobs := inHalves(o.halves, tests)
	if len(rest) > 0 {
		jobs = append(jobs, append(job{fmt.Sprintf("-p=%d", beside())}, rest...))
	}
	return jobs, nil
}

// beside is how many packages run at a time beside the halves.
func beside() int { return max(1, runtime.NumCPU()/2) }

// inHalves are the runs of the tests of a package, whose list ends with go test's own line.
func inHalves(name string, tests []string) []job {
	var halves [2][]string
	for i, test := range slices.DeleteFunc(tests, func(line string) bool { return strings.Contains(line, "\t") }) {
		halves[i%2] = append(halves[i%2], test)
	}
	var jobs []job
	for _, half := range halves {
		if len(half) > 0 {
			jobs = append(jobs, job{"-run=" + verdict.Only(half), name})
		}
	}
	return jobs
}

// list gives the lines that the go command prints.
func (o order) list(limit context.Context, args ...string) ([]string, error) {
	cmd := exec.CommandContext(limit, "go", args...)
	cmd.Env = append(os.Environ(), o.environment...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// testAll runs the jobs at a time and merges what comes of them.
func (o order) testAll(limit context.Context, to io.Writer, jobs []job) (outcome, error) {
	var (
		all   outcome
		errs  []error
		mu    sync.Mutex // of all three, and of what is written
		group sync.WaitGroup
	)
	for _, j := range jobs {
		group.Go(func() {
			one, err := o.test(limit, lockedWriter{&mu, to}, j...)
			mu.Lock()
			defer mu.Unlock()
			all.add(one)
			errs = append(errs, err)
		})
	}
	group.Wait()
	return all, errors.Join(errs...)
}

// lockedWriter writes one piece at a time.
type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
