package accept

import (
	"fmt"
	"strings"
	"testing"
)

// Loops within loops compute with parts of the event, though each of 400 rounds stands in the program: what is equal in
// many rounds is computed anew, and not kept on the stack from the first to the last of them.
func TestNestedLoopsOverTheEvent(t *testing.T) {
	needTracing(t)
	for _, c := range []struct {
		key string
		of  func(count, fd, i, j int) int
	}{
		{"e.args.count + i * j", func(count, _, i, j int) int { return count + i*j }},
		{"(e.args.count + i) * j", func(count, _, i, j int) int { return (count + i) * j }},
		{"e.args.count * i + e.args.fd * j", func(count, fd, i, j int) int { return count*i + fd*j }},
		{"(e.args.count & 3) + (e.args.fd ^ i * j)", func(count, fd, i, j int) int { return count&3 + (fd ^ i*j) }},
	} {
		want := map[int]int{}
		for i := range 20 {
			for j := range 20 {
				want[c.of(3, 1, i, j)]++
			}
		}
		e := startrace(t, "-q", script(t, `
n = count()
def f(e):
    for i in range(20):
        for j in range(20):
            n[`+c.key+`].add()
probe("t:syscalls:sys_enter_write", f, where = lambda e: e.args.count == 3 and e.args.fd == 1)
at_exit(lambda: print("map" + str(n.items())))
`), "-c", "echo hi").ok(t)
		got := map[int]int{}
		_, items, _ := strings.Cut(e.stdout, "map[")
		for _, item := range strings.Split(strings.Trim(items, "[]()\n"), "), (") {
			var key, n int
			if _, err := fmt.Sscanf(item, "%d, %d", &key, &n); err != nil {
				t.Fatalf("%s: %q: %v", c.key, item, err)
			}
			got[key] = n
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", c.key, got, want)
		}
	}
}
