package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/startrace/startrace/test/target"
)

// The tests that run in guests, built with the programs that they need.

// What makes a package one to test on every kernel: its tests, or what they are tests of, come to load programs or
// make maps. The others are the same on every kernel.
var touchesKernel = []string{"github.com/cilium/ebpf", modulePath + "/internal/bpf", modulePath + "/internal/kernel"}

// drivesCommand is a package whose tests touch the kernel through bin/startrace.
const drivesCommand = "test/accept"

// callsProgram is a package whose tests trace one of the programs only.
const callsProgram, calledProgram = "test/diff", "points"

const modulePath = "github.com/startrace/startrace"

// programs are built beside the tests, as the Makefile does, for tests that run them.
var programs = map[string]string{"bin/startrace": "./cmd/startrace", "bin/workload": "./test/workload",
	"bin/confine": "./test/confine"}

// blockModule makes block devices of files, for tests that trace block I/O.
const blockModule = "loop"

// functionModule has functions that are called when files are opened, for tests that trace modules.
const functionModule = "overlay"

// schedulerModule gives block devices a queue of the system; some kernels have it built in.
const schedulerModule = "mq-deadline?"

// tracepointModule has tracepoints, for tests that load it while they trace.
const tracepointModule = "nbd"

// shared are the folders that tests may read besides their own testdata.
var shared = []string{"examples", "stdlib", "docs", "bpfgen/infer/testdata"}

// buildSuite builds the kernel tests among the packages that match the patterns into dir and returns what is to go
// into a guest: a job for each package, at the place of its folder, so that relative names in the tests hold.
func buildSuite(dir string, of arch, patterns []string, flags []string) (load, error) {
	var l load
	packages, err := kernelPackages(patterns)
	if err != nil {
		return l, err
	}
	for _, p := range packages {
		binary := suiteBinary(dir, p)
		if err := of.build("test", "-c", "-ldflags=-w", "-o", binary, "./"+p); err != nil {
			return l, fmt.Errorf("build the tests of %s: %w", p, err)
		}
		name := filepath.Base(binary)
		l.files = append(l.files, carry{binary, inGuest(filepath.Join(p, name))})
		l.files = append(l.files, existing(filepath.Join(p, "testdata"))...)
		l.jobs = append(l.jobs, job{name: p, dir: p, args: append([]string{"./" + name}, flags...), tests: true})
	}
	switch {
	case slices.Contains(packages, drivesCommand):
		if err := l.addPrograms(dir, of); err != nil {
			return l, err
		}
		if err := l.addTargets(dir, of, target.Names()); err != nil {
			return l, err
		}
		l.modules = append(l.modules, blockModule, functionModule, tracepointModule, schedulerModule)
	case slices.Contains(packages, callsProgram):
		if err := l.addTargets(dir, of, []string{calledProgram}); err != nil {
			return l, err
		}
	}
	for _, folder := range shared {
		l.files = append(l.files, existing(folder)...)
	}
	if !of.own() {
		return l, nil // the programs of this machine do not run there
	}
	programs, err := hostedPrograms()
	l.files = append(l.files, programs...)
	return l, err
}

// suiteBinary is the file in dir of the tests of a package.
func suiteBinary(dir, p string) string {
	return filepath.Join(dir, strings.ReplaceAll(p, "/", "_")+".test")
}

// addPrograms builds the commands into dir and carries them in.
func (l *load) addPrograms(dir string, of arch) error {
	for to, from := range programs {
		binary := filepath.Join(dir, filepath.Base(to))
		flags := "-ldflags=-w"
		if filepath.Base(to) == "startrace" { // its own entry, as the Makefile has it
			flags += " -E startrace_entry"
		}
		if err := of.build("build", flags, "-o", binary, from); err != nil {
			return fmt.Errorf("build %s: %w", from, err)
		}
		l.files = append(l.files, carry{binary, inGuest(to)})
	}
	return nil
}

// addTargets does it with programs that tests trace.
func (l *load) addTargets(dir string, of arch, names []string) error {
	for _, name := range names {
		binary, err := of.compilers().Build(targetSources, dir, name)
		switch {
		case errors.Is(err, target.ErrNoCompiler): // the tests that want it say so
		case err != nil:
			return err
		default:
			l.files = append(l.files, carry{binary, inGuest(filepath.Join("bin/target", name))})
			if err := l.addLibraries(binary, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// addLibraries carries in what a program loads, to the places where it looks.
func (l *load) addLibraries(binary string, of arch) error {
	needs, err := of.needs(binary)
	if err != nil {
		return err
	}
	for _, c := range needs {
		if !slices.Contains(l.files, c) {
			l.files = append(l.files, c)
		}
	}
	return nil
}

// targetSources are those of the programs whose functions are traced.
const targetSources = "test/target/testdata"

// existing is a file or folder of the project, to be carried to the same place, if there is one.
func existing(name string) []carry {
	if _, err := os.Stat(name); err != nil {
		return nil
	}
	return []carry{{name, inGuest(name)}}
}

// kernelPackages lists the folders of the packages whose tests touch the kernel.
func kernelPackages(patterns []string) ([]string, error) {
	const format = `{{if .ForTest}}{{.ForTest}}{{range .Deps}} {{.}}{{end}}{{end}}`
	out, err := output("go", append([]string{"list", "-test", "-f", format}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out) {
		words := strings.Fields(withoutVariants.ReplaceAllString(line, ""))
		if len(words) == 0 {
			continue
		}
		touches := slices.ContainsFunc(words, func(dep string) bool { return slices.Contains(touchesKernel, dep) })
		folder := strings.TrimPrefix(strings.TrimPrefix(words[0], modulePath), "/")
		touches = touches || folder == drivesCommand
		if touches && folder != "" && !slices.Contains(found, folder) {
			found = append(found, folder)
		}
	}
	slices.Sort(found)
	return found, nil
}

// withoutVariants drops what go list appends to packages that are rebuilt for a test: "p [p.test]".
var withoutVariants = regexp.MustCompile(` \[[^]]*\]`)

// build runs the go command for a static binary.
func (a arch) build(args ...string) error {
	args = append(args[:1:1], append([]string{"-trimpath"}, args[1:]...)...)
	return runEnv([]string{"CGO_ENABLED=0", "GOARCH=" + a.name}, "go", args...)
}
