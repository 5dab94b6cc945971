package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Programs of the host, as shells, that go into guests.

// hosted are programs of the host that tests trace: a shell that reads lines by a function of its own, and one that
// looks up names by a function of the C library.
var hosted = []string{"bash", "getent"}

// hostedPrograms carries in those of the programs that the host has, with the libraries that they need. The tests say
// what is missing.
func hostedPrograms() ([]carry, error) {
	var found []carry
	for _, name := range hosted {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		libraries, err := librariesOf(path)
		if err != nil {
			return nil, err
		}
		found = append(append(found, carry{path, filepath.Join("/bin", name)}), libraries...)
	}
	slices.SortFunc(found, func(a, b carry) int { return strings.Compare(a.to, b.to) })
	return slices.Compact(found), nil
}

// libraryLine is a line of ldd: "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", or the loader's path alone.
var libraryLine = regexp.MustCompile(`(?m)^\s+(?:\S+ => )?(/\S+) \(0x`)

// librariesOf are a program's libraries and its loader, which stay where they are.
func librariesOf(path string) ([]carry, error) {
	text, err := output("ldd", path)
	if err != nil {
		return nil, fmt.Errorf("libraries of %s: %w", path, err)
	}
	var found []carry
	for _, m := range libraryLine.FindAllStringSubmatch(text, -1) {
		found = append(found, carry{m[1], m[1]})
	}
	return found, nil
}
