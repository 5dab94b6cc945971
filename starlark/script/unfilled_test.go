package script

import (
	"strings"
	"testing"
)

// A warning stands at the first assignment that reads what is never there.
func TestUnfilled(t *testing.T) {
	const never = " never gets an entry: "
	for src, want := range map[string]string{
		"t = table()\ndef f(e):\n    t[e.pid] = t[e.pid] + 1\n" +
			"    print(t, t.get(1), len(t))\n": "test.star:3:5: t" + never,
		"def main():\n    t = table(size = 5)\n    def f(e):\n" +
			"        if 1 in t:\n            t[2] = 3 * (t[1] + 1)\n": "test.star:5:13: t" + never,
		"t = table()\ndef f(e):\n    for k in t:\n        t[k] = -t[k]\n": "test.star:4:9: t" + never,

		"t = table()\ndef f(e):\n    t[1] = t[1] + 1\ndef g(e):\n    t[2] = 0\n":             "",
		"t = table()\nt.set(1, 0)\ndef f(e):\n    t[1] = t[1] + 1\n":                         "",
		"t = table()\ndef f(e):\n    t[1] += 1\n    t[1] = t[1] + 1\n":                       "",
		"t = table()\ndef f(e):\n    t[1] = t.get(1, 0) + 1\n":                               "",
		"t = table()\ndef f(e):\n    t[1] = t[1] + 1 if 1 in t else 1\n":                     "",
		"t = table()\ndef f(e):\n    t[1] = (1 in t and t[1]) or 5\n":                        "",
		"t = table()\nu = t\ndef f(e):\n    t[1] = t[1] + 1\n    u[1] = 0\n":                 "",
		"def fill(t):\n    t[1] = 1\nt = table()\ndef f(e):\n    t[1] = t[1] + 1\nfill(t)\n": "",
		"t = {}\ndef f(e):\n    t[1] = t[1] + 1\n":                                           "",
		"t = table()\ndef f(e):\n    return t[1]\n":                                          "",
	} {
		h, _, warnings := newTest()
		if err := h.ParseText("test.star", []byte(src)); err != nil {
			t.Fatal(err)
		}
		if err := h.Run(nil); err != nil {
			t.Errorf("%s\n%v", src, err)
		}
		if got := strings.Join(*warnings, "\n"); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot %q, want %q", src, got, want)
		}
	}
}
