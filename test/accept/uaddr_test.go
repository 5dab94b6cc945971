package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// addressed prints where its variables and functions are, and what is in them, at each call.
const addressed = `
#include <stdio.h>
namespace shop {
int counter = 40;
template<class T> struct box { static long most; static int get(T k); };
}
template<class T> long shop::box<T>::most = sizeof(T);
extern "C" {
int plain = 7; static long hidden[3] = {7, 8, 9}; char text[16] = "buffered"; extern int shared; int ofshared(int);
}
template<class T> __attribute__((noinline)) int shop::box<T>::get(T k) { return plain + k + most; }
extern "C" __attribute__((noinline)) int work(int k) { shop::counter++; hidden[1] += k; return plain; }
int main() {
	for (int i = 0; i < 3; i++) {
		printf("%p %d %p %ld %p %p %p %s\n", (void *)&shop::counter, shop::counter, (void *)&hidden[1], hidden[1],
			(void *)&shop::box<int>::most, (void *)work, (void *)main, text);
		work(i);
		printf("shared %p %d\n", (void *)&shared, shared);
		shared += ofshared(i);
	}
	return shop::box<int>::get(1) == 0;
}
`

// sharedVariable is a library whose variable the program has: where it is, is known from a word that the dynamic linker
// fills when the program starts.
const sharedVariable = `
int shared = 1000;
__attribute__((noinline)) int ofshared(int k) { __asm__ volatile("" ::: "memory"); return shared > 0 ? k : 0; }
`

// An address is the one that the program prints itself, in both halves, at entries, at ends and at lines, wherever the
// program is loaded; and it can be read by cast, mem and cstr.
//
// > `uaddr("./shop:counter")` is the address of a variable or a function of a program, in the process of the event.
// > It is known at probes of functions of that program or library.
// > The address of a variable or a function of a program, in the process of the event, at probes of that program.
// > Debug information is not needed, and names of C++ are as in the source: `uaddr("./shop:shop::counter")`.
func TestUaddr(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, how := range []string{"-fPIE -pie", "-fno-pie -no-pie"} {
		for _, debug := range []string{"-g", "-g0"} {
			so := need.Built(t, "gcc -O1 -shared -fPIC "+debug, "shared.c", sharedVariable)
			binary := need.Built(t, "g++ -O1 "+debug+" "+how+" -Wl,--no-as-needed "+so, "addressed.cc", addressed)
			text := strings.NewReplacer("BIN", binary, "LIB", so).Replace(`
def shown(e):
    p = uaddr("BIN:shop::counter")
    h = uaddr("BIN:hidden")
    print("  0x%x %d 0x%x %d 0x%x 0x%x 0x%x %s" % (p, cast("int *", p)[0], h + 8, cast("long *", h)[1],
          uaddr("BIN:shop::box<int>::most"), uaddr("BIN:work"), uaddr("BIN:main"), cstr(uaddr("BIN:text"))))
def found(e):
    p, h = uaddr("BIN:shop::counter"), uaddr("BIN:hidden")
    return record(p = p, n = cast("int *", p)[0], h = h, one = cast("long *", h)[1], text = cstr(uaddr("BIN:text")),
                  most = uaddr("BIN:shop::box<int>::most"), work = uaddr("BIN:work"), main = uaddr("BIN:main"),
                  here = uaddr("BIN:work") == e.ip)
probe("uprobe:BIN:work", shown)
probe("uprobe:BIN:work", lambda e: print("  0x%x %d 0x%x %d 0x%x 0x%x 0x%x %s" % (e.p, e.n, e.h + 8, e.one, e.most,
      e.work, e.main, e.text) if e.here else "not here"), kernel = found)
begun, ends = table(), count()
probe("uprobe:BIN:work", lambda e: begun.set(e.tid, uaddr("BIN:shop::counter")))
probe("ufunc:BIN:work", lambda e: ends[uaddr("BIN:shop::counter") == begun.get(e.tid),
      cast("int *", uaddr("BIN:shop::counter"))[0]].add())
probe("uprobe:LIB:ofshared", lambda e: print("  shared 0x%x %d" % (uaddr("LIB:shared"),
      cast("int *", uaddr("LIB:shared"))[0])))
at_exit(lambda: print("ends", sorted(ends.items())))
`)
			e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
			var said, saw []string
			for _, line := range lines(e.stdout) {
				if is, own := strings.CutPrefix(line, "  "); own {
					saw = append(saw, is)
				} else if strings.HasPrefix(line, "shared ") {
					said = append(said, line)
				} else if strings.HasPrefix(line, "0x") {
					said = append(said, line, line)
				} else if line != "ends [((True, 41), 1), ((True, 42), 1), ((True, 43), 1)]" {
					t.Errorf("%s %s: got %q", how, debug, line)
				}
			}
			slices.Sort(said)
			slices.Sort(saw)
			if len(said) != 9 || !slices.Equal(said, saw) {
				t.Errorf("%s %s: got\n%s\nwant\n%s", how, debug, strings.Join(saw, "\n"), strings.Join(said, "\n"))
			}
		}
	}
}
