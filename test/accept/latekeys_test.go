package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// mixedScript has a handler of calls from begins to ends.
const mixedScript = `
T = table()
L = [1, 2]
def h(e):
    BEFORE
    CHANGE
probe(span("uprobe:BINARY:begins", "uprobe:BINARY:ends", key = lambda e: e.args.a), h)
at_exit(lambda: print("END", sorted([str(x) for x in T.items()])))
`

// Handlers that are late write what they would write anywhere: parts of the event beside what only user space knows,
// also where the walk has asked before whether the kernel could make the change.
func TestLateChangesOfMixedParts(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O1", "mixed.c", `
#define CALL(name) __attribute__((noinline)) void name(long a, long b) \
	{ __asm__ volatile("" :: "r"(a), "r"(b) : "memory"); }
CALL(begins) CALL(ends) CALL(asks)
int main(void) {
	for (long i = 1; i < 6; i++) {
		begins(i, 10 * i);
		ends(i, 100 * i);
		asks(i, 0);
	}
	return 0;
}
`)
	// The changes, and what a kernel half asks of the table.
	changes := map[string]string{
		`T[(e.start.args.b + len(L)) % 7] = e.args.b`:                    `T.get(e.args.a) == 1`,
		`T[len(L), e.start.args.b] = e.args.b`:                           `(e.args.a, 1) in T`,
		`T[e.args.b] = e.start.args.b * len(L)`:                          `e.args.a in T`,
		`T.set((e.start.args.b, e.args.a + len(L)), e.start.args.a)`:     `(e.args.a, 1) in T`,
		`T.add(e.start.args.b + e.args.b + len(L), e.start.args.a)`:      `e.args.a in T`,
		`T[e.args.a] = (e.start.args.b if len(L) > 1 else 0) + e.args.b`: `e.args.a in T`,
		`T[str(e.start.args.b) + str(len(L))] = [e.args.b][0]`:           `"10" in T`,
	}
	for _, before := range []string{``, `print("H", e.args.a)`, `print("H", e.start.args.a, e.args.a + len(L))`} {
		for change, ask := range changes {
			t.Run(before+";"+change, func(t *testing.T) {
				run := func(reader string) string {
					names := strings.NewReplacer("BEFORE", strings.TrimSpace(before+"\n    pass"), "CHANGE", change,
						"ASK", ask, "BINARY", binary)
					text := names.Replace(mixedScript + reader)
					return startrace(t, "-q", script(t, text), "-c", binary).ok(t).stdout
				}
				const reader = `probe("uprobe:BINARY:asks", lambda e: sprintf("x"), where = lambda e: ASK)`
				if alone, late := run(""), run(reader); alone != late || !strings.Contains(alone, "END [") {
					t.Errorf("alone:\n%s\nasked by a kernel half:\n%s", alone, late)
				}
			})
		}
	}
}
