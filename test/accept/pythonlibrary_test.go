package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A program that begins under the tracer loads the interpreter as a library, so that walks ask the kernel which file is
// mapped there each time. Once it is known where the interpreter has its frames, its stacks are whole: they have the
// functions of Python, and nothing says that frames can be missing.
//
// The program goes on until such a stack has come, and ends after 20,000 turns.
func TestStackOfPythonLibrary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prog.py")
	if err := os.WriteFile(file, []byte(programOfTurns), 0o644); err != nil {
		t.Fatal(err)
	}
	text := script(t, `
def seen(e):
    stack = str(e.ustack())
    if "innermost+" in stack and "_start+" in stack and "…" not in stack:
        print("whole")
        exit()

probe("syscall:getppid", seen)
`)
	for _, command := range pythons(t) {
		e := startrace(t, "-q", text, "-c", command+" "+file).ok(t)
		if strings.TrimSpace(e.stdout) != "whole" {
			t.Errorf("%s: no stack was whole: %q\n%s", command, e.stdout, excerpt(e.stderr))
		}
	}
}

// pythons are commands that run a script of Python: the interpreters, and a program of ours that loads each library of
// Debian with one.
func pythons(t *testing.T) (list []string) {
	t.Helper()
	for path := range interpreters(t) {
		list = append(list, path)
	}
	libraries, err := filepath.Glob("/usr/lib/*/libpython3.1[123].so.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		list = append(list, need.Built(t, "gcc -O2", "embed.c", sourceOfEmbed)+" "+library)
	}
	return list
}

const programOfTurns = `
import os, time
def innermost(): os.getppid()
for n in range(20000):
    innermost()
    time.sleep(0.001)
`

const sourceOfEmbed = `
#include <dlfcn.h>
#include <stdio.h>

/* embed LIBRARY SCRIPT runs a script by the interpreter in a library. */
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	int (*run)(int, char **) = (int (*)(int, char **))dlsym(library, "Py_BytesMain");
	return run(argc - 1, argv + 1);
}
`
