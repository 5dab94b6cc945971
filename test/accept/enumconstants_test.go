package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const itemsOfKinds = `
struct item { int kind, n; };
__attribute__((noinline)) void take(struct item *i) { asm volatile("" : : "r"(i) : "memory"); }
int main(void) { int k[] = {0, 7, 8, 7}; for (int i = 0; i < 4; i++) { struct item x = {k[i], i}; take(&x); } }
`

// Constants of enums of a script are numbers in both halves, and names of the values of fields.
//
// > The constants of the enums in a text are the fields of what `types` returns.
// > A field of such an enum is a number, of which `names` is the name.
// > Its value is a record of the constants of its enums.
func TestConstantsOfScriptEnums(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc", "en.c", itemsOfKinds)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(constantsOfEnums, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, lines(e.stdout), []string{"record(SMALL = 0, LARGE = 7, HUGE = 8, FLAG = 16) 7 24", "False SMALL",
		"False LARGE", "True HUGE", "False LARGE", `[(("HUGE", False), 1), (("LARGE", True), 2)]`})
	e = startrace(t, "-q", "-e", `k = types("enum e { A, B = X };")`, "-e", "print(k.A)", "-c", "true")
	if !strings.Contains(e.stderr, "-e:1:28: no constant X is known") {
		t.Errorf("a mistake is told as %s", e.stderr)
	}
}

const constantsOfEnums = `
kinds = types("""
enum kind { SMALL, LARGE = 7, HUGE };
struct item { enum kind kind; int n; };
enum { FLAG = 1 << 4 };
""")
more = types("enum more { LAST = HUGE + FLAG };")
print(kinds, kinds.LARGE, more.LAST)
n = count()
def seen(e):
    i = cast("struct item", e.args[0])
    n[names(i.kind), i.kind == kinds.LARGE].add()
probe("uprobe:BIN:take", seen, where = lambda e: cast("struct item", e.args[0]).kind != kinds.SMALL)
def shown(e):
    i = cast("struct item", e.args[0])
    print(i.kind == kinds.HUGE, names(i.kind))
probe("uprobe:BIN:take", shown)
at_exit(lambda: print(sorted([k for k in n.items()])))
`
