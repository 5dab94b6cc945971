package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// threadsOwn has variables that each thread has for itself, of two alignments, and threads one after the other.
const threadsOwn = `
#include <pthread.h>
struct own { char pad[5]; int n; };
__thread struct own mine __attribute__((aligned(64)));
__thread long counter = 40;
static __thread char text[100];
__attribute__((noinline)) void see(int i) { asm volatile("" : : "r"(i), "r"(&mine), "r"(text) : "memory"); }
static void *run(void *p) {
  for (int i = 0; i < 2; i++) {
    counter += (int)(long)p + i;
    mine.n = (int)(long)p + i;
    text[0] = 'a' + i;
    see(i);
  }
  return 0;
}
int main(void) {
  run((void *)1);
  for (long i = 1; i < 3; i++) {
    pthread_t t;
    pthread_create(&t, 0, run, (void *)(10 * i));
    pthread_join(t, 0);
  }
  return 0;
}
`

// A variable that each thread has for itself is that of the thread of the event. In a library only the process knows
// where it is.
//
// > A variable of a program that each thread has for itself (`__thread`) is that of the thread of the event.
// > Of a library it is FAULT.
func TestThreadLocalVariables(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	want := []string{"0 1 41 a", "0 10 50 a", "0 20 60 a", "1 11 61 b", "1 2 43 b", "1 21 81 b"}
	const text = `
def see(e):
    print(e.args.i, e.globals.mine.n, e.globals.counter, e.globals.text)
probe("uprobe:BIN:see", see)
`
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O2", "gcc -g -O1 -static",
		"gcc -g -O0 -static-pie", "clang -g -O0 -no-pie", "gcc -gdwarf-4 -O0 -gsplit-dwarf"} {
		binary := need.Built(t, command+" -pthread", "own.c", threadsOwn)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		if !t.Run(command, func(t *testing.T) { equalLines(t, lines(e.stdout), want) }) {
			t.Log(e.stderr)
		}
	}
	library := need.Built(t, "gcc -g -O0 -shared -fPIC -Wl,-soname,libown.so", "libown.c",
		"__thread int mine = 7;\nint see(int i) { return mine + i; }\n")
	if err := os.Symlink(library, library+".so"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(library)
	program := need.Built(t, "gcc -L"+dir+" -Wl,-rpath,"+dir+" -Wl,--no-as-needed -lown", "user.c",
		"int see(int);\nint main(void) { return see(3) != 10; }\n")
	ofLibrary := `probe("uprobe:` + library + `:see", lambda e: print(e.globals.mine == FAULT))`
	e := startrace(t, "-q", script(t, ofLibrary), "-c", program).ok(t)
	equalLines(t, lines(e.stdout), []string{"True"})
}
