package accept

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/tried"
)

// sharedValues are small values with long texts: what is in them is there once and is written often.
var sharedValues = map[string]string{
	"strings":  `["x" * 100000] * 1000`,
	"special":  `["\0" * 100000] * 300`,
	"tuples":   `nested()`,
	"dict":     `{str(i): text for i in range(1000)}`,
	"keys":     `{text: i for i in [1]} | {str(i): text for i in range(300)}`,
	"records":  `[record(a = text, b = text)] * 1000`,
	"bytes":    `[bytes("\0" * 100000)] * 300`,
	"integers": `[large()] * 3000`,
	"empty":    `[[]] * 1500000`,
}

const sharing = `text = "x" * 100000
def nested():
    a = ("a",)
    for i in range(40): a = [a, a]
    return a
def large():
    n = 1 << 500
    for i in range(7): n = n * n
    return n
print("kept")
V = %s
%s
`

// waysToWrite are all that write a value V.
var waysToWrite = []string{
	`print(V)`,
	`print("a", "b", V)`,
	`print(*list(V))`,
	`printf("%s\n", V)`,
	`printf("%v %v\n", 1, V)`,
	`sprintf("%s", V)`,
	`sprintf("%-10s%d", V, 1)`,
	`str(V)`,
	`repr(V)`,
	`"%s" % (V,)`,
	`"%r" % [V]`,
	`"%(v)s" % {"v": V}`,
	`"{}".format(V)`,
	`"{v!r}".format(v = V)`,
	`json.encode(V)`,
	`json.encode({"v": V})`,
	`json.encode_indent(V)`,
	`fail(V)`,
	`fail("a", V)`,
	`show(V)`,
	`show({"v": V})`,
	`show({(1, "v"): V}, percent = True)`,
	`columns(a = "%d", v = "%s")(1, V)`,
	`c = cell(None)
c.set(V)
show(c)`,
	`at_exit(lambda: print(V))`,
	`at_exit(lambda: printf("%s", V))`,
}

// longByFormat are texts that are long for what writes them, and not for the values.
var longByFormat = []string{
	`printf("%10000d" * 10000, *[1] * 10000)`,
	`sprintf("%*d" * 5000, *[5000] * 10000)`,
	`sprintf("%.*f" * 5000, *[5000, 1.5] * 5000)`,
	`sprintf("%.9999f" * 5000, *[1.5] * 5000)`,
	`sprintf("%s" * 1000000, *["a"] * 1000000)`,
	`sprintf("% x" * 1000, *[text[:9000]] * 1000)`,
	`sprintf("%q" * 1000, *["\0" * 9000] * 1000)`,
	`("{0}" * 1000).format(text)`,
	`("{0}" * 1000).format([text])`,
	`("{}{}" * 1000).format(*[(text, text)] * 2000)`,
	`("{a}" * 1000).format(a = {1: text})`,
	`("%(a)s" * 1000) % {"a": text}`,
	`("%(a)s%(b)r" * 1000) % {"a": 1, "b": [text]}`,
	`print(sep = text, *[1] * 1000)`,
	`print(*[text] * 3000)`,
	`fail(sep = text, *[1] * 1000)`,
	`fail(*[text] * 3000)`,
	`show({text: 1} | {i: i for i in range(1000)})`,
	`show({(text, 1): 5000} | {(i, i): i for i in range(1000)}, top = 900)`,
	`show({1: range(1 << 30)})`,
	`json.encode(range(1 << 30))`,
	`json.encode_indent([[1] * 100] * 100, indent = text)`,
	`json.encode_indent([1] * 10000, prefix = text)`,
	`json.indent("[" * 5000 + "]" * 5000)`,
	`json.indent("[" + "1," * 1000 + "1]", indent = text)`,
	`json.encode("\0" * 3000000)`,
	`repr("\0" * 3000000)`,
	`repr(bytes("\0" * 3000000))`,
	`print("\0" * 3000000)`,
	`announce("\0" * 3000000)`,
	`"\n".join(["\0" * 1000000] * 9)`,
	`("\0" * 4000000).upper()`,
	`"\0" * 9000000`,
}

// What writes values stays within the memory that a run was given, however often a value is written that is there
// once: a text for which there is no room is refused before it is made, and what was printed before is kept.
func TestWritingStaysWithinMemory(t *testing.T) {
	tests := 0
	step := 3 // else each way with some of the values
	if soak(t) > 1 {
		step = 1
	}
	for i, name := range slices.Sorted(maps.Keys(sharedValues)) {
		for j := i % step; j < len(waysToWrite); j += step {
			way, shared := waysToWrite[j], sharedValues[name]
			if strings.Contains(way, "*list(V)") && (name == "dict" || name == "keys") {
				continue // its keys are short
			}
			refusesToWrite(t, fmt.Sprintf(sharing, shared, way))
			tests++
		}
	}
	for _, way := range longByFormat {
		refusesToWrite(t, fmt.Sprintf(sharing, "None", way))
		tests++
	}
	for _, format := range []string{"json", "csv", "folded"} {
		for _, way := range []string{`show({"v": V})`, `columns(a = "%d", v = "%s")(1, V)`, `print(V)`} {
			refusesToWrite(t, fmt.Sprintf(sharing, sharedValues["special"], way), "--format", format)
			tests++
		}
	}
	tried.Many(t, "%d ways to write values", tests)
}

// refusesToWrite runs a script that prints a word and then would write too much.
func refusesToWrite(t *testing.T, code string, flags ...string) {
	t.Helper()
	const budget = 64 << 20
	flags = append(flags, "--memory", "64M", "-e", code)
	out, peak, err := withPeak(t, flags...)
	if err == nil || !strings.Contains(string(out), "kept") || !refused(out) ||
		!strings.Contains(string(out), "-e:") {
		t.Errorf("%s: %v: %s", code, err, excerpt(string(out)))
	}
	if peak > budget {
		t.Errorf("%s: %d MB were resident, of 64 MB: %s", code, peak>>20, excerpt(string(out)))
	}
}

// Values that are nested deep are written, and those that are deeper refused with a message.
func TestWritingOfDeepValues(t *testing.T) {
	ways := []string{`print(V)`, `printf("%s", V)`, `sprintf("%s", V)`, `str(V)`, `repr(V)`, `"%s" % (V,)`,
		`"{}".format(V)`, `json.encode(V)`, `fail(V)`, `show([V])`, `columns(v = "%s")(V)`}
	kinds := []string{"[V]", "(V,)", `{"v": V}`, "record(v = V)"}
	for i, way := range ways {
		for j, depth := range []int{1000, 20_000} {
			code := fmt.Sprintf("print(\"kept\")\nV = []\nfor i in range(%d): V = %s\n%s\n", depth,
				kinds[(i+j)%len(kinds)], way)
			out, err := exec.Command(program(t, "startrace"), "-e", code).CombinedOutput()
			refused := strings.Contains(string(out), "-e:4:") && strings.Contains(string(out), "nested more than")
			failed := err != nil && !strings.Contains(way, "fail")
			if !strings.HasPrefix(string(out), "kept\n") || refused != (j == 1) || !refused && failed {
				t.Errorf("%s: %v: %s", code, err, excerpt(string(out)))
			}
		}
	}
	tried.Many(t, "%d ways to write values", len(ways))
}
