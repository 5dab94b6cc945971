package accept

import (
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// > At a place in a function, as `uprobe:./shop:total+8`, `e.source` is the line of the instruction.
func TestSourceOfPlace(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"gcc -g -O0", "clang -g -O0"} {
		binary := need.Built(t, compiler, "place.c", `static volatile int sink;
int main(void) {
	sink = 1;
	sink = 2;
	return 0;
}
`)
		listed := startrace(t, "list", "-v", "uprobe:"+binary+":place.c:4").ok(t).stdout
		at := regexp.MustCompile(`address (0x[0-9a-f]+), in main`).FindStringSubmatch(listed)
		if at == nil {
			t.Fatal(listed)
		}
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("uprobe:BIN:AT", lambda e: print(e.func, e.source))
`, "BIN:AT", binary+":"+at[1])), "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); got != "main place.c:4" {
			t.Errorf("%s: got %q", compiler, got)
		}
	}
}
