package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// members has what members of structs can be: arrays of structs, of two dimensions, pointers to arrays and to pointers,
// bit fields in unions, unions within unions without a name.
const members = `#include <stdio.h>
struct p { short a; unsigned char b; };
union u { unsigned w; struct { unsigned lo : 5, mid : 11; int hi : 16; }; };
struct big {
  struct p ps[3]; int (*row)[4]; union u un; union { struct { int k; union { long deep; char c[8]; }; }; double d; };
  struct { union { int q; unsigned char by[4]; } in[2]; } arr[2]; struct p *pp[2]; struct p **ppp; int m[2][3];
  enum { A, B = 7 } e; _Bool f : 1, g : 1; unsigned long long wide : 40;
  int (*fn)(int);
};
int id(int x) { return x; }
__attribute__((noinline)) int f(struct big *b, int (*rows)[4], struct p (*pa)[3]) {
	__asm__ volatile("" : : "r"(b), "r"(rows), "r"(pa) : "memory"); // all that they lead to is read
	return 0;
}
int main(void) {
  int rows[2][4] = {{1,2,3,4},{5,6,7,8}}; struct p one = {-3, 200}, *po = &one; struct p pa[3] = {{1,2},{-5,6},{7,8}};
  struct big b = {.ps = {{-1,1},{-2,2},{-3,3}}, .row = rows, .pp = {&one, &pa[1]}, .ppp = &po, .m = {{1,2,3},{4,5,6}},
    .e = B, .f = 0, .g = 1, .wide = 0xabcdef1234, .fn = id};
  b.un.lo = 21; b.un.mid = 1234; b.un.hi = -77; b.k = 9; b.deep = -1234567890123L;
  b.arr[1].in[1].q = 0x04030201; b.arr[0].in[1].q = -9;
  f(&b, rows, &pa); return 0; }
`

// Members of all kinds are what the program put there, and pointers to arrays lead to their elements.
//
// > A pointer to an array has its elements behind a second index: `e.args.rows[1][2]`.
func TestMembersOfAllKinds(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := `
def show(e):
    b = e.args.b
    print("bits", b.ps[1].a, b.ps[2].b, b.un.lo, b.un.mid, b.un.hi, b.un.w, b.f, b.g, b.wide)
    print("unions", b.k, b.deep, b.arr[0].in_[1].q, b.arr[1].in_[1].by[2], b.arr[1].in_[1].q)
    print("arrays", b.m[1][2], b.m[0][1], b.m, b.row[0][1], b.row[1][2], e.args.rows[1][2], e.args.pa[0][1].a)
    print("pointers", b.pp[1].a, b.pp[0].b, b.ppp[0].a, b.e, names(b.e))

probe("uprobe:BIN:f", show)
n = count()
def tally(e):
    b = e.args.b
    n[b.un.lo, b.un.hi, b.deep, b.arr[0].in_[1].q, b.row[1][2], e.args.rows[0][3], e.args.pa[0][1].a, b.ppp[0].b].add()
probe("uprobe:BIN:f", kernel = tally)
at_exit(lambda: print("kernel", [k for k, v in n.items()]))
`
	want := []string{"arrays 6 2 ((1, 2, 3), (4, 5, 6)) 2 7 7 -5",
		"bits -2 3 21 1234 -77 4289960533 False True 737894404660",
		"kernel [(21, -77, -1234567890123, -9, 7, 4, -5, 200)]", "pointers -5 200 -3 7 B",
		"unions 9 -1234567890123 -9 3 67305985"}
	for _, command := range []string{"gcc -g -O0", "clang -g -O0", "gcc -gdwarf-4 -O1"} {
		binary := need.Built(t, command, "members.c", members)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), want)
	}
}
