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
	"slices"
)

// recipes are the commands that build the programs; the output follows -o,
// the source comes last. Static ones run in guests without libraries.
var recipes = map[string]struct {
	source  string
	command []string
}{
	"calls":      {"calls.c", []string{"gcc", "-O2", "-static"}},
	"thrower":    {"thrower.cc", []string{"g++", "-O2", "-static"}},
	"static":     {"static.c", []string{"gcc", "-O2", "-static"}},
	"goroutines": {"goroutines.go", []string{"go", "build", "-trimpath"}},
}

// Names are those of all programs.
func Names() []string { return slices.Sorted(maps.Keys(recipes)) }

// ErrNoCompiler says that a program that builds others is missing.
var ErrNoCompiler = errors.New("no compiler")

// Build builds a program into dir. testdata is this package's, as the caller
// sees it; flags come in addition.
func Build(testdata, dir, name string, flags ...string) (string, error) {
	recipe, ok := recipes[name]
	if !ok {
		return "", fmt.Errorf("no program %q", name)
	}
	if _, err := exec.LookPath(recipe.command[0]); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	out := filepath.Join(dir, name)
	words := append(slices.Clone(recipe.command), flags...)
	cmd := exec.Command(words[0], append(words[1:], "-o", out, filepath.Join(testdata, recipe.source))...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w: %s", cmd.Args, err, text)
	}
	return out, nil
}
