package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// orders has values of types of which its debug information is left out.
const orders = `
#include <string.h>
struct cust { char *name; int age; struct cust *next; };
enum color { RED, GREEN = 5 };
struct order {
	unsigned id; char *name; struct { short x, y; } at; unsigned a : 3, b : 7; enum color c; char tag[8];
	union { int i; float f; }; struct cust *who; struct cust list[2]; double total; unsigned char m[2][3];
};
__attribute__((noinline)) void take(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
static char first[] = "first", bob[] = "bob", ann[] = "ann", l1[] = "l1";
int main(void) {
	static struct cust c2, c;
	static struct order o[2];
	c2 = (struct cust){strcat(bob, "s"), 30, 0};
	c = (struct cust){strcat(ann, ""), 40, &c2};
	o[1] = o[0] = (struct order){7, strcat(first, ""), {-3, 4}, 5, 99, GREEN, "tagged", {.i = 11}, &c,
		{{0, 1, 0}, {strcat(l1, ""), 2, 0}}, 2.5, {{1, 2, 3}, {4, 5, 6}}};
	o[1].id = 8;
	take(o);
}
`

// declaredOrders are these types as a script has them.
const declaredOrders = `
types("""
struct cust { char *name; int age; struct cust *next; };
enum color { RED, GREEN = 5 };
typedef struct order {
    u32 id; char *name;
    struct { short x, y; } at;
    unsigned a : 3, b : 7;
    enum color c;
    char tag[8];
    union { int i; float f; };
    struct cust *who;
    struct cust list[2];
    double total;
    unsigned char m[2][3];
} order_t;
""")
`

// Types that a script declares give fields to memory of programs, in both halves.
//
// > `types(text)` declares types of the script in the language C, where neither the kernel nor a program has them.
// > Declares types of the script in the language C, for cast, container_of and sizeof.
// > `cast`, `container_of` and `sizeof` take their names, which stand before those of the kernel.
// > Their arrays of several dimensions have an index for each, as in C: `x.m[1][2]`.
func TestTypesOfAScript(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -O1", "orders.c", strings.ReplaceAll(orders, "bob[]", "bob[8]"))
	e := startrace(t, "-q", script(t, declaredOrders+strings.ReplaceAll(`
def show(e):
    o = cast("struct order", e.args[0])
    return ((o.id, o.name, o.at.x, o.at.y, o.a, o.b, o.c, o.tag, o.i),
            (o.who.name, o.who.next.name, o.who.next.next, o.who.next.next.age, o.list[1].name, o.total, o.m[1][2]),
            cast("order_t *", e.args[0])[1].id,
            sizeof("struct order"), sizeof("order_t *"), container_of(e.args[0] + 8, "struct order", "name").id)
probe("uprobe:BIN:take", lambda e: print("user", *show(e)))
probe("uprobe:BIN:take", lambda e: print("kernel", *e.value), kernel = show)
probe("uprobe:BIN:take", lambda e: print("where", names(cast("struct order", e.args[0]).c)),
      where = lambda e: cast("struct order", e.args[0]).b == 99)
`, "BIN", binary)), "-c", binary).ok(t)
	const want = ` (7, "first", -3, 4, 5, 99, 5, "tagged", 11)` +
		` ("ann", "bobs", 0, <fault>, "l1", 2.5, 6) 8 112 8 7` + "\n"
	for _, line := range []string{"user" + want, "kernel" + want, "where GREEN\n"} {
		if !strings.Contains(e.stdout, line) {
			t.Errorf("no line %s in\n%s", line, e.stdout)
		}
	}
}

// packedBits has bit-fields that lie in two words of 8 bytes, and such that lie in 9 bytes.
const packedBits = `
struct a { unsigned long x : 31, y : 57; } __attribute__((packed));
struct b { long a : 40; long b : 40 __attribute__((packed)); int c; };
struct c { char c[7]; int x : 5, y : 28, z : 30; } __attribute__((packed));
struct d { char c; long x : 3, y : 64; unsigned short z : 9; } __attribute__((packed));
`

// A bit-field of a packed struct has all of its bits wherever it lies, of types of a script and of a program's own, in
// both halves, and is FAULT where one half of it cannot be read.
func TestBitFieldsInTwoWords(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O1", "bits.c", packedBits+`
#include <stdio.h>
#include <sys/mman.h>
__attribute__((noinline)) void take(void *p, void *end) { __asm__ volatile("" : : "r"(p), "r"(end) : "memory"); }
int main(void) {
	unsigned char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 4096; i++) m[i] = 0xa7 + i * 37;
	munmap(m + 4096, 4096);
	struct a *a = (void *)m; struct b *b = (void *)m; struct c *c = (void *)m; struct d *d = (void *)m;
	printf("%ld %ld %ld %ld %d %d %d %d %ld %d\n", (long)a->x, (long)a->y, (long)b->a, (long)b->b, b->c, c->x, c->y, c->z,
		(long)d->y, d->z);
	fflush(stdout);
	take(m, m + 4096 - 8);
}
`)
	const show = `
def show(e):
    p = e.args[0]
    a, b, c, d = cast("OFstruct a", p), cast("OFstruct b", p), cast("OFstruct c", p), cast("OFstruct d", p)
    return (a.x, a.y, b.a, b.b, b.c, c.x, c.y, c.z, d.y, d.z, cast("OFstruct a", e.args[1]).y)
probe("uprobe:BIN:take", lambda e: print("user", *show(e)))
probe("uprobe:BIN:take", lambda e: print("kernel", *e.value), kernel = show)
`
	for _, of := range []string{"", "BIN:"} {
		text := strings.ReplaceAll(strings.ReplaceAll(show, "OF", of), "BIN", binary)
		e := startrace(t, "-q", script(t, "types(\"\"\""+packedBits+"\"\"\")\n"+text), "-c", binary).ok(t)
		want, _, _ := strings.Cut(e.stdout, "\n")
		for _, half := range []string{"user ", "kernel "} {
			if !strings.Contains(e.stdout, half+want+" <fault>\n") {
				t.Errorf("types of %q: no line %s%s <fault> in\n%s", of, half, want, e.stdout)
			}
		}
	}
}

// They lead to memory of the kernel, too, and may have types of the kernel in them.
//
// > They may name types of the kernel, and types that the text has before.
// > Where what they lead to lies, in the kernel or in the program, the address decides.
func TestTypesOfAScriptInTheKernel(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
types("struct mine { char comm[16]; struct list_head list; struct task_struct *task; };")
def show(e):
    return (sizeof("struct mine"), cast("struct task_struct", e.task).pid == e.tid)
probe("t:syscalls:sys_enter_exit_group", lambda e: print("kernel", *e.value), kernel = show)
types("struct head { struct head *next, *prev; };")
def linked(e):
    at = e.task.tasks
    h = cast("struct head", at)
    return (h.next.prev == cast("u64", at) or h.next != 0, cast("struct head *", at)[0].next == h.next)
probe("t:syscalls:sys_enter_exit_group", lambda e: print("linked", *linked(e)))
probe("t:syscalls:sys_enter_exit_group", lambda e: print("linked", *e.value), kernel = linked)
`), "-c", "true")
	if strings.Count(e.stdout, "linked True True\n") != 2 || !strings.Contains(e.stdout, "kernel 40 True\n") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}

// The declared types have their sizes wherever the script asks for them, and stand before those of the kernel: sizeof
// and conversions are the same at the top level, in callbacks, of what user space has computed, and in both halves.
//
// > The size of a type of the kernel, or of one that types() has declared.
func TestTypesOfAScriptEverywhere(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", script(t, `
types("struct order { u64 id; char name[24]; }; typedef unsigned char small_t; enum way { IN, OUT };")
types("typedef unsigned char u32; union list_head { char c[3]; };")
def known():
    return (sizeof("struct order"), sizeof("struct order *"), sizeof("small_t"), sizeof("u32"), sizeof("enum way"),
            sizeof("union list_head"), sizeof("struct list_head"), cast("small_t", 300), cast("u32", 300))
print("top", *known())
def show(e):
    return (sizeof("struct order"), sizeof("struct order *"), sizeof("small_t"), sizeof("u32"), sizeof("enum way"),
            sizeof("union list_head"), sizeof("struct list_head"),
            cast("small_t", e.args.error_code + 300), cast("u32", e.args.error_code + 300))
p = "t:syscalls:sys_enter_exit_group"
probe(p, lambda e: print("handler", *show(e)))
probe(p, lambda e: print("kernel", *e.value), kernel = show)
probe(p, lambda e: print("later", cast("u32", [300][e.args.error_code])))
at_exit(lambda: print("end", *known()))
`), "-c", "true").ok(t)
	const want = " 32 8 1 1 4 3 16 44 44\n"
	for _, line := range []string{"top" + want, "handler" + want, "kernel" + want, "end" + want, "later 44\n"} {
		if !strings.Contains(e.stdout, line) {
			t.Errorf("no line %s in\n%s", line, e.stdout)
		}
	}
	e = startrace(t, "-q", "-e", `types("struct order { itn a; };")`, "-e", `sizeof("struct order")`, "-c", "true")
	if !strings.Contains(e.stderr, "types() has a mistake at -e:1:23: no type itn is declared before") {
		t.Errorf("%s", e.stderr)
	}
}

// A mistake in a text has its line and column in the script, also where nobody uses its types.
func TestMistakesInTypes(t *testing.T) {
	needTracing(t)
	for text, want := range map[string]string{
		`"""` + "\nstruct s {\n    itn a;\n};\n" + `"""`: ":3:5: no type itn is declared before, " +
			"nor has the kernel one; did you mean int?",
		`"struct s { int a; char a; };"`: ":1:31: there is a member a already",
	} {
		for _, use := range []string{`cast("struct s", e.args.buf).a`, "e.ret"} {
			path := script(t, "types("+text+")\n"+`probe("syscall:read", lambda e: print(`+use+"))")
			e := startrace(t, "-q", path, "-c", "true")
			if e.status != failedBeside || strings.Count(e.stderr, path+want) != 1 {
				t.Errorf("%s: status %d: %s", text, e.status, e.stderr)
			}
		}
	}
	e := startrace(t, "-q", "-e", `types("struct order { int a; };")`, "-e",
		`probe("syscall:read", lambda e: print(cast("struct oder", e.args.buf).a))`, "-c", "true")
	if !strings.Contains(e.stderr, "neither types() nor the kernel has struct oder; did you mean struct order?") {
		t.Errorf("%s", e.stderr)
	}
}

// One struct is declared without a text in C, too, or with the members alone; the same members are the same struct.
//
// > `struct("id", "u32", "name", "char *")` declares one struct by the names and types of its members.
// > Its value is the name of the struct, for these functions.
// > `struct("u32 id; char *name;")` is the same in C.
// > Declares a struct of the script by the names and types of its members, or by a text in C: struct("u32 id; char
// > *name;").
// > Its value is the name of the struct, for cast, container_of and sizeof.
func TestStructOfAScript(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -O0", "orders.c", orders)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
cust = struct("name", "char *", "age", "int", "next", "void *")
same = struct("char *name; int age; void *next;")
at = struct("x", "short", "y", "short")
order = struct("id", "u32", "name", "char *", "at", at, "a", "unsigned:3", "b", "unsigned : 7", "c", "int",
               "tag", "char[8]", "i", "int", "who", cust + " *", "list", cust + "[2]", "total", "double",
               "m", "u8[2][3]")

def values(e):
    o = cast(order, e.args[0])
    inner = container_of(e.args[0] + 16, order, "at")
    return (o.id, o.name, o.at.y, o.a, o.b, o.c, o.tag, o.i, o.who.age, o.list[1].name, cast(cust, o.who.next).age,
            o.total, o.m[1][2], inner.id, cast(order + " *", e.args[0])[1].id, sizeof(order))

probe("uprobe:BIN:take", lambda e: print(values(e)))
probe("uprobe:BIN:take", lambda e: print(e.value), kernel = values)
print(sizeof(cust), sizeof(order), same == cust, struct("x", "short", "y", "short") == at)
`, "BIN", binary)), "-c", binary).ok(t)
	want := `(7, "first", 4, 5, 99, 5, "tagged", 11, 40, "l1", 30, 2.5, 6, 7, 8, 112)`
	if out := strings.TrimSpace(e.stdout); out != "24 112 False True\n"+want+"\n"+want {
		t.Errorf("got\n%s\nwant\n%s twice", out, want)
	}
}
