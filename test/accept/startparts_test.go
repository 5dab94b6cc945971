package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A changing is a program with a function that changes all that its arguments lead to, and expressions of these.
type changing struct {
	command, file, function string
	source                  string
	parts                   string // what to ask of e.args, in words
}

var changings = []changing{
	{"gcc -g -O1", "changes.c", "change", `#include <string.h>
struct in { int x; char s[8]; };
struct pair { struct in *p; char *n; };
struct large { struct in *p; char *n; long a, b; };
__attribute__((noinline)) int change(struct pair w, struct large b, struct in *q, int *list, char *s) {
	w.p->x = -1, strcpy(w.p->s, "after"), strcpy(w.n, "wafter");
	b.p->x = -2, strcpy(b.n, "bafter"), q->x = -3, list[1] = -4, strcpy(s, "safter");
	asm volatile("" ::: "memory");
	return 1;
}
int main(void) {
	struct in i = {1, "w"}, j = {2, "b"}, k = {3, "q"};
	char n[8] = "before", m[8] = "bbefore", s[8] = "sbefore";
	int list[2] = {4, 5};
	struct pair w = {&i, n};
	struct large b = {&j, m, 1, 2};
	return change(w, b, &k, list, s) - 1;
}
`, "w.p.x w.p.s w.n b.p.x b.n q.x list[1] s"},
	{"g++ -std=c++20 -g -O1", "changes.cc", "change", `#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
struct In { int x; const char *s; };
struct P {
	std::vector<int> v;
	std::vector<In> vi;
	std::vector<std::string> vs;
	std::vector<bool> vb;
	std::string str;
	std::unique_ptr<In> up;
	std::array<int, 2> ar;
	std::optional<int> o;
};
struct Word { char *p; int *q; };
__attribute__((noinline)) int change(P *p, std::vector<int> &v, std::span<int> sp, Word w) {
	p->v[1] = -1, p->vi[0].x = -2, p->vi[0].s = "after", p->vs[0] = "vafter", p->vb[0] = false, p->str = "safter";
	p->up->x = -3, p->ar[1] = -4, p->o = -5, v[0] = -6, sp[1] = -7, w.p[0] = 'A', w.q[1] = -8;
	asm volatile("" ::: "memory");
	return 1;
}
int main() {
	P p{{10, 11}, {{12, "vi"}}, {"vs"}, {true}, "str", std::make_unique<In>(), {13, 14}, 15};
	p.up->x = 16;
	std::vector<int> v{19, 20};
	int sp[] = {21, 22}, q[] = {23, 24};
	char text[] = "word";
	return change(&p, v, sp, {text, q}) - 1;
}
`, "p.v p.v[1] p.vi[0].x p.vi[0].s p.vs[0] p.vb[0] p.str p.up.x p.ar[1] p.o v v[0] v[-1] sp sp[1] w.p w.q[1]"},
	{"rustc -g", "changes.rs", "change", `pub struct I { x: i32, l: Vec<u8> }
pub struct W<'a> { p: &'a mut I, n: u8 }
#[inline(never)]
#[no_mangle]
pub fn change(a: &mut [i32], v: Vec<char>, s: &mut [I], t: Vec<Vec<i16>>, b: Box<[u16]>, w: W, st: String) -> i32 {
    a[0] = -1;
    s[0].x = -2;
    s[0].l[0] = 9;
    w.p.x = -3;
    w.p.l[0] = 66;
    std::hint::black_box((a, s, &v, &t, &b, &st, w.n));
    drop((v, t, b, st));
    1
}
fn main() {
    let mut i = I { x: 1, l: vec![13] };
    let w = W { p: &mut i, n: 2 };
    let s = &mut [I { x: 5, l: vec![6] }];
    let b: Box<[u16]> = vec![11, 12].into();
    let n = change(&mut [1, 2], vec!['a', 'b'], s, vec![vec![7, 8]], b, w, "text".into());
    std::process::exit(n - 1);
}
`, "a a[0] v v[1] s[0].x s[0].l s[0].l[0] t[0][1] t[0] b b[1] w.p.x w.p.l[0] st"},
	{"go build", "changes.go", "main.change", goChanging, goParts},
	{"go build -gcflags=-N", "changes.go", "main.change", goChanging, goParts},
}

const goParts = "xs xs[0] t.S[1] t.N[0] t.In[0].X t.In[0].L t.In[0].L[1] t.A[1] t.P.X ns[1] ps[0].X v.S v.S[0] " +
	"w.P.X w.B w.B[0] arr[0].X"

// goChanging is such a program of Go.
const goChanging = `package main

import "fmt"

type T struct {
	S  []int
	N  []string
	In []I
	A  [2]int
	P  *I
	M  map[int]int
}

type I struct {
	X int
	L []int8
}

type W struct {
	P *I
	B []byte
}

//go:noinline
func change(t *T, xs []int, ns []string, v T, ps []*I, w W, arr [1]*I) int {
	t.S[1], t.N[0], t.In[0].X, t.In[0].L[1], t.A[1], t.P.X = -1, "after", -2, -3, -4, -5
	xs[0], ns[1], v.S[0], ps[0].X, t.M[5], w.P.X, w.B[0], arr[0].X = -6, "nafter", -7, -8, 6, -9, 'Z', -10
	return len(xs)
}

func main() {
	t := &T{[]int{1, 2}, []string{"a", "b"}, []I{{3, []int8{4, 5}}}, [2]int{6, 7}, &I{8, nil}, map[int]int{1: 1}}
	v := T{S: []int{20, 21}}
	w, arr := W{&I{40, nil}, []byte("ab")}, [1]*I{{50, nil}}
	fmt.Println(change(t, []int{10, 11}, []string{"c", "d"}, v, []*I{{30, nil}}, w, arr))
}
`

// An expression that begins with e.start is what a probe at the entry of the function reads, whatever the function
// changes until its end: through lists, and through what registers hold.
//
// > An expression that begins with `e.start` is evaluated wholly at the start, also where it stands behind a filter of
// > the end.
func TestPartsAtTheStart(t *testing.T) {
	for _, c := range changings {
		t.Run(c.command, func(t *testing.T) {
			needTracing(t)
			need.Sources(t, "../..")
			atTheStart(t, need.Built(t, c.command, c.file, c.source), c.function, strings.Fields(c.parts))
		})
	}
}

// atTheStart compares each part at the entry, by a probe there, with the start of the call, by its end. One script has
// the probes of all parts, each with an expression of its own; NUMBER tells their lines apart.
func atTheStart(t *testing.T, binary, function string, parts []string) {
	t.Helper()
	const probes = `
probe("uprobe:BIN:FN", lambda e: print("entry-NUMBER", [e.args.PART]))
probe("ufunc:BIN:FN", lambda e: print("handler-NUMBER", [e.start.args.PART]))
probe("ufunc:BIN:FN", lambda e: print("kernel-NUMBER", [e.part]), kernel = lambda e: record(part = e.start.args.PART))
def handle_NUMBER(e):
    a = e.start.args
    print("named-NUMBER", [a.PART])
probe("ufunc:BIN:FN", handle_NUMBER)
`
	var text strings.Builder
	for i, part := range parts {
		filled := strings.NewReplacer("BIN", binary, "FN", function, "PART", part, "NUMBER", fmt.Sprint(i))
		text.WriteString(filled.Replace(probes))
	}
	seen := byFirstWord(startrace(t, "-q", script(t, text.String()), "-c", binary).ok(t).stdout)
	for i, part := range parts {
		of := func(way string) string { return strings.Join(seen[fmt.Sprintf("%s-%d", way, i)], " ") }
		want := of("entry")
		for _, way := range []string{"handler", "kernel", "named"} {
			if got := of(way); want == "" || strings.Contains(want, "<") || got != want {
				t.Errorf("%s, %s: got %s, want %s", part, way, got, want)
			}
		}
	}
}
