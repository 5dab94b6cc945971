package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const kindsSource = `
#include <stdbool.h>
#define PROBED __attribute__((noinline))
struct both { const char *name; bool is; };
enum side { LEFT, RIGHT };
PROBED bool is(bool b, int n) { __asm__ volatile(""); return b && n; }
PROBED const char *text(const char *of, char c) { __asm__ volatile(""); return c ? of : 0; }
PROBED enum side side(enum side s) { __asm__ volatile(""); return s; }
PROBED unsigned char octet(unsigned char c) { __asm__ volatile(""); return c; }
PROBED struct both *both(struct both *b) { __asm__ volatile(""); return b; }
PROBED void none(long n) { __asm__ volatile(""); }
int main(void)
{
	static char of[3]; // of a page that is there
	struct both b = { of, true };

	of[0] = 'o';
	is(true, 1); text(of, 'c'); side(RIGHT); octet(200); both(&b); none(5);
	return 0;
}
`

// What list -v says of a field is the type that a script finds there: of arguments and results of all kinds.
func TestListedKindsOfUser(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "kinds.c", kindsSource)
	const functions = "{is,text,side,octet,both,none}"
	scriptTypes := map[string]string{"int": "int", "bool": "bool", "string": "string", "pointer": "int",
		"None": "NoneType"}
	var probes strings.Builder
	var want []string
	for _, p := range listed(t, "-v", "ufunc:"+binary+":"+functions) {
		for _, f := range p.Fields {
			kind, known := scriptTypes[f.Type]
			if !known || f.Name == "e.duration" || f.Name == "e.depth" {
				continue
			}
			fmt.Fprintf(&probes, "probe(%q, lambda e: print(%q, type(%s)))\n", p.Point, f.Name+" of "+p.Point, f.Name)
			want = append(want, f.Name+" of "+p.Point+" "+kind)
		}
	}
	if len(want) < 15 {
		t.Fatalf("only %d fields: %q", len(want), want)
	}
	e := startrace(t, "-q", script(t, probes.String()), "-c", binary).ok(t)
	slices.Sort(want)
	equalLines(t, sorted(e.stdout, ""), want)
}
