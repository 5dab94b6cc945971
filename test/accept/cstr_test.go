package accept

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// cstr(p, n) is the first n bytes, cut where there are more, whether p is an address or a string by itself, in both
// halves; it needs no more of them than n to be readable.
func TestFirstBytes(t *testing.T) {
	needTracing(t)
	const text, comm = "/edge!", "wl-edge"
	var parts, want []string
	first := func(expr, of string, known bool) {
		for _, n := range []int{1, len(of) - 1, len(of), len(of) + 1} {
			parts = append(parts, fmt.Sprintf("cstr(%s, %d)", expr, n))
			switch {
			case n < len(of), n == len(of) && !known:
				want = append(want, of[:n]+"…")
			case known:
				want = append(want, of)
			default:
				want = append(want, "<fault>")
			}
		}
	}
	first("e.args.args[1]", text, false)
	first("e.comm", comm, true)
	first("e.task.comm", comm, true)
	check := func(point, condition string) {
		t.Helper()
		script := ""
		for i, part := range parts {
			script += fmt.Sprintf("f%d = lambda e: %[2]s\nprobe(%[3]q, lambda e: print(\"user %[1]d\", %[2]s), "+
				"where = where)\nprobe(%[3]q, lambda e: print(\"kernel %[1]d\", e.value), kernel = f%[1]d, "+
				"where = where)\n", i, part, point)
		}
		e, _ := traced(t, "where = lambda e: "+condition+"\n"+script, nil, "edge", text)
		for i := range parts {
			e.has(t, fmt.Sprintf("(?m)^user %d %s$", i, want[i]))
			e.has(t, fmt.Sprintf("(?m)^kernel %d %s$", i, want[i]))
		}
	}
	check("t:raw_syscalls:sys_enter", `e.comm == "wl-edge" and int32(e.args.args[0]) == -1`)
	parts, want = nil, nil
	first("e.args.buf", text, false)
	first("e.start.args.buf", text, false)
	check("syscall:write", `e.comm == "wl-edge" and e.args.count == 6`)
}

// No string of the kernel is equal to one with a NUL or has it, and a kernel half keeps none: it would end there.
//
// > No such string is equal to a constant that has a NUL, or contains one.
// > A kernel half refuses such a constant.
func TestConstantsWithNUL(t *testing.T) {
	needTracing(t)
	const tests = `e.comm == C, C != e.comm, e.comm in (C, "x"), e.comm.startswith(C), e.comm.endswith(C), ` +
		`C in e.comm, matches(e.comm, C), matches(e.comm, "*" + C), (e.comm, 1) == (C, 1), D.get(e.comm), ` +
		`e.task.comm == C, ` +
		`e.task.comm.startswith(C)`
	for _, c := range []string{`"wl-edge\x00"`, `"wl-edge\x00b"`, `"\x00"`, `"e\x00"`} {
		script := strings.ReplaceAll(`
D = {C: 1}
probe("syscall:write", lambda e: print("user", TESTS), where = lambda e: e.comm == "wl-edge")
probe("syscall:write", lambda e: print("kernel", *e.list), kernel = lambda e: record(list = (TESTS)),
      where = lambda e: e.comm == "wl-edge")
`, "TESTS", tests)
		e, _ := traced(t, strings.ReplaceAll(script, "C", c), nil, "edge", "text")
		const want = "False True False False False False False False False None False False"
		e.has(t, "(?m)^user "+want+"$")
		e.has(t, "(?m)^kernel "+want+"$")
	}
	for _, use := range []string{
		`n[C].add()`, `t.set(C, 1)`, `t.set(1, C)`, `t.set((1, C), 1)`, `t.get(C)`, `t.set("a" if e.pid else C, 1)`,
		`c.set(C)`, `C < e.comm`, `record(a = C if e.pid else "")`,
	} {
		use = strings.ReplaceAll(use, "C", `"a\x00b"`)
		e := startrace(t, "-e", `n, t, c = count(), table(), cell("")`, "-e",
			`probe("syscall:write", kernel = lambda e: `+use+`)`, "-c", "true")
		if e.status != failedBeside ||
			!strings.Contains(e.stderr, "a string with a NUL cannot be kept in a kernel half") {
			t.Errorf("%s: status %d: %s", use, e.status, e.stderr)
		}
	}
}

// > A string that was cut is the bytes that were read.
//
// A string without a NUL that ends with its mapping is cut at the limit, where that many bytes are there.
func TestStringsAtTheEdge(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `
#include <string.h>
#include <sys/mman.h>
struct named { char *name; };
__attribute__((noinline)) void take(const char *s, struct named *n) { __asm__ volatile("" ::: "memory"); }
int main(void) {
	char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	memset(page, 'a', 4096);
	for (int n = 7; n <= 10; n++) {
		struct named s = {page + 4096 - n};
		take(s.name, &s);
	}
	page[4095] = 0;
	struct named s = {page + 4096 - 9};
	take(s.name, &s);
	return 0;
}
`
	const probes = `
limits(string = 8)
def texts(e): return (e.args.s, e.args.n.name, cstr(e.args.s), cstr(e.args.n.name, 8))
probe("POINT:BIN:take", lambda e: print(*texts(e)))
probe("POINT:BIN:take", lambda e: print(*e.value), kernel = texts)
`
	const fault, cut, whole = "<fault>", "aaaaaaaa…", "aaaaaaaa"
	binary := need.Built(t, "gcc -g -O1", "take.c", source)
	want := ""
	for _, text := range []string{fault, cut, cut, cut, whole} {
		line := strings.Join([]string{text, text, text, text}, " ") + "\n"
		want += line + line
	}
	for _, point := range []string{"uprobe", "ufunc"} {
		text := strings.NewReplacer("POINT", point, "BIN", binary).Replace(probes)
		shows(t, want, "-q", script(t, text), "-c", binary)
	}
}
