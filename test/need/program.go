package need

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Skips of tests that need another program or a compiler, and programs built for tests.

// packages are the packages of Debian that have programs under another name.
var packages = map[string]string{
	"aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "getent": "libc-bin", "go": "golang-go", "objcopy": "binutils",
	"qemu-aarch64-static": "qemu-user-static", "sshd": "openssh-server", "ssh": "openssh-client",
	"unshare": "util-linux",
	"sleep":   "coreutils", "llvm-dwp": "llvm", "dwp": "binutils",
}

// Program skips a test without a program, and gives its path.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Skipf("needs the program %s (Debian's package %s): %v", name, cmp.Or(packages[name], name), err)
	}
	return path
}

// Sources skips a test of startrace's own sources where they are not: guests have the tests, and few files beside
// them. root is the top folder as the test sees it.
func Sources(tb testing.TB, root string) {
	tb.Helper()
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		tb.Skipf("needs the sources of startrace, which a guest has not (make test runs it): %v", err)
	}
}

// Long skips a test in the short form.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs the long form (no -short): make test runs it here, make test-vm in guests")
	}
}

// Built is the program that a compiler makes of a source: command is "gcc -g", and file, the name of the source, is
// without its ending that of the program.
func Built(tb testing.TB, command, file, source string) (path string) {
	tb.Helper()
	words := strings.Fields(command)
	compiler := Program(tb, words[0])
	dir := tb.TempDir()
	in, path := filepath.Join(dir, file), filepath.Join(dir, strings.TrimSuffix(file, filepath.Ext(file)))
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		tb.Fatal(err)
	}
	if out, err := exec.Command(compiler, append(words[1:], "-o", path, in)...).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", command, err, out)
	}
	return path
}

// BuiltOf is the program that a compiler makes of several sources, by their names. Of Go they have their go.mod, and
// their packages folders.
func BuiltOf(tb testing.TB, command string, sources map[string]string) (path string) {
	tb.Helper()
	words := strings.Fields(command)
	compiler := Program(tb, words[0])
	dir := tb.TempDir()
	path = filepath.Join(dir, "program")
	words = append(words[1:], "-o", path)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		in := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(in), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(in, []byte(sources[name]), 0o600); err != nil {
			tb.Fatal(err)
		}
		if ending := filepath.Ext(name); strings.HasPrefix(ending, ".c") {
			words = append(words, name)
		}
	}
	build := exec.Command(compiler, words...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", command, err, out)
	}
	return path
}
