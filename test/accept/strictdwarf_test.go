package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// severalSections is a program whose code gcc puts into several sections at -O2, and whose variables live at its marked
// lines.
const severalSections = `
struct item { int id; long price; };
volatile long sink;
#define CALL __attribute__((noinline))
#define LIVE(a, b) asm volatile("" : : "r"(a), "r"(b), "r"(p), "r"(name) : "memory")
CALL long work(int n, struct item *p, const char *name) {
  long total = n * 10 + p->id;
  for (int i = 0; i < 2; i++) {
    total += p->price;
    LIVE(n, total); /* here */
    sink += i;
  }
  return total + name[0];
}
CALL __attribute__((cold)) long seldom(int n, struct item *p, const char *name) {
  long twice = sink + n * 2;
  sink = twice;
  LIVE(n, twice); /* and here */
  return twice + n + p->id;
}
int main(void) {
  struct item it = { 7, 100 };
  const char *first = "hello", *second = "bye";
  asm volatile("" : : "r"(&it) : "memory");
  sink = *(const volatile char *)first + *(const volatile char *)second; /* so that a program of the kernel has them */
  for (int i = 1; i < 3; i++) work(i, &it, first);
  sink = 40;
  seldom(3, &it, second);
  return 0;
}
`

// Variables of C are known in each version of DWARF, also where a compiler says only what the standard of the version
// has: gcc -gdwarf-2 -gstrict-dwarf gives lists of places that count from another address than the unit says.
func TestVariablesInEachVersionOfDWARF(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const text = `
def work(e):
    v = e.vars
    print("work", v.p.id, v.p.price, v.name, v.total)
def seldom(e):
    v = e.vars
    print("seldom", v.n, v.p.id, v.name, v.twice)
probe("uprobe:BIN:dwarf.c:10", work)
probe("uprobe:BIN:dwarf.c:18", seldom)
probe("uprobe:BIN:work", lambda e: print("entry", e.args.n, e.args.p.price))
`
	want := []string{"entry 1 100", "entry 2 100", "seldom 3 7 bye 46", "work 7 100 hello 117",
		"work 7 100 hello 127", "work 7 100 hello 217", "work 7 100 hello 227"}
	for version := range 4 {
		for _, strict := range []string{"", " -gstrict-dwarf"} {
			for _, of := range []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O2 -no-pie", "clang -O0", "clang -O2"} {
				command := fmt.Sprintf("%s -gdwarf-%d%s", of, version+2, strict)
				t.Run(command, func(t *testing.T) {
					beside(t)
					binary := need.Built(t, command, "dwarf.c", severalSections)
					e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
					equalLines(t, lines(e.stdout), want)
				})
			}
		}
	}
}
