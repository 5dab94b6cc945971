package accept

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// The files of a program in which several have a variable of one name. Each function gives what it sees itself.
const (
	libraryFirst = "int limit = 1, same = 10;\n" +
		"int first(int k) { limit += k; same += k; return limit * 1000 + same; }\n"
	librarySecond = "int same = 500;\nstatic int own = 3;\n" +
		"__attribute__((visibility(\"hidden\"))) int hidden = 6;\n" +
		"int second(int k) { same += k; own += k; hidden += k; return same * 1000 + own + hidden; }\n"
	otherMain = `extern int limit, apart;
int first(int), second(int);
__attribute__((noinline)) int here(int k) { limit += k; apart++; return limit * 1000 + apart; }
int main(void) { return first(1) + here(100) + second(2) + first(3) + here(200) == 0; }
`
)

// A variable is the one that the code of the function uses, in whichever file the dynamic linker has put it: what the
// function gives is made of it.
//
// > Where another file of the process has the variable that is meant, as the program has a copy of a library's, it is
// > that one.
// > So is one that the source only declares.
func TestGlobalsOfOtherFiles(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"gcc -g -O0", "gcc -g -O2", "gcc -g -O0 -no-pie", "clang -g -O0"} {
		dir := t.TempDir()
		for name, source := range map[string]string{"first": libraryFirst, "second": librarySecond} {
			built := need.Built(t, compiler+" -shared -fPIC -Wl,-soname,lib"+name+".so", name+".c", source)
			if err := os.Rename(built, filepath.Join(dir, "lib"+name+".so")); err != nil {
				t.Fatal(err)
			}
		}
		program := need.BuiltOf(t, compiler+" -L"+dir+" -Wl,-rpath,"+dir+" -Wl,--no-as-needed -lfirst -lsecond",
			map[string]string{"main.c": otherMain, "apart.c": "int apart = 5;\n"})
		e := startrace(t, "-q", script(t, strings.NewReplacer("DIR", dir, "BIN", program).Replace(`
probe("ufunc:DIR/libfirst.so:first", lambda e: print("first", e.ret == e.globals.limit * 1000 + e.globals.same,
                                                     e.globals.limit, e.globals.same, e.start.globals.limit))
probe("ufunc:DIR/libsecond.so:second", lambda e: print(
    "second", e.ret == e.globals.same * 1000 + e.globals.own + e.globals.hidden, e.globals.same))
`)), "-c", program).ok(t)
		want := []string{"first True 2 11 1", "first True 105 16 102", "second True 13"}
		if !t.Run(compiler, func(t *testing.T) { equalLines(t, lines(e.stdout), want) }) {
			t.Log(e.stderr)
		}
		if strings.HasPrefix(compiler, "clang") {
			continue // it does not tell of what a source only declares
		}
		e = startrace(t, "-q", "-e", strings.ReplaceAll(`
probe("ufunc:BIN:here", lambda e: print(e.ret == e.globals.limit * 1000 + e.globals.apart, e.globals.limit))
`, "BIN", program), "-c", program).ok(t)
		equalLines(t, lines(e.stdout), []string{"True 102", "True 305"})
	}
}

// A watchpoint on a variable of a library is on the one that its code writes, which gcc's linker has put into the
// program.
func TestWatchedGlobalOfLibrary(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs hardware watchpoints of amd64 (PERF_TYPE_BREAKPOINT): what those of arm64 count is not known")
	}
	library := need.Built(t, "gcc -g -shared -fPIC -Wl,-soname,libtold.so", "told.c",
		"int told = 1;\nvoid tell(int n) { *(volatile int *)&told = n; }\n")
	dir := filepath.Dir(library)
	if err := os.Symlink(library, filepath.Join(dir, "libtold.so")); err != nil {
		t.Fatal(err)
	}
	told := need.Built(t, "gcc -g -L"+dir+" -Wl,-rpath,"+dir+" -Wl,--no-as-needed -ltold", "teller.c", `
#include <stdio.h>
extern int told;
void tell(int);
int main(void) {
	puts("waits"), fflush(stdout);
	if (getchar() == EOF) return 1;
	for (int i = 0; i < 5; i++) tell(i);
	told = 9;
	return 0;
}
`)
	cmd := exec.Command(told)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	teller := interact(t, cmd)
	teller.await(t, "waits")
	file := script(t, `
n = count()
probe("watchpoint:`+library+`:told:4:w", lambda e: n.add())
at_exit(lambda: print("writes", n.value))
`)
	r := interact(t, withMessages(t, "-p",
		strconv.Itoa(cmd.Process.Pid), file))
	r.await(t, "Attached 1 probe")
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	r.await(t, "writes 6")
	r.end(t).ok(t)
	teller.end(t).ok(t)
}
