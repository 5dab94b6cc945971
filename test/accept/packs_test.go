package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// withPacks is a program with functions of packs of parameters: with none, with some, and inlined.
const withPacks = `volatile int sink;
template<class... A> __attribute__((noinline)) int pack(A... a) {
	int all = sizeof...(a), t = 0;
	((t += (int)a), ...);
	asm volatile("" ::: "memory");
	sink = t; // line 6
	return t + all;
}
template<class... A> static inline __attribute__((always_inline)) int in(int a_2, A... a) {
	sink = 0;
	((sink = sink + (int)a), ...);
	return sink + a_2;
}
int main(int argc, char **argv) { return pack(argc, 20, 'c', 40L) + pack() + in(argc, argc + 1, argc + 2L) == 0; }
`

// None of the parameters of a pack hides another one.
//
// > The parameters of a pack `A... a` of C++ are `e.args.a`, `e.args.a_2`, `e.args.a_3` … in the code of clang.
// > g++ does not name them: they are `e.args[0]`, `e.args[1]` … there.
func TestNamesOfPacks(t *testing.T) {
	needTracing(t)
	for command, want := range map[string]string{
		"clang++ -O0": "args record(a = 1, a_2 = 20, a_3 = 99, a_4 = 40)\n" +
			"inlined 1 2 3\nnone record()\nvars 1 20 99 40",
		"clang++ -O2": "args record(a = 1, a_2 = 20, a_3 = 99, a_4 = 40)\n" +
			"inlined 1 <optimized out> 3\nnone record()\nvars <optimized out> 20 99 40",
		"g++ -O0": "args 1 20 99 40\nnone record()", "g++ -O2": "args 1 20 99 40\nnone record()",
	} {
		binary := need.Built(t, command+" -std=c++17 -g", "packs.cc", withPacks)
		text := `probe("ufunc:BIN:pack<>", lambda e: print("none", e.args))
`
		if strings.HasPrefix(command, "clang") {
			text += `
probe("ufunc:BIN:pack<int, int, char, long>", lambda e: print("args", e.args))
probe("uprobe:BIN:packs.cc:6", lambda e: print("vars", e.vars.a, e.vars.a_2, e.vars.a_3, e.vars.a_4),
      where = lambda e: e.vars.all > 0)
probe("uprobe:BIN:in<int, long>", lambda e: print("inlined", e.args.a_2, e.args.a, e.args.a_3))
`
		} else {
			text += `
probe("ufunc:BIN:pack<int, int, char, long>", lambda e: print("args", e.args[0], e.args[1], e.args[2], e.args[3]))
`
		}
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		got := lines(e.stdout)
		slices.Sort(got)
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q: %s", command, got, want, e.stderr)
		}
	}
}
