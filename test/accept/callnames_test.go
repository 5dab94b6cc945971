package accept

import (
	"strings"
	"testing"
)

// At calls that a script names a test of the name cannot come to one without a name, whatever it tests: it says the
// same in both halves, of one call and of several, and of a name that was kept.
func TestNamesOfNamedCalls(t *testing.T) {
	needTracing(t)
	text := `
n = count()
def f(e):
    SEEN
    kept = e.func
    n[e.func, e.func.endswith("64"), e.func.startswith("p"), matches(e.func, "*[0-9]*"), "6" in e.func,
      e.func == "pread64", kept.endswith("64"), e.probe.endswith(("64", "at")), e.func in ("read", "pread64"),
      not e.func.endswith("d64"), "-" in e.probe].add()
for points in ["syscall:{read,pread64}", ["syscall:read", "syscall:pread64"], "syscall:pread*", "syscall:read"]:
    probe(points, f, where = lambda e: e.comm == "wl-raw")
`
	outputs := map[string]string{}
	for _, seen := range []string{"pass", `print("seen")`} {
		e, _ := traced(t, strings.Replace(text, "SEEN", seen, 1), []string{"-q"}, "raw", rawCall(t, "read", ",801,0,0"),
			rawCall(t, "pread64", ",801,0,0,0"))
		outputs[seen] = strings.Join(strings.Fields(strings.ReplaceAll(e.stdout, "seen\n", "")), " ")
		for _, want := range []string{
			"read False False False False False False False True True False 3",
			"pread64 True True True True True True True True False False 3",
		} {
			if !strings.Contains(outputs[seen], want) {
				t.Errorf("with %s there is no line %s:\n%s%s", seen, want, e.stdout, e.stderr)
			}
		}
	}
	if outputs["pass"] != outputs[`print("seen")`] {
		t.Errorf("the kernel half gives\n%s, the user half\n%s", outputs["pass"], outputs[`print("seen")`])
	}
}
