package accept

import (
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// charPointers is a program with a char ** in each place that one can have.
const charPointers = `#include <stddef.h>
struct holder { char **words; int n; };
char **known;
static char first[] = "ax", second[] = "b";
#ifndef __clang__
__attribute__((noipa))
#endif
__attribute__((noinline)) int look(char **given, char ***deep, struct holder *h) {
	static char **volatile kept;
	char **local = given;
	kept = given;
	__asm__ volatile("" : : "r"(local), "r"(deep), "r"(h) : "memory");
	return local != NULL; /* HERE */
}
int main(void) {
	char *words[] = {first, second, NULL}, **deep[] = {words}, **none[] = {NULL};
	struct holder h = {words, 2}, empty = {NULL, 0};
	first[0]++, second[0]++;
	known = words;
	int sum = look(words, deep, &h);
	known = NULL;
	sum += look(NULL, none, &empty);
	known = (char **)8, h.words = (char **)8, deep[0] = (char **)8;
	return sum + look((char **)8, deep, &h) != 2;
}
`

// A char ** means the same wherever the compiler has put it, in a register or in memory, and in both halves.
//
// > A `char **` that is a parameter or a local variable of a program's function is an address.
// > Many functions give back one string there, and `p[0]` is that string.
// > `" ".join(p)` takes it for a list.
// > As a field, an element or a global variable a `char **` is a list.
func TestCharPointers(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	line := 0
	for i, text := range strings.Split(charPointers, "\n") {
		if strings.Contains(text, "HERE") {
			line = i + 1
		}
	}
	all := "entry True bx bx c bx c\nkernel bx c bx\n" +
		"field (\"bx\", \"c\") (\"bx\", \"c\") bx c\nline True bx bx c True bx c (\"bx\", \"c\")\nkernel bx c bx\n"
	nothing := "entry True <fault> <fault> <fault>\nkernel <fault> <fault>\n" +
		"field <fault> <fault> <fault>\nline True <fault> <fault> True <fault> <fault>\nkernel <fault> <fault>\n"
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O0", "clang -g -O2"} {
		binary := need.Built(t, command, "words.c", charPointers)
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "LINE", strconv.Itoa(line)).Replace(`
here = "uprobe:BIN:words.c:LINE"
number = lambda p: type(p) == "int"
both = lambda join, one: record(join = join, one = one)
probe("uprobe:BIN:look", lambda e: print("entry", number(e.args.given), e.args.given[0], " ".join(e.args.given),
                                         " ".join(e.args.deep[0])))
probe("uprobe:BIN:look", lambda e: print("kernel", e.join, e.one),
      kernel = lambda e: both(" ".join(e.args.given), e.args.given[0]))
probe("uprobe:BIN:look", lambda e: print("field", e.args.h.words, e.args.deep[0], " ".join(e.args.h.words)))
probe(here, lambda e: print("line", number(e.vars.local), e.vars.local[0], " ".join(e.vars.local),
                            number(e.vars.kept), " ".join(e.vars.kept), e.globals.known))
probe(here, lambda e: print("kernel", e.join, e.one),
      kernel = lambda e: both(" ".join(e.vars.local), e.vars.local[0]))
`)), "-c", binary)
		if e.stdout != all+nothing+nothing {
			t.Errorf("%s:\n%s%swant\n%s", command, e.stdout, e.stderr, all+nothing+nothing)
		}
	}
}
