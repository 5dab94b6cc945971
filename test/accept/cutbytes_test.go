package accept

import (
	"slices"
	"strings"
	"testing"
)

// cutBytes are all ways in which a script shows bytes, and keys of both halves: of bytes that were cut, and of whole
// ones that are equal to them.
const cutBytes = `
t, n, own = table(), count(by = ("b",)), table()
row = columns(column = "%s", listed = "%s")
mine = lambda e: e.args.count in (4096, 4097) and e.ret > 0

def inKernel(e):
    b = mem(e.args.buf, e.args.count)
    t[b] = e.args.count
    n[b].add()

def h(e):
    b = mem(e.args.buf, e.args.count)
    own[b] = e.args.count
    own[(b, 1)] = -e.args.count
    print("json", e.args.count, json.encode(b)[-8:], json.encode([{"a": (b,)}])[-10:])
    print("text", e.args.count, (b[-2:],), len(b))
    d = b[-2:]
    texts = [repr(d), repr((d,))[1:-2], str([d])[1:-1], "%r" % d, "{!r}".format(d), sprintf("%q", d), sprintf("%r", d)]
    printf("texts %d %q %q %s\n", e.args.count, d, b[:2], [x for x in texts if x != texts[0]])
    row(b[-2:], (b[-2:],))

probe("syscall:write", inKernel, where = mine)
probe("syscall:write", h, where = mine)
probe("syscall:write", where = mine, kernel = lambda e: record(sent = mem(e.args.buf, e.args.count)))

def shows():
    for b in t.keys():
        print("kernel", len(b), t.get(b), n.get(b))
    for b in own.keys():
        print("user", len(b), own.get(b))

at_exit(shows)
`

// > Bytes of which there were more are printed with `…`. JSON has bytes as a list of numbers, in which the mark is a
// > last element, `"…"`. In keys they are not the whole bytes that are equal to them, in both halves.
func TestCutBytes(t *testing.T) {
	needTracing(t)
	for format, want := range map[string][]string{
		"text": {
			`json 4096 0,0,0,0] ,0,0,0]]}]`, `json 4097 0,"…"] ,"…"]]}]`,
			`text 4096 (b"\x00\x00",) 4096`, `text 4097 (b"\x00\x00"…,) 4096`,
			`texts 4096 b"\x00\x00" b"\x00\x00" []`, `texts 4097 b"\x00\x00"… b"\x00\x00" []`,
			`kernel 4096 4096 1`, `kernel 4096 4097 1`,
			`user 4096 4096`, `user 4096 4097`, `user 2 -4096`, `user 2 -4097`,
		},
		"json": {
			`{"column":[0,0],"listed":[[0,0]]}`, `{"column":[0,0,"…"],"listed":[[0,0,"…"]]}`,
		},
		"csv": nil,
	} {
		t.Run(format, func(t *testing.T) {
			run := func(text string) ended {
				return startrace(t, script(t, text), "-q", "--format", format, "-c",
					"sh -c 'for n in 4096 4097; do dd if=/dev/zero of=/dev/null bs=$n count=1 2>/dev/null; done'")
			}
			e := run(cutBytes)
			smallKeys := strings.Contains(e.stderr, "this kernel allows 512")
			if smallKeys {
				e = run(strings.ReplaceAll(cutBytes, `probe("syscall:write", inKernel`, `probe("syscall:write"`))
			}
			e.ok(t)
			lines := strings.Split(e.stdout, "\n")
			for _, line := range want {
				if !slices.Contains(lines, line) && !(smallKeys && strings.HasPrefix(line, "kernel ")) {
					t.Errorf("no line %q", line)
				}
			}
			marks, bytes := strings.Count(e.stdout, `0,"…"]`), strings.Count(e.stdout, "226,128,166")
			if format == "json" && (marks < 2 || bytes > 0) {
				t.Errorf("%d lists have a mark, want 2 at least; %d have its bytes", marks, bytes)
			}
			if t.Failed() {
				t.Logf("%s\n%s", e.stdout[max(0, len(e.stdout)-3000):], e.stderr)
			}
		})
	}
}
