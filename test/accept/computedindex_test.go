package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// indexed calls a function with lists of which another argument says the last index, and says what is there.
const indexed = `
#include <stdio.h>
struct item { short id; double price; char *name; };
__attribute__((noinline)) int pick(unsigned *list, struct item *items, char **names, unsigned char *bytes, int n) {
	__asm__ volatile("" : : "r"(list), "r"(items), "r"(names), "r"(bytes) : "memory");
	return list[n];
}
int main(void) {
	unsigned list[4] = {11, 22, 4000000000u, 44};
	unsigned char bytes[4] = {1, 200, 3, 4};
	static char one[] = "one", two[] = "two", three[] = "three";
	char *names[4] = {one, two, three, 0};
	struct item items[4] = {{-1, 0.5, one}, {-2, 1.5, two}, {-3, 2.5, three}, {0, 0, one}};
	for (int n = 0; n < 3; n++) {
		printf("%u %d %.1f %s %s %d %u\n", list[n], items[n].id, items[n].price, items[n].name, names[n], bytes[n],
			n > 0 ? list[n - 1] : 0);
		pick(list, items, names, bytes, n);
	}
	return 0;
}
`

// The index of a pointer is computed at the event in both halves, at entries and at ends. What cannot be read, and what
// an index leads to that cannot be read, is FAULT.
//
// > The index can be computed at the event, `p[n - 1]`, and as in C nobody knows where they end: one that cannot be
// > read is FAULT.
func TestComputedIndexOfPointers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O1", "indexed.c", indexed)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def values(e):
    a = e.args
    return (a.list[a.n], a.items[a.n].id, a.items[a.n].price, a.items[a.n].name, a.names[a.n], a.bytes[a.n],
            cast("u32 *", e.args[0])[a.n - 1])
def lost(e):
    return (e.args.list[(e.args.n + 1) << 40], e.args.list[cast("u64 *", 8)[0]], cast("u32 *", 8)[e.args.n],
            cast("u32 *", cast("u64 *", 8)[0])[e.args.n])
def shown(e):
    v = e.value
    printf("%d %d %.1f %s %s %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6] if e.args.n > 0 else 0)
def own(e):
    v = values(e)
    printf("%d %d %.1f %s %s %d %d\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6] if e.args.n > 0 else 0)
def total(e):
    sum = 0
    for i in range(e.args.n + 1):
        sum += e.args.list[i]
    return sum
probe("uprobe:BIN:pick", shown, kernel = values)
probe("uprobe:BIN:pick", own)
probe("uprobe:BIN:pick", lambda e: print(lost(e), e.value), kernel = lost)
probe("ufunc:BIN:pick", lambda e: print("end", e.args.list[e.args.n], e.start.args.list[e.start.args.n]))
probe("uprobe:BIN:pick", lambda e: print("sum", e.value), kernel = total)
`, "BIN", binary)), "-c", binary).ok(t)
	fault := "(<fault>, <fault>, <fault>, <fault>)"
	values := []string{"11 -1 0.5 one one 1 0", "22 -2 1.5 two two 200 11", "4000000000 -3 2.5 three three 3 22"}
	want := append(values, append(values, values...)...)
	want = append(want, "end 11 11", "end 22 22", "end 4000000000 4000000000", "sum 11", "sum 33", "sum 4000000033")
	for range 3 {
		want = append(want, fault+" "+fault)
	}
	equalLines(t, lines(e.stdout), want)
}

// arrays has arrays in a struct, which are changed while the function runs.
const arrays = `
struct all { int one[4]; short two[3][2]; unsigned char text[4]; long wide[80]; };
__attribute__((noinline)) int pick(struct all *p, int n) {
	__asm__ volatile("" : : "r"(p) : "memory");
	p->one[n] += 100;
	__asm__ volatile("" : : "r"(p) : "memory");
	return n;
}
int main(void) {
	struct all a = {{1, 2, 3, 4}, {{5, 6}, {7, 8}, {9, 10}}, {200, 201, 202, 203}};
	for (int n = 0; n < 3; n++)
		pick(&a, n);
	return 0;
}
`

// A user half takes an element of an array field by an index that is computed at the event, of an array of arrays, too,
// from its end, and at the start of the call as at its end. An index that the array has not is an error of the handler.
//
// > An index that is computed at the event, `a[e.args.n]`, is for user halves, which have all elements.
func TestComputedIndexOfArrays(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "arrays.c", arrays)
	for expr, want := range map[string]string{
		"p.one[n]":                  "1 2 3",
		"p.one[-n - 1]":             "4 3 2",
		"p.one[int(str(n))]":        "1 2 3",
		"p.one[n if n < 2 else -1]": "1 2 4",
		"p.two[n]":                  "(5, 6) (7, 8) (9, 10)",
		"p.two[n][1]":               "6 8 10",
		"p.two[1][n & 1]":           "7 8 7",
		"p.text[n]":                 "200 201 202",
		"p.wide[n]":                 "takes a constant index where the kernel reads it",
	} {
		of := strings.NewReplacer("p.", "e.args.p.", "(n)", "(e.args.n)", "[n", "[e.args.n", "n <", "e.args.n <",
			"-n ", "-e.args.n ").Replace(expr)
		e := startrace(t, "-q", "-e", `l = []`,
			"-e", `probe("uprobe:`+binary+`:pick", lambda e: l.append(str(`+of+`)))`,
			"-e", `at_exit(lambda: print(" ".join(l)))`, "-c", binary)
		// The function has added 100 to the elements before.
		got := strings.NewReplacer("101", "1", "102", "2", "103", "3").Replace(strings.TrimSpace(e.stdout + e.stderr))
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", of, got, want)
		}
	}
	e := startrace(t, "-q", script(t, `
def both(e):
    print(e.start.args.p.one[e.args.n], e.args.p.one[e.args.n], e.start.args.p.one[e.ret])
probe("ufunc:`+binary+`:pick", both)
`), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"1 101 1", "2 102 2", "3 103 3"})
	e = startrace(t, "-q", "-e", `probe("uprobe:`+binary+`:pick", lambda e: print(e.args.p.one[e.args.n + 2]))`,
		"-c", binary)
	if !strings.Contains(e.stderr, "index 4, and the tuple has 4 elements") || e.stdout != "3\n4\n" {
		t.Errorf("got %s%s", e.stdout, e.stderr)
	}
}
