package accept

import (
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// computedLengths has arrays of which the program computes the length: of ints, structs, rows and chars, in a function
// and in one that is inlined. Each call says what it has; an index behind the end is FAULT.
const computedLengths = `
#include <stdio.h>
struct pair { int a; long b; };
int rows, columns; /* those of the call, where a compiler does not keep them */
__attribute__((noinline)) long look(const volatile void *p) { __asm__ volatile("" : : "r"(p) : "memory"); return 1; }
static inline __attribute__((always_inline)) long within(int k) {
	short part[k];
	for (int i = 0; i < k; i++) part[i] = 100 + i;
	long sum = look(part);
	sum += look(&sum); /* WITHIN */
	return sum + part[k - 1];
}
__attribute__((noinline)) long f(int n, int m, int (*table)[m]) {
	int list[n];
	struct pair pairs[n];
	short grid[n][m];
	char text[m + 1];
	int cube[2][n][m];
	for (int i = 0; i < n; i++) {
		list[i] = 7 * i, pairs[i] = (struct pair){i, -i};
		for (int j = 0; j < m; j++)
			grid[i][j] = 10 * i + j, cube[0][i][j] = grid[i][j], cube[1][i][j] = 1000 + grid[i][j];
	}
	for (int j = 0; j < m; j++) text[j] = 'a' + j;
	text[m] = 0;
	printf("%d %d|%d %s %ld %s|%d %s|%d %s|%s|%d %s\n", n, n, list[1], n > 3 ? "21" : "<fault>", pairs[n - 1].b,
		n > 5 ? "5" : "<fault>", grid[1][2], n > 4 && m > 4 ? "44" : "<fault>", cube[1][1][0],
		m > 4 ? "1004" : "<fault>", text, table[1][2], m > 5 ? "15" : "<fault>");
	long sum = look(list) + look(pairs) + look(grid) + look(text) + look(cube);
	sum += look(&sum); /* OUTER */
	return sum + list[n - 1] + pairs[1].b + grid[n - 1][m - 1] + text[1] + cube[1][n - 1][m - 1] + table[1][2] +
		within(n + m);
}
static long called(int n, int m) {
	int table[n][m];
	for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) table[i][j] = 10 * i + j;
	return f(n, m, table);
}
int main(void) {
	setvbuf(stdout, 0, _IOLBF, 0);
	return called(3, 4) + called(5, 3) + called(7, 9) + called(2, 6) == 0;
}
`

// sawLengths are the lines that the program says in a run, and those that startrace saw at OUTER and WITHIN.
func sawLengths(t *testing.T, command, probes string) (said, saw []string) {
	t.Helper()
	needTracing(t)
	need.Sources(t, "../..")
	e := tracedLengths(t, need.Built(t, command, "f.c", computedLengths), probes).ok(t)
	for _, line := range strings.Split(strings.TrimSpace(e.stdout), "\n") {
		if word, rest, _ := strings.Cut(line, " "); word == "saw" {
			saw = append(saw, rest)
		} else {
			said = append(said, line)
		}
	}
	return said, saw
}

// tracedLengths runs probes in the program.
func tracedLengths(t *testing.T, binary, probes string) ended {
	words := []string{"BIN", binary}
	for _, mark := range []string{"WITHIN", "OUTER"} {
		before, _, _ := strings.Cut(computedLengths, "/* "+mark)
		words = append(words, mark, strconv.Itoa(strings.Count(before, "\n")+1))
	}
	return startrace(t, "-q", script(t, strings.NewReplacer(words...).Replace(probes)), "-c", binary)
}

// The length of an array that its program computes is known where the compiler keeps it. What lies behind the end is
// FAULT, and so is an element of which nobody knows where it is.
//
// > An array of C whose length the program computes, `int list[n]`, is a list of so many elements where the compiler
// > keeps the length; where it does not, its elements are FAULT.
func TestComputedLengths(t *testing.T) {
	const parts = `"saw %s %s|%s %s %s %s|%s %s|%s %s|%s|" % (len(v.list), len(v.pairs), v.list[1], v.list[3],
		v.pairs[-1].b, v.pairs[5].a, v.grid[1][2], v.grid[4][4], v.cube[1][1][0], v.cube[1][0][4], v.text)`
	const table = ` + "%s %s" % (v.table[1][2], v.table[1][5])`
	for command, ask := range map[string]string{"gcc -g -O0": parts + table, "gcc -g -O2 -gdwarf-4": parts,
		"gcc -g -O0 -gdwarf-3": parts + table, "clang -g -O0": parts, "clang -g -O2": parts} {
		said, saw := sawLengths(t, command, `probe("uprobe:BIN:f.c:OUTER", lambda e: print(`+
			strings.ReplaceAll(ask, "v.", "e.vars.")+`))`)
		if len(said) != 4 || len(saw) < 4 {
			t.Errorf("%s: said %q, saw %q", command, said, saw)
			continue
		}
		for i := range said {
			want := said[i]
			if ask == parts {
				want = want[:strings.LastIndex(want, "|")+1]
			}
			if !sameOrGone(want, saw[i*len(saw)/4], strings.Contains(command, "-O2")) {
				t.Errorf("%s: saw %s, want %s", command, saw[i*len(saw)/4], want)
			}
		}
	}
}

// sameOrGone reports whether values are as wanted, or, where that may be, FAULT.
func sameOrGone(want, got string, mayBeGone bool) bool {
	got = strings.ReplaceAll(got, "<optimized out>", "<fault>")
	w, g := strings.FieldsFunc(want, isSeparator), strings.FieldsFunc(got, isSeparator)
	if len(w) != len(g) {
		return false
	}
	for i := range w {
		if g[i] != w[i] && !(mayBeGone && g[i] == "<fault>") {
			return false
		}
	}
	return true
}

func isSeparator(r rune) bool { return r == ' ' || r == '|' }

// Whole values, loops and comparisons end with the array, and a copy of a function that was inlined has a length of its
// own. At the entry of a function no length is known yet.
func TestComputedLengthsOfWholeArrays(t *testing.T) {
	for _, command := range []string{"gcc -g -O0", "clang -g -O0"} {
		_, saw := sawLengths(t, command, `
probe("uprobe:BIN:f.c:OUTER", lambda e: print("saw", e.vars.list, [x + 1 for x in e.vars.list], 14 in e.vars.list))
probe("uprobe:BIN:f.c:WITHIN", lambda e: print("saw", len(e.vars.part), e.vars.part[-1], e.vars.part[6],
	e.vars.part[7]))
probe("uprobe:BIN:f", lambda e: print("saw", e.args.n))
`)
		got := strings.Join(saw[:min(len(saw), 3)], "; ")
		if want := "3; (0, 7, 14) [1, 8, 15] True; 7 106 106 <fault>"; got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
	_, saw := sawLengths(t, "gcc -g -O0", `probe("uprobe:BIN:f", lambda e: print("saw", e.args.table[0][1],
		e.args.table[1][0]))`)
	for _, line := range saw {
		if line != "<fault> <fault>" && line != "<optimized out> <optimized out>" {
			t.Errorf("at the entry: %s", line)
		}
	}
	for command, refused := range map[string][2]string{
		"gcc -g -O0":   {"e.vars.pairs", "so it is no value as a whole"},
		"clang -g -O0": {"e.vars.table[1][0]", "where it lies is not known"},
	} {
		e := tracedLengths(t, need.Built(t, command, "f.c", computedLengths),
			`probe("uprobe:BIN:f.c:OUTER", lambda e: print(`+refused[0]+`))`)
		if e.status == 0 || !strings.Contains(e.stderr, refused[1]) {
			t.Errorf("%s: %s", command, e.stderr)
		}
	}
}

// The length of an array needs no value of the array: of lists within an array, and of more elements than a value has.
//
// > `len(a)` is its length, in both halves.
func TestLengthsWithoutAValue(t *testing.T) {
	const probes = `
probe("uprobe:BIN:f.c:OUTER", lambda e: print("saw", len(e.vars.cube), len(e.vars.cube[1]), len(e.vars.cube[1][0])))
probe("uprobe:BIN:f.c:OUTER", lambda e: print("saw", *e.value),
	kernel = lambda e: (len(e.vars.cube), len(e.vars.cube[1]), len(e.vars.cube[1][0])))
`
	_, saw := sawLengths(t, "gcc -g -O0", probes)
	if got := strings.Join(saw[:min(len(saw), 2)], "; "); got != "2 3 4; 2 3 4" {
		t.Errorf("got %s", got)
	}
	got := printed(t, "gcc -g -O0", "long.c", "struct { long all[100]; } s;\nint main(void) { return s.all[0]; }\n", `
probe("uprobe:BIN:main", lambda e: print(len(e.globals.s.all), e.globals.s.all[99]))
probe("uprobe:BIN:main", lambda e: print(e.value), kernel = lambda e: len(e.globals.s.all))
`)
	if got != "100 0, 100" {
		t.Errorf("got %s", got)
	}
}
