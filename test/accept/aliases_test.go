package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const aliasSource = `
__attribute__((noinline)) int orig(int a) { __asm__ volatile(""); return a; }
int alias1(int a) __attribute__((alias("orig"))); int _alias(int a) __attribute__((alias("orig")));
int main(void) { return orig(1) - alias1(1); }
`

// By which of its names a function is known, by how the script wrote it.
//
// > A function with several names is one point.
// > `e.func` is the name that the script wrote.
// > Of several names in `{a,b}` it is the first, with a warning.
// > Behind `*` it is the name with the fewest underscores in front, and of several such names the first by the
// > alphabet.
func TestFunctionNames(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "alias.c", aliasSource)
	for pattern, want := range map[string]string{
		"orig": "orig", "alias1": "alias1", "_alias": "_alias", "{orig,alias1}": "orig", "{alias1,orig}": "alias1",
		"{_alias,orig,alias1}": "_alias", "*ali*": "alias1", "{or,_al}i*": "orig",
	} {
		e := startrace(t, script(t, `probe("ufunc:`+binary+`:`+pattern+`", lambda e: print(e.func), `+
			`where = lambda e: e.func == "`+want+`")`), "-c", binary).ok(t)
		if e.stdout != want+"\n"+want+"\n" {
			t.Errorf("%s: got %s, want %s for each of two calls", pattern, e.stdout, want)
		}
		if warned := strings.Contains(e.stderr, " are one function: e.func is "+want); warned !=
			(pattern[0] == '{' && !strings.Contains(pattern, "*")) {
			t.Errorf("%s: got %s", pattern, e.stderr)
		}
	}
}

// The warning names all functions that the script names twice.
func TestAllAliases(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "alias2.c", aliasSource+`
__attribute__((noinline)) int second(int a) { __asm__ volatile(""); return a; }
int second2(int a) __attribute__((alias("second")));
`)
	e := startrace(t, script(t, `probe("ufunc:`+binary+`:{orig,alias1,second,second2}", lambda e: print(e.func))`),
		"-c", binary).ok(t)
	const want = "orig and alias1 are one function: e.func is orig; " +
		"second and second2 are one function: e.func is second"
	if !strings.Contains(e.stderr, want) {
		t.Errorf("got %s, want %s", e.stderr, want)
	}
}
