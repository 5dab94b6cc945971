package accept

import (
	"strings"
	"testing"
)

// mixedKinds calls f with a struct, and with what is none.
const mixedKinds = `
struct s { int i; _Bool b; char nm[8]; double d; };
__attribute__((noinline)) int f(struct s *p, struct s *q) {
	__asm__ volatile("" : : "r"(p), "r"(q) : "memory");
	return 0;
}
int main(void) {
	struct s x = {1, 1, "1", 1}, *none = (struct s *)8;
	return f(&x, &x) + f(&x, none) + f(none, &x) + f(none, none);
}
`

// Values of different kinds are equal where both are FAULT, and nowhere else, in both halves alike.
func TestComparedKindsThatMayBeFault(t *testing.T) {
	var kernel, user []string
	for _, l := range []string{"i", "b", "nm"} {
		for _, r := range []string{"i", "b", "nm"} {
			if l == r {
				continue
			}
			for _, op := range []string{"==", "!="} {
				pair := "e.args.p." + l + " " + op + " e.args.q." + r
				kernel, user = append(kernel, pair), append(user, pair)
			}
		}
	}
	got := printed(t, "gcc -g -O0", "kinds.c", mixedKinds, `
P = "uprobe:BIN:f"
probe(P, lambda e: print("|", e.value), kernel = lambda e: (`+strings.Join(kernel, ", ")+`))
probe(P, lambda e: print("|", (`+strings.Join(user, ", ")+`)))
`)
	differ := "| (" + strings.TrimSuffix(strings.Repeat("False, True, ", len(kernel)/2), ", ") + ")"
	same := "| (" + strings.TrimSuffix(strings.Repeat("True, False, ", len(kernel)/2), ", ") + ")"
	want := strings.Join([]string{differ, differ, differ, differ, differ, differ, same, same}, ", ")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
