package accept

import (
	"fmt"
	"strings"
	"testing"
)

// roomyContainers are tables and cells of which kernel halves have constant strings alone: how they are made, what a
// kernel half does with them, what user code gives X.set(), and how it finds that.
var roomyContainers = []struct{ made, kernel, put, got string }{
	{`cell("all")`, `X.get()`, `LONG`, `X.get()`},
	{`cell(("all", 1))`, `X.get()`, `(LONG, 2)`, `X.get()[0]`},
	{`cell(record(a = "all"))`, `X.get()`, `record(a = LONG)`, `X.get().a`},
	{`cell(b"all")`, `X.get()`, `bytes(LONG)`, `str(X.get())`},
	{`table()`, `X.get("k")`, `LONG, 1`, `[k for k in X if X[k] == 1][0]`},
	{`table()`, `X.get(("k", 1))`, `(LONG, 1), 1`, `X.keys()[0][0]`},
	{`table()`, `X.get(record(k = "k", n = 1))`, `record(k = LONG, n = 1), 1`, `X.keys()[0].k`},
	{`table()`, `X.get(1, "off")`, `1, LONG`, `X[1]`},
	{`cell(None)`, `X.set("on") if e.args.fd == 1 else None`, `LONG`, `X.get()`},
	{`table()`, `X.set(e.func, 1) if e.args.fd == 1 else None`, `LONG, 1`, `X.keys()[0]`},
	{`table()`, `X.set(1, "on" if e.pid else "off") if e.args.fd == 1 else None`, `1, LONG`, `X[1]`},
	{`table()`, `X.set(1, record(a = "on", b = 1)) if e.args.fd == 1 else None`, `1, record(a = LONG, b = 2)`,
		`X[1].a`},
}

// roomyWriters are the ways in which user code puts something there: PUT is what does it.
var roomyWriters = map[string]string{
	"top level":           "PUT\n",
	"main":                "def main():\n    PUT\n",
	"at_exit":             "at_exit(lambda: PUT)\n",
	"timer":               "after(\"1ms\", lambda: PUT)\nat_exit(lambda: PUT)\n",
	"helper":              "def put(X):\n    PUT\nat_exit(lambda: put(X))\n",
	"function in a list":  "puts = [lambda: PUT]\nat_exit(lambda: [f() for f in puts])\n",
	"method with a name":  "put = X.set\ndef by_name():\n    X = record(set = put)\n    PUT\nat_exit(by_name)\n",
	"method by getattr":   "def by_getattr():\n    x = getattr(X, \"set\")\n    x(PUTS)\nat_exit(by_getattr)\n",
	"container in a list": "list_of = [X]\ndef of_list():\n    for X in list_of:\n        PUT\nat_exit(of_list)\n",
	"timer of a handler": "def later(e):\n    at_exit(lambda: [PUT, done()])\n    print(e.comm)\n" +
		"probe('syscall:close', later, where = lambda e: e.comm == 'wl-raw' and e.args.fd == 0x801)\n",
	"handler": "def soon(e):\n    PUT\n    print(e.comm)\n" +
		"probe('syscall:close', soon, where = lambda e: e.comm == 'wl-raw' and e.args.fd == 0x801)\n",
}

// What user code puts into tables and cells has the usual room where kernel halves have constants alone.
//
// > Where kernel halves have constants alone, user code can put strings there up to the limit of captured strings, and
// > what its last 8 bytes have room for: 263 bytes with the limit 256, and 15 with `limits(string = 8)`.
func TestRoomForStringsOfUserCode(t *testing.T) {
	needTracing(t)
	for name, writer := range roomyWriters {
		for i, c := range roomyContainers {
			if name == "handler" && strings.Contains(c.kernel, "X.set") {
				continue // a handler in user space that changes what the kernel changes is refused
			}
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				text := `
X = MADE
LONG = "long" * 20
def done():
    print("room", GOT == LONG)
probe("syscall:close", kernel = lambda e: (KERNEL) != None, where = lambda e: e.args.fd == 1)
` + writer
				if name != "timer of a handler" {
					text += "at_exit(done)\n"
				}
				text = strings.NewReplacer("MADE", c.made, "KERNEL", c.kernel, "PUTS", c.put, "PUT", "X.set("+c.put+")",
					"GOT", c.got).Replace(text)
				e, _ := traced(t, text, []string{"-q"}, "raw", rawCall(t, "close", ",801"))
				e.has(t, `(?m)^room True$`)
			})
		}
	}
}

// The room for strings of user code has a byte for their end, and is a multiple of 8 bytes.
func TestRoomOfLimits(t *testing.T) {
	needTracing(t)
	for limits, room := range map[string]int{"": 263, "limits(string = 8)": 15, "limits(string = 7)": 7,
		"limits(string = 300)": 303} {
		for _, kept := range []string{`cell("all")`, `cell(("all", 1))`} {
			value := "STRING"
			if strings.Contains(kept, "(\"all\", 1)") {
				value = "(STRING, 1)"
			}
			text := limits + "\nX = " + kept + `
probe("syscall:close", kernel = lambda e: X.get() != None, where = lambda e: e.args.fd == 1)
def put(n):
    X.set(` + strings.ReplaceAll(value, "STRING", `"a" * n`) + fmt.Sprintf(`)
    print("put", n)
at_exit(lambda: put(%d))
at_exit(lambda: put(%d))
`, room, room+1)
			e := startrace(t, "-q", script(t, text), "-c", "true")
			if want := fmt.Sprintf("put %d\n", room); e.stdout != want {
				t.Errorf("%s, %s: got %q, want %q", limits, kept, e.stdout, want)
			}
			refused := fmt.Sprintf("got a string of %d bytes, want at most %d", room+1, room)
			if !strings.Contains(e.stderr, refused) {
				t.Errorf("%s, %s: not found: %s\n%s", limits, kept, refused, e.stderr)
			}
		}
	}
}
