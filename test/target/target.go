// Package target builds the programs whose functions and static probes tests
// trace. Their sources lie in testdata; what they call, how often, with what
// and with which results is known.
package target

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/locate"
)

// The programs that tests trace, with the command that builds each (`recipes`).

// A recipe is the command that builds a program; the output follows -o, the source comes last.
type recipe struct {
	source  string
	command []string
}

var recipes = map[string]recipe{
	"calls":             {source: "calls.c", command: []string{"gcc", "-O2", "-static"}},
	"accounts":          {source: "accounts.c", command: []string{"gcc", "-O1", "-static", "-pthread"}},
	"coroutines":        {source: "coroutines.c", command: []string{"gcc", "-O2", "-static"}},
	"coroutines-shared": {source: "coroutines.c", command: []string{"gcc", "-O2"}},
	"results":           {source: "results.c", command: []string{"gcc", "-O1", "-static", "-pthread"}},
	"thrower":           {source: "thrower.cc", command: []string{"g++", "-O2", "-static"}},
	"heap":              {source: "heap.c", command: []string{"gcc", "-O1", "-static", "-fno-omit-frame-pointer"}},
	"hosts":             {source: "hosts.c", command: []string{"gcc", "-O1"}},
	"onecpu":            {source: "onecpu.c", command: []string{"gcc", "-g", "-O1", "-static"}},
	"leaves":            {source: "leaves.c", command: []string{"gcc", "-O1", "-static"}},
	"points": {source: "points.c", command: []string{"gcc", "-w", "-g", "-O1",
		"-fno-omit-frame-pointer", "-static"}},
	"sides":            {source: "sides.c", command: []string{"gcc", "-O1", "-static"}},
	"shop":             {source: "shop.c", command: []string{"gcc", "-w", "-g", "-O1", "-static"}},
	"static":           {source: "static.c", command: []string{"gcc", "-O2", "-static"}},
	"factorial":        {source: "factorial.c", command: []string{"gcc", "-O1", "-fno-omit-frame-pointer", "-static"}},
	"factorial-pushed": {source: "factorial.c", command: []string{"gcc", "-O0", "-static"}},

	"goroutines": {source: "goroutines.go", command: []string{"go", "build", "-trimpath"}},

	"bare": {source: "bare.c", command: []string{"gcc", "-O1", "-static"}},
	// registers has a function whose frame begins at a register of its own.
	"registers": {source: "registers.c", command: []string{"gcc", "-O1", "-static", "-fomit-frame-pointer"}},
	// turns has functions whose first instruction is the head of a loop, where the compiler puts nothing before it.
	"turns": {source: "turns.c", command: []string{"gcc", "-w", "-g", "-O2", "-static"}},
	"walks": {source: "walks.c", command: []string{"gcc", "-O2", "-fomit-frame-pointer",
		"-fno-optimize-sibling-calls", "-static"}},
	"walks-shared": {source: "walks.c", command: []string{"gcc", "-O2", "-fomit-frame-pointer",
		"-fno-optimize-sibling-calls"}},

	"chain":            chain("-fno-omit-frame-pointer", "-static"),
	"chain-pie":        chain("-fno-omit-frame-pointer", "-static-pie"),
	"chain-protected":  chain("-fno-omit-frame-pointer", "-static", protected),
	"chain-frameless":  chain("-fomit-frame-pointer", "-static"),
	"chain-shared":     chain("-fno-omit-frame-pointer", "-fno-pie", "-no-pie"),
	"chain-shared-pie": chain("-fno-omit-frame-pointer", "-pie"),
}

// chain builds the program whose stacks are known.
func chain(flags ...string) recipe {
	return recipe{source: "chain.c", command: append([]string{"gcc", "-O1", "-fno-inline",
		"-fno-optimize-sibling-calls"}, flags...)}
}

// protected stands for the flag of protection.
const protected = "-fprotected"

// protection makes functions begin with a mark of where indirect calls may go.
var protection = map[string]string{"amd64": "-fcf-protection=full", "arm64": "-mbranch-protection=standard"}

// Names are those of all programs.
func Names() []string { return slices.Sorted(maps.Keys(recipes)) }

// Compiler is the command that builds a program.
func Compiler(name string) string { return recipes[name].command[0] }

// ErrNoCompiler says that a program that builds others is missing.
var ErrNoCompiler = errors.New("no compiler")

// Compilers build programs for an architecture, Arch, by its name of Go's. The names of C compilers that build for
// another one begin with Prefix: aarch64-linux-gnu-.
type Compilers struct{ Arch, Prefix string }

// Build builds a program for this machine.
func Build(testdata, dir, name string, flags ...string) (string, error) {
	return Compilers{Arch: runtime.GOARCH}.Build(testdata, dir, name, flags...)
}

// Build builds a program into dir. testdata is this package's, as the caller
// sees it; flags come in addition.
func (c Compilers) Build(testdata, dir, name string, flags ...string) (string, error) {
	recipe, ok := recipes[name]
	if !ok {
		return "", fmt.Errorf("no program %q", name)
	}
	words := append(c.words(recipe), flags...)
	if _, err := exec.LookPath(words[0]); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	out := filepath.Join(dir, name)
	cmd := exec.Command(words[0], append(words[1:], "-o", out, filepath.Join(testdata, recipe.source))...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+c.Arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w: %s", cmd.Args, err, text)
	}
	return out, nil
}

// words are the command of a recipe.
func (c Compilers) words(of recipe) []string {
	words := slices.Clone(of.command)
	if words[0] != "go" {
		words[0] = c.Prefix + words[0]
	}
	for i, word := range words {
		if word == protected {
			words[i] = protection[c.Arch]
		}
	}
	return words
}

// Needs gives the dynamic linker and the libraries of a program, so that they can
// be carried to where there are none; none of a static one.
func Needs(path string) (files []string, err error) {
	f, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Interp == "" {
		return nil, nil
	}
	names, err := f.Libraries()
	if err != nil {
		return nil, err
	}
	var finder locate.Finder
	for _, name := range append([]string{f.Interp}, names...) {
		at, err := finder.Find(name)
		if err != nil {
			return nil, fmt.Errorf("what %s needs: %w", path, err)
		}
		files = append(files, at.Name)
	}
	return files, nil
}
