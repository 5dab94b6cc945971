package script

import (
	"strings"
	"testing"
)

// A chain without brackets has a level for each part, too.
func TestTooDeep(t *testing.T) {
	for _, code := range []string{
		"x = 1" + strings.Repeat(" + 1", 20000), "f = lambda e: e" + strings.Repeat(".a", 300000),
		"x = len" + strings.Repeat("()", 20000), "x = 1\nif x: pass\n" + strings.Repeat("elif x: pass\n", 20000),
	} {
		_, err := New(Options{}).parse("t.star", []byte(code))
		if err == nil || !strings.Contains(err.Error(), "this goes on for more than 10000 parts") {
			t.Errorf("%.30s: %v", code, err)
		}
	}
	if _, err := New(Options{}).parse("t.star", []byte("x = 1"+strings.Repeat(" + 1", 9000))); err != nil {
		t.Error(err)
	}
}

// Methods of strings multiply, too.
func TestTooLongText(t *testing.T) {
	for call, bytes := range map[string]string{
		`(a * 100000).replace("", a * 100000)`:          "10000200000",
		`(a * 100000).replace(a, a * 100000)`:           "10000000000",
		`(a * 100000).join([a] * 100000)`:               "10000000000",
		`("{0}" * 100000).format(a * 100000)`:           "10000300000",
		`("{b!r:}" * 100000).format(b = a * 100000)`:    "10000600000",
		`("{}{}" * 50000).format(*[a * 20000] * 99999)`: "2000180000",
	} {
		h := New(Options{})
		err := h.RunCode([]string{"a = 'a'", "x = " + call}, nil)
		if want := "this would be a string of " + bytes; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", call, err, want)
		}
	}
}

// > | elements that user code goes over at once, as by `list(range(n))` or a comprehension; that an operator gives a
// > list, as `[0] * n` and `x + x`; bytes of a string | 67108864; 4194304; 67108864 |
func TestTooLarge(t *testing.T) {
	const elements, text = " and 67108864 are the most", " and 67108864 are the most"
	const together = " and 4194304 are the most"
	for code, want := range map[string]string{
		"x = list(range(1 << 62))": "1:9: list: this goes over 4611686018427387904 elements at once," +
			elements,
		"x = tuple(range(1 << 62))":               "1:10: tuple: this goes over",
		"x = set(range(1 << 40))":                 "1:8: set: this goes over",
		"x = dict(range(1 << 40))":                "1:9: dict: this goes over",
		"x = sorted(range(1 << 40))":              "1:11: sorted: this goes over",
		"x = sorted(iterable = range(1 << 40))":   "1:11: sorted: this goes over",
		"x = sum(values = range(1 << 40))":        "1:8: sum: this goes over",
		"x = sum(**{'values': range(1 << 40)})":   "1:8: sum: this goes over",
		"x = reversed(range(1 << 40))":            "1:13: reversed: this goes over",
		"x = enumerate(range(1 << 40))":           "1:14: enumerate: this goes over",
		"x = zip(range(1 << 40), range(1 << 50))": "1:8: zip: this goes over",
		"x = min(range(1 << 40))":                 "1:8: min: this goes over",
		"x = sum(range(1 << 40))":                 "1:8: sum: this goes over",
		"x = [y for y in range(1 << 62)]":         "1:17: this goes over",
		"x = {y: 0 for y in range(1 << 62)}":      "1:20: this goes over",
		"print(*range(1 << 62))":                  "1:8: this goes over",
		"x = []\nx.extend(range(1 << 62))":        "2:9: this goes over",
		"x = []\nx += range(1 << 62)":             "2:3: this goes over",
		"x = {0: []}\nx[0] += range(1 << 62)":     "2:6: this goes over",
		"x = set()\nx = x.union(range(1 << 62))":  "2:12: this goes over",
		"x = \"ab\" * (1 << 40)":                  "1:10: this would be a string of 2199023255552 bytes," + text,
		"x = b\"ab\" * (1 << 40)":                 "1:11: this would be a bytes of 2199023255552 bytes," + text,
		"x = [0] * (1 << 40)":                     "1:9: this would be a list of 1099511627776 elements," + together,
		"x = (1 << 100) * (0, 1)": "1:16: this would be a tuple of 2535301200456458802993406410752 elements," +
			together,
		"x = \"ab\" * (1 << 25)\nx += \"a\"":       "2:3: this would be a string of 67108865 bytes," + text,
		"x = [0] * (1 << 22)\nx += x":              "2:3: this would be a list of 8388608 elements," + together,
		"x = [0] * (1 << 22)\nx = x + [0]":         "2:7: this would be a list of 4194305 elements," + together,
		"x = [0] * (1 << 22)\nx.extend(x)":         "2:9: this would be a list of 8388608 elements," + together,
		"x = [0]\nx *= 1 << 30":                    "2:3: this would be a list",
		"x = {0: [0]}\nx[0] *= 1 << 30":            "2:6: this would be a list",
		"def f(n):\n  return [0] * n\nf(1 << 30)":  "2:14: this would be a list",
		"f = lambda: [0] * 536870912\nx = f()":     "1:17: this would be a list",
		"x = [y for y in range(1 << 20)] * (1<<9)": "1:33: this would be a list of 536870912",
	} {
		h, _ := runTest(t, "")
		f, err := h.parse("t.star", []byte(code))
		if err == nil {
			_, err = h.exec(f)
		}
		if err = h.explain(err); err == nil || !strings.HasPrefix(err.Error(), "t.star:"+want) ||
			strings.Contains(err.Error(), "$") {
			t.Errorf("%q: %v, want t.star:%s", code, err, want)
		}
	}
}

// What is not too large is what it was.
func TestNotTooLarge(t *testing.T) {
	const code = `
many = range(1 << 62)
first = [x for x in range(20) if x > 17]
out = (3 * 4, 2 * "ab", [1] * 2, (0,) * -4, [] * 4, 2 * 3.5, max(range(10)), min(3, 2), zip([1], many),
       sorted([1, 3], reverse = True), list("ab".elems()), dict(a = 1), len(many), many[5], 7 in many, first)
`
	h, _ := runTest(t, "")
	f, err := h.parse("t.star", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	globals, err := h.exec(f)
	if err != nil {
		t.Fatal(err)
	}
	want := `(12, "abab", [1, 1], (), [], 7.0, 9, 2, [(1, 0)], [3, 1], ["a", "b"], {"a": 1}, 4611686018427387904, 5, ` +
		`True, [18, 19])`
	if got := globals["out"].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What has no elements, or is no list at all, is as the interpreter has it.
func TestNothingToTake(t *testing.T) {
	for _, name := range takeAll {
		for _, arg := range []string{`""`, `b""`, `"".elems()`, `"".codepoints()`, "()", "[]", "{}", "range(0)",
			"set()", "1"} {
			h := New(Options{})
			err := h.RunCode([]string{"x = " + name + "(" + arg + ")"}, nil)
			if empty := arg != `""` && arg != "1" && name != "min" && name != "max"; empty && err != nil {
				t.Errorf("%s(%s): %v", name, arg, err)
			}
		}
	}
}
