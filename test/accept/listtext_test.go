package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const slicesOfGo = `package main

type T struct {
	pad int
	B   []byte
	I   []int32
}

//go:noinline
func see(t *T, m []byte) int { return len(t.B) + len(m) }

func main() {
	see(&T{1, []byte("hello"), []int32{1, 2}}, []byte("world!"))
	see(&T{}, nil)
}
`

const vectorOfChars = `
#include <vector>
struct T { int pad; std::vector<char> B; std::vector<int> I; };
__attribute__((noinline)) int see(T *t, std::vector<unsigned char> &m) {
	asm volatile("" : : "r"(&m) : "memory"); // or -O2 leaves an empty vector unwritten
	return t->pad;
}
int main() {
	T t = {1, {'h', 'e', 'l', 'l', 'o'}, {1, 2}}, none = {};
	std::vector<unsigned char> m = {'w', 'o', 'r', 'l', 'd', '!'}, empty;
	return see(&t, m) + see(&none, empty) - 1;
}
`

// The bytes of a list of a program are its elements, wherever the struct lies that leads to them.
//
// > Of a list of a program, as a `std::vector` or a slice of Go, they read its elements.
// > So the text in a `[]byte` is `cstr(b, len(b))`.
func TestBytesOfLists(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, p := range []struct{ command, file, source, function string }{
		{"go build", "main.go", slicesOfGo, "main.see"}, {"g++ -g -O0", "v.cc", vectorOfChars, "see"},
		{"g++ -g -O2", "v.cc", vectorOfChars, "see"},
	} {
		binary := need.Built(t, p.command, p.file, p.source)
		text := strings.NewReplacer("BIN", binary, "FUNCTION", p.function).Replace(`
n = count()
def kept(e):
    n[cstr(e.args.t.B, len(e.args.t.B)), mem(e.args.m, len(e.args.m))].add()
probe("uprobe:BIN:FUNCTION", kept)
def see(e):
    t, m = e.start.args.t, e.args.m
    print(cstr(t.B, len(t.B)), cstr(t.B, 3), mem(t.B, 2), mem(t.I, 8)[4], cstr(m, len(m)), mem(m, min(len(m), 3)))
probe("ufunc:BIN:FUNCTION", see)
at_exit(lambda: print(sorted([k for k, v in n.items()])))
`)
		e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
		t.Run(p.command, func(t *testing.T) {
			equalLines(t, lines(e.stdout)[:3], []string{`hello hel… b"he" 2 world! b"wor"`,
				` <fault> <fault> <fault>  b""`, `[("", b""), ("hello", b"world!")]`})
		})
	}
}

const charArrays = `
struct s { int n; char name[8]; char after[8]; };
__attribute__((noinline)) int f(struct s *s, int n) { asm volatile("" : : : "memory"); return s->n; }
int main(void) {
	struct s s = {3, "abcdefgh", "ijklmno"};
	for (int i = -1; i < 12; i += 3) f(&s, i);
	return 0;
}
`

// A text whose length is computed ends with the array that it is in.
//
// > Of a `char[N]` cstr() reads no byte behind its end either, and mem() reads what it is told to.
func TestComputedTextOfArrays(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "cn.c", charArrays)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def f(e):
    s = e.args.s
    print(cstr(s.name, e.args.n), cstr(s.name, min(e.args.n, 4)), cstr(s.name, s.n), cstr(s.after, e.args.n),
          mem(s.name, 10)[8:])
probe("uprobe:BIN:f", f)
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{`<fault> <fault> abc <fault> b"ij"`, `ab ab abc ij b"ij"`,
		`abcde abcd abc ijklm b"ij"`, `abcdefgh abcd abc ijklmno b"ij"`, `abcdefgh abcd abc ijklmno b"ij"`})
}
