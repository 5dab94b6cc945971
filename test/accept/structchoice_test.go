package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What is taken of one of two structs that lie in others is the same in both halves, also where one of them is nowhere.
func TestOneOfTwoStructs(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <stddef.h>
struct leaf { char name[8]; int w; };
struct em { int y, z : 7; struct leaf leaf; };
struct big { long pad; struct em em, other; };
__attribute__((noinline)) int look(struct big *p, struct big *q, int c) { asm volatile(""); return p->em.z + c; }
int main() {
	struct big a = {1, {2, 3, {"four", 5}}, {6, 7, {"eight", 9}}};
	struct big b = {11, {12, 13, {"fourteen", 15}}, {16, 17, {"x", 19}}};
	look(&a, &b, 0);
	look(&a, &b, 1);
	look(&a, NULL, 0);
}
`
	binary := need.Built(t, "gcc -g -O0", "structs.c", source)
	const one, two = "e.args.p.em if e.args.c else e.args.q.em", "e.args.q.other if e.args.c else e.args.p.em"
	var text strings.Builder
	var want []string
	values := map[string]string{
		"(" + one + ").z": "13 3 <fault>", "(" + one + ").leaf.w": "15 5 <fault>",
		"(" + two + ").leaf.name":                            "four x four",
		"(" + one + ").leaf.name":                            "fourteen four <fault>",
		"((" + one + ") if e.args.c < 5 else e.args.p.em).y": "12 2 <fault>",
	}
	for expr, each := range values {
		fmt.Fprintf(&text, `
probe("uprobe:%[1]s:look", lambda e: print("%[2]s kernel", e.value), kernel = lambda e: %[2]s)
probe("uprobe:%[1]s:look", lambda e: print("%[2]s user", %[2]s))
`, binary, expr)
		for _, v := range strings.Fields(each) {
			want = append(want, expr+" kernel "+v, expr+" user "+v)
		}
	}
	fmt.Fprintf(&text, `
def kept(e):
    if e.args.c:
        s = e.args.p.em
    else:
        s = e.args.q.other
    return s.z

probe('uprobe:%s:look', lambda e: print('kept', e.value), kernel = kept)
`, binary)
	want = append(want, "kept 17", "kept 3", "kept <fault>")
	e := startrace(t, "-q", script(t, text.String()), "-c", binary).ok(t)
	for _, line := range want {
		if !strings.Contains("\n"+e.stdout, "\n"+line+"\n") {
			t.Errorf("no %q in\n%s", line, e.stdout)
		}
	}
}
