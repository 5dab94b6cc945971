package accept

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// copiesWithLoops is a program that prints how often its functions are called, which are inlined: what they begin with
// is a loop.
const copiesWithLoops = `#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
static int drained, summed, walked, cleared, skipped;
struct node { struct node *next; int v; };
#define INLINE static inline __attribute__((always_inline))
INLINE void drain(int *p, int n) {
	for (int i = 0; i < n; i++)
		sink = sink + p[i];
	free(p);
	drained++;
}
INLINE int sum(const int *p, int n) {
	int t = 0;
	do {
		t += *p++;
		sink = t;
	} while (--n > 0);
	summed++;
	return t;
}
INLINE int walk(struct node *n) {
	int t = 0;
	for (; n; n = n->next) {
		t += n->v;
		sink = t;
	}
	walked++;
	return t;
}
INLINE void clear(volatile int *p, volatile int *end) {
	while (p != end)
		*p++ = 0;
	cleared++;
}
INLINE const char *skip(const char *s) {
	while (*s == ' ')
		s++;
	skipped++;
	return s;
}
__attribute__((noinline)) int arrays(int n) {
	int t = 0;
	for (int i = 1; i < n; i++) {
		int *p = (int *)calloc(i, sizeof(int));
		t += p[i - 1] + i;
		sink = i;
		if (i == 4) {
			drain(p, i);
			return t;
		}
		t += sum(p, i);
		drain(p, i);
	}
	return t;
}
__attribute__((noinline)) int lists(struct node *n, int k) {
	int t = 0;
	volatile int few[4];
	while (k-- > 0) {
		t += walk(n);
		clear(few, few + (k & 3));
		if (k == 2)
			return t + walk(n->next);
	}
	return t;
}
__attribute__((noinline)) int texts(const char *s, int k) {
	int t = 0;
	for (int i = 0; i < k; i++)
		t += *skip(s + i) == 'x';
	return t + *skip(s);
}
int main(void) {
	struct node c = { 0, 3 }, b = { &c, 2 }, a = { &b, 1 };
	int t = arrays(3) + arrays(9) + lists(&a, 2) + lists(&a, 6) + lists(&c, 5) + texts("   x y ", 5);
	fprintf(stderr, "drain %d\nsum %d\nwalk %d\nclear %d\nskip %d\n", drained, summed, walked, cleared, skipped);
	return t == 12345;
}
`

// A copy of a function that begins with a loop is one call, not one for each turn.
//
// > Where a copy begins with the head of a loop, its probe stands at the instruction before that, if all calls come by
// > it.
// > Else each turn counts as a call, and a warning says so.
func TestCopiesThatBeginWithLoops(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"gcc", "g++", "clang", "clang++"} {
		for _, level := range []string{"-O1", "-O2", "-O3", "-Os"} {
			file := map[bool]string{true: "copies.cc", false: "copies.c"}[strings.HasSuffix(compiler, "++")]
			binary := need.Built(t, compiler+" -g "+level, file, copiesWithLoops)
			truth, err := exec.Command(binary).CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^(\w+) (\d+)$`).FindAllStringSubmatch(string(truth), -1) {
				e := startrace(t, script(t, strings.NewReplacer("BIN", binary, "NAME", m[1]).Replace(`
n = count()
probe("uprobe:BIN:NAME", lambda e: n.add())
at_exit(lambda: print("seen", n.value))
`)), "-c", binary).ok(t)
				seen, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(e.stdout), "seen "))
				want, _ := strconv.Atoi(m[2])
				told := strings.Contains(e.stderr, "begins with the head of a loop: each turn counts as a call")
				// clang unrolls loops; in skip gcc makes a way past the place where it begins.
				fewer := strings.HasPrefix(compiler, "clang") || m[1] == "skip"
				if seen > want && !told || seen < want && !fewer {
					t.Errorf("%s %s: %s seen %d times, want %d: %s", compiler, level, m[1], seen, want, e.stderr)
				}
			}
		}
	}
}
