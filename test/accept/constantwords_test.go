package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A constant that is not negative takes the sign of the number beside it, however it is written: int32(15) and
// cast("int", 15) are 15.
func TestConstantsWithoutSign(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
__attribute__((noinline)) long first(unsigned long y, long n) {
	__asm__ volatile("" ::: "memory");
	return n;
}
int main(void) { return first(-1UL, 60) != 60; }
`
	const probes = `
def facts(e, c):
    y, n = e.args.y, e.args.n
    return (c | y, c ^ y, c << n, c if n > 1 else y, y if n > 1 else c, max(c, y), c // y, y // c)
FORMS = [lambda: 15, lambda: int32(15), lambda: int32(n = 15), lambda: uint32(15), lambda: cast("int", 15),
         lambda: int32((7 << 32) + 15), lambda: abs(int32(-15)), lambda: -int32(-15)]
def of(form):
    return lambda e: facts(e, form())
for form in FORMS:
    probe("ufunc:BIN:first", lambda e: print(*e.value), kernel = of(form))
probe("ufunc:BIN:first", lambda e: print(*e.value),
      kernel = lambda e: (int32(1 << 31), int32(-1) & 255, uint32(-1), int32(1 << 40)))
`
	binary := need.Built(t, "gcc -g -O1", "first.c", source)
	const each = "18446744073709551615 18446744073709551600 17293822569102704640 15 18446744073709551615 " +
		"18446744073709551615 0 1229782938247303441\n"
	shows(t, strings.Repeat(each, 8)+"-2147483648 255 4294967295 0\n", "-q",
		script(t, strings.ReplaceAll(probes, "BIN", binary)), "-c", binary)
}
