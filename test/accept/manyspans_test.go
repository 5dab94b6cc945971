package accept

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A script may have more spans by thread than one program of the kernel has maps for: each pairs all that there is, and
// forgets threads that end.
func TestManySpansByThread(t *testing.T) {
	const text = `
n = count()

def pairs(i):
    probe(span("rawtracepoint:sys_enter", "rawtracepoint:sys_exit"), lambda e: n[i].add(), name = "p%%d" %% i,
          where = lambda e: e.start.args.id == %d)

[pairs(i) for i in range(%d)]
at_exit(lambda: print(len(n.items()), sorted(set([v for _, v in n.items()]))))
`
	const spans = 40
	e, _ := traced(t, fmt.Sprintf(text, unix.SYS_GETPPID, spans), nil, "getppid", "50")
	if want := fmt.Sprintf("%d [50]\n", spans); !strings.Contains(e.stdout, want) {
		t.Errorf("got:\n%s\nwant %s", e.stdout, want)
	}
}
