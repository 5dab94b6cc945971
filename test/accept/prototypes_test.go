package accept

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// callsOfC calls functions of the C library with values that are known.
const callsOfC = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int f = open("/etc/passwd", O_RDONLY);
  char b[8];
  pread(f, b, 3, 1);
  close(f);
  setenv("abc", "def", 1);
  free(calloc(7, 11));
  printf("%s %d\n", getenv("abc"), atoi("-3"));
  return (int)strtod("2.5", 0) != 2;
}
`

// A C library without debug information has names and types of arguments all the same, as ltrace has them.
//
// > Of some 350 functions of the C library the arguments and the result have names and types all the same.
// > So `e.args.pathname` of `ufunc:c:open` is the name of the file.
func TestPrototypesOfTheCLibrary(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	program := need.Built(t, "gcc -O1 -fno-builtin", "calls.c", callsOfC)
	out, err := exec.Command(need.Program(t, "ldd"), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), "libc.so.6 => ")
	path, _, found := strings.Cut(rest, " ")
	if !found {
		t.Fatalf("no C library:\n%s", out)
	}
	dir := t.TempDir()
	library := filepath.Join(dir, "libc.so.6")
	strip := exec.Command(need.Program(t, "objcopy"), "--strip-debug", "--remove-section=.gnu_debuglink",
		"--remove-section=.note.gnu.build-id", path, library)
	if out, err := strip.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := `
probe("ufunc:LIB:open", lambda e: print("open", e.args.pathname, e.args.flags, e.ret >= 0))
probe("ufunc:LIB:pread", lambda e: print("pread", e.args.fd >= 0, e.args.count, e.args.offset, e.ret))
probe("ufunc:LIB:setenv", lambda e: print("setenv", e.args.name, e.args.value, e.args.overwrite, e.ret))
probe("ufunc:LIB:calloc", lambda e: print("calloc", e.args.nmemb, e.args.size, e.ret != 0),
    where = lambda e: e.args.size == 11)
probe("ufunc:LIB:getenv", lambda e: print("getenv", e.args.name, cstr(e.ret)), where = lambda e: e.args.name == "abc")
probe("ufunc:LIB:strtod", lambda e: print("strtod", e.args.nptr, e.ret))
probe("ufunc:LIB:printf", lambda e: print("printf", e.args.format, e.ret))
`
	t.Setenv("LD_LIBRARY_PATH", dir)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "LIB", library)), "-c", program).ok(t)
	equalLines(t, lines(e.stdout), []string{"def -3", "open /etc/passwd 0 True", "pread True 3 1 3",
		"setenv abc def 1 0", "calloc 7 11 True", "getenv abc def", "printf %s %d\\n 7", "strtod 2.5 <float>"})
}
