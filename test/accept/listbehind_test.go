package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What is known behind the start of a function: its variables, and not its arguments.
func TestListBehindStart(t *testing.T) {
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O0", "add.c", "long add(long a, long b) { long sum = a + b; return sum; }\n"+
		"int main(void) { return add(1, 2) != 3; }\n")
	found := ""
	for offset := 1; offset < 16 && found == ""; offset++ { // some of them are within instructions
		name := fmt.Sprintf("uprobe:%s:add+%d", binary, offset)
		if e := startrace(t, "list", "-v", name); e.status == 0 {
			found = e.stdout
			if !strings.HasPrefix(found, name+"\n") {
				t.Errorf("got %s, want %s", found, name)
			}
		}
	}
	for _, want := range []string{"e.source", "e.vars.a", "e.vars.b", "e.vars.sum"} {
		if !strings.Contains(found, want) {
			t.Errorf("got %s, want %s in it", found, want)
		}
	}
	if strings.Contains(found, "e.args") {
		t.Errorf("got %s, want no arguments", found)
	}
	e := startrace(t, "list", "uprobe:"+binary+":add+1000")
	if e.status == 0 || !strings.Contains(e.stderr, "ends before") {
		t.Errorf("got %d: %s%s", e.status, e.stdout, e.stderr)
	}
}
