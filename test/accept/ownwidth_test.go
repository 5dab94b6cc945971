package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const widthsSource = `#define N __attribute__((noinline, noclone))
#define A(t) t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n
#define V(v) v-1, v-2, v-3, v-4, v-5, v-6, v-7, v-8, v-9, v-10, v-11, v-12, v-13, v-14
N int bytes(A(signed char)) { __asm__ volatile(""); return a + n; }
N short words(A(short)) { __asm__ volatile(""); return a + n; }
N signed char ints(A(int)) { __asm__ volatile(""); return a + n; }
N long longs(A(long)) { __asm__ volatile(""); return a + n; }
N int plain(A(unsigned short)) { __asm__ volatile(""); return a + n; }
int main(void) { return bytes(V(0)) + words(V(0)) + ints(V(0)) + longs(V(0)) + plain(V(0)) == 0; }
`

// hex are the low bits of -from, -from-1, … to -to as a script shows them.
func hex(bits, from, to int) string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprintf("%x", -uint64(n)&(1<<(bits-1)<<1-1)))
	}
	return strings.Join(out, " ")
}

// A negative field has its own bits at all of 14 places in registers and on the stack, in loops, in one of two values,
// in functions inside and outside of the handler, and at points that have it in several widths.
//
// > It does not matter whether the field has a name in between, stands in a list that a `for` goes over, or is one of
// > several fields of the same width.
func TestOwnWidthOfEach(t *testing.T) {
	binary := widthsBinary(t)
	args := func(format string) string {
		var out []string
		for i := range 14 {
			out = append(out, fmt.Sprintf(format, i))
		}
		return strings.Join(out, ", ")
	}
	verbs := strings.TrimSpace(strings.Repeat("%x ", 14))
	e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "ARGS", args("e.args[%d]"), "VERBS", verbs).
		Replace(`
def helper(x):
    return sprintf("%x", x)

def all(e):
    printf("all %s VERBS %d %d\n", e.func, ARGS, e.args[0], e.args[13])

def loops(e):
    list, kept = [], 0
    for x in [e.args[0], e.args[12], e.args[13]]:
        list.append(sprintf("%x", x))
        list.append(helper(x))
    for i, x in [(1, e.args[0]), (2, e.args[13])]:
        list.append(sprintf("%x%x", i, x))
    list += [sprintf("%x", x) for x in (e.args[6], e.args[7])]
    list += [sprintf("%x", x) for x in (e.args[6], 1 - 2)]
    print("loops", e.func, *list)

def names(e):
    one = e.args[12]
    n = 0
    while_odd = e.args[0] if now() > 0 else e.args[13]
    if now() > 0:
        two = e.args[7]
    else:
        two = e.args[8]
    def inside(x):
        return sprintf("%x %x", one, x)
    last = e.args[1]
    for _ in range(2):
        was = sprintf("%x", last)
        last = last - 1
    printf("names %s %x %x %x %s %s %x %s\n", e.func, one, two, while_odd, inside(e.args[13]), was, last + 0,
           (lambda x: sprintf("%x", x))(e.args[12]))

probe(["ufunc:BIN:bytes", "ufunc:BIN:words", "ufunc:BIN:ints", "ufunc:BIN:longs", "ufunc:BIN:plain"], all)
probe(["ufunc:BIN:bytes", "ufunc:BIN:longs", "ufunc:BIN:plain"], loops)
probe("ufunc:BIN:words", names)
probe("ufunc:BIN:ints", lambda e: printf("ret %x %d\n", e.ret, e.ret))
`)), "-c", binary).ok(t)
	want := []string{
		"all bytes " + hex(8, 1, 14) + " -1 -14", "all words " + hex(16, 1, 14) + " -1 -14",
		"all ints " + hex(32, 1, 14) + " -1 -14", "all longs " + hex(64, 1, 14) + " -1 -14",
		"all plain " + hex(16, 1, 14) + " 65535 65522",
		"ret f1 -15",
		"names words fff3 fff8 ffff fff3 fff2 fffffffffffffffd fffffffffffffffc fff3",
	}
	for _, at := range []struct {
		name string
		bits int
	}{{"bytes", 8}, {"longs", 64}, {"plain", 16}} {
		h := func(n int) string { return hex(at.bits, n, n) }
		other := hex(64, 7, 7)
		if at.name == "plain" {
			other = h(7)
		}
		want = append(want, strings.Join([]string{"loops", at.name, h(1), h(1), h(13), h(13), h(14), h(14), "1" + h(1),
			"2" + h(14), h(7), h(8), other, hex(64, 1, 1)}, " "))
	}
	equalLines(t, sorted(e.stdout, ""), want)
}

func widthsBinary(t *testing.T) string {
	t.Helper()
	needTracing(t)
	return need.Built(t, "gcc -w -g -O1", "widths.c", widthsSource)
}
