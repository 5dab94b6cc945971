package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// computedPieces are values of pieces of memory whose lengths are computed at the event, and what they are where
// write() got 6 bytes that end a page behind which none is mapped.
var computedPieces = [][2]string{
	{`mem(e.args.buf, e.args.count)`, `b"/edge!"`},
	{`mem(e.args.buf, e.args.count + 1)`, "<fault>"},
	{`mem(e.args.buf, e.args.count - 6)`, `b""`},
	{`mem(e.args.buf, e.args.count - 7)`, "<fault>"},
	{`mem(e.args.buf + 1, e.args.count - 2)`, `b"edge"`},
	{`mem(e.args.buf, min(e.args.count, 3))`, `b"/ed"`},
	{`mem(0, e.args.count)`, "<fault>"},
	{`mem(e.args.buf, FAULT)`, "<fault>"},
	{`mem(e.args.buf, e.args.count)[5]`, "33"},
	{`mem(e.args.buf, e.args.count)[6]`, "<fault>"},
	{`mem(e.args.buf, e.args.count)[-6]`, "47"},
	{`mem(e.args.buf, e.args.count)[-7]`, "<fault>"},
	{`len(mem(e.args.buf, e.args.count))`, "6"},
	{`mem(e.args.buf, e.args.count) == b"/edge!"`, "True"},
	{`mem(e.args.buf, e.args.count) in (b"/edge", b"/edge!!")`, "False"},
	{`mem(e.args.buf, e.args.count) == mem(e.args.buf, 6)`, "True"},
	{`bool(mem(e.args.buf, e.args.count - 6))`, "False"},
	{`cstr(e.args.buf, e.args.count)`, "/edge!"},
	{`cstr(e.args.buf, e.args.count - 1)`, "/edge"},
	{`cstr(e.args.buf, e.args.count - 6)`, ""},
	{`cstr(e.args.buf, e.args.count + 1)`, "<fault>"},
	{`cstr(e.args.buf, -e.args.count)`, "<fault>"},
	{`cstr(e.args.buf, FAULT)`, "<fault>"},
	{`cstr(e.args.buf, e.args.count) == "/edge!"`, "True"},
	{`cstr(e.args.buf, e.args.count).startswith("/ed")`, "True"},
	{`cstr(e.args.buf, e.args.count).endswith("e!")`, "True"},
	{`"dg" in cstr(e.args.buf, e.args.count)`, "True"},
}

// The length of mem and cstr may be computed at the event, in both halves, and no byte behind it is read.
//
// > The number n can be computed at the event, and no byte behind it is read.
// > Where n is 0 they are empty, and where it is negative or FAULT they are FAULT.
// > An element that bytes of a computed length have not is FAULT.
// > With `min(n, 64)` a value takes no more room than 64 bytes, which a key and an event need.
// > Of an n that is computed at the event, the bytes behind it are not read.
func TestComputedPieces(t *testing.T) {
	needTracing(t)
	for _, point := range []string{"syscall:write", "t:syscalls:sys_enter_write"} {
		code := `where = lambda e: e.comm == "wl-edge" and e.args.count == 6` + "\n"
		for i, p := range computedPieces {
			code += fmt.Sprintf("f%[1]d = lambda e: %[2]s\nprobe(%[3]q, lambda e: print(\"user %[1]d\", %[2]s, "+
				"\"end\"), where = where)\nprobe(%[3]q, lambda e: print(\"kernel %[1]d\", e.value, \"end\"), "+
				"kernel = f%[1]d, where = where)\n", i, p[0], point)
		}
		code += fmt.Sprintf("probe(%[1]q, lambda e: print(\"where\", e.args.count), where = lambda e: "+
			"mem(e.args.buf, e.args.count) == b\"/edge!\")\n"+
			"n = count()\nprobe(%[1]q, kernel = lambda e: n[mem(e.args.buf, min(e.args.count, 64))].add(), "+
			"where = where)\n", point)
		e, _ := traced(t, code, nil, "edge", "/edge!")
		for i, p := range computedPieces {
			e.has(t, fmt.Sprintf("(?m)^user %d %s end$", i, regexp.QuoteMeta(p[1])))
			e.has(t, fmt.Sprintf("(?m)^kernel %d %s end$", i, regexp.QuoteMeta(p[1])))
		}
		e.has(t, "(?m)^where 6$")
		e.has(t, `(?m)^/edge! +1$`)
	}
}

// A computed length above the bound is cut there, and the value shows it.
//
// > Of a computed n above 4096 the first 4096 are read, and the value is printed with `…`,
// > as a string that was cut.
// A string that ended before is whole.
func TestComputedPiecesCut(t *testing.T) {
	needTracing(t)
	const code = `
both = lambda e: (len(mem(e.args.buf, e.args.count)), mem(e.args.buf, e.args.count), cstr(e.args.buf, e.args.count))
where = lambda e: e.args.count == 5000 or e.args.count == 4096
probe("syscall:write", lambda e: print("user", *both(e)), where = where)
probe("syscall:write", lambda e: print("kernel", *e.value), kernel = both, where = where)
`
	for content, want := range map[string]string{"\x00": "", "x": strings.Repeat("x", 4096)} {
		for count, mark := range map[int]string{5000: "…", 4096: ""} {
			file := filepath.Join(t.TempDir(), "content")
			if err := os.WriteFile(file, []byte(strings.Repeat(content, count)), 0o644); err != nil {
				t.Fatal(err)
			}
			command := fmt.Sprintf("dd if=%s of=/dev/null bs=%d count=1", file, count)
			e := startrace(t, "-q", "-e", code, "-c", command).ok(t)
			whole := strings.Trim(strconv.Quote(strings.Repeat(content, 4096)), `"`)
			text := want
			if text != "" { // else it ends at the first byte
				text += mark
			}
			for _, half := range []string{"user", "kernel"} {
				line := half + ` 4096 b"` + whole + `"` + mark + " " + text + "\n"
				if !strings.Contains(e.stdout, line) {
					t.Errorf("%d bytes %q: no line of %s ends as wanted:\n%.80s…", count, content, half, e.stdout)
				}
			}
		}
	}
}

// countedSource has a string of a language that keeps its length, as a protocol's buffer does, at the end of what is
// mapped.
const countedSource = `
#include <string.h>
#include <sys/mman.h>
struct text { const char *str; long len; };
__attribute__((noinline)) void take(struct text *s) { __asm__ volatile("" : : "r"(s) : "memory"); }
int main(void) {
	char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(m + 4096, 4096);
	struct text s = {memcpy(m + 4090, "ab\0cd\377", 6), 0};
	for (s.len = -1; s.len < 8; s.len++) take(&s);
	return 0;
}
`

// Lengths of a program are taken as those of a system call are. The bytes behind the end of a string may not be mapped.
//
// > A string ends at its first NUL, and what lies behind that need not be there.
func TestCountedTexts(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "counted.c", countedSource)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
both = lambda e: (e.args.s.len, mem(e.args.s.str, e.args.s.len), cstr(e.args.s.str, e.args.s.len))
probe("uprobe:BIN:take", lambda e: print("user", *both(e)))
probe("uprobe:BIN:take", lambda e: print("kernel", *e.value), kernel = both)
`, "BIN", binary)), "-c", binary).ok(t)
	want := []string{"-1 <fault> <fault>", `0 b"" `, `1 b"a" a`, `2 b"ab" ab`, `3 b"ab\x00" ab`,
		`4 b"ab\x00c" ab`, `5 b"ab\x00cd" ab`, `6 b"ab\x00cd\xff" ab`, "7 <fault> ab"}
	for _, half := range []string{"user", "kernel"} {
		for _, line := range want {
			if !strings.Contains(e.stdout, half+" "+line+"\n") {
				t.Errorf("no line %s %s in:\n%s", half, line, e.stdout)
			}
		}
	}
}
