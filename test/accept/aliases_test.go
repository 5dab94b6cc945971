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
// > Of several names in `{a,b}`, or in the points of one probe, it is the first, with a warning.
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

// A list of points warns as braces do, in the words of braces: the name that the script wrote second is never e.func.
func TestAliasesInLists(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "alias3.c", aliasSource)
	for _, list := range []struct{ first, second, name, want string }{
		{"uprobe:%orig", "uprobe:%alias1", "orig", "warning: uprobe:%alias1: orig and alias1 are one function"},
		{"uprobe:%_alias", "uprobe:%{orig,alias1}", "_alias", "warning: uprobe:%{orig,alias1}: _alias and orig are"},
		{"uretprobe:%alias1", "uretprobe:%orig", "alias1", "warning: uretprobe:%orig: alias1 and orig are one"},
		{"ufunc:%orig", "ufunc:%_alias", "orig", "warning: ufunc:%_alias: orig and _alias are one function"},
		{"ufunc:%*ali*", "ufunc:%_alias", "alias1", "warning: ufunc:%_alias: alias1 and _alias are one function"},
		{"ufunc:%_alias", "ufunc:%*li*", "_alias", "ufunc:%*li*: _alias and alias1 are one function"},
		{"ufunc:%orig", "ufunc:%ori*", "orig", ""},
		{"ufunc:%orig", "ufunc:%orig", "orig", ""},
		{"uprobe:%orig", "ufunc:%orig", "orig", ""},
	} {
		in := func(s string) string { return strings.ReplaceAll(s, "%", binary+":") }
		e := startrace(t, script(t, `probe(["`+in(list.first)+`", "`+in(list.second)+`"], lambda e: print(e.func))`),
			"-v", "-c", binary).ok(t)
		if strings.Trim(strings.ReplaceAll(e.stdout, list.name, ""), "\n") != "" {
			t.Errorf("%v: got %s", list, e.stdout)
		}
		told := strings.Join(strings.Fields(e.stderr), " ")
		if list.want == "" && strings.Contains(told, "one function") || !strings.Contains(told, in(list.want)) {
			t.Errorf("%v: got %s", list, e.stderr)
		}
	}
}
