package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// namesOfShop asks for arguments and results by their names.
const namesOfShop = `
def seen(e):
    o = e.args.order
    return (e.args.path, o.customer.name, o.customer.id, o.items[1].price, o.items[1].tag, o.urgent, o.weight, o.state,
            o.next == 0, e.args.ok, e.args.s, names(e.args.s), names(o.state))

probe("uprobe:BIN:checkout", lambda e: print("user", *seen(e)))
probe("uprobe:BIN:checkout", kernel = seen, handler = lambda e: print("kernel", *e.value))
probe("ufunc:BIN:checkout", lambda e: print("call", e.args.order.id, e.start.args.order.id, e.ret.total, e.ret[1],
                                            e.ret))
probe("uprobe:BIN:checkout", lambda e: print("all", [n for n in dir(e.args)], e.args.path))
probe("ufunc:BIN:next", lambda e: print("next", e.args.o == 0, e.args.o.id, e.ret == 0))
probe("uprobe:BIN:changed*", lambda e: print("changed", e.args.used))
n = count()
probe("uprobe:BIN:checkout", lambda e: n[cstr(e.args.path, 64), e.args.order.customer.name].add())
at_exit(lambda: print("counted", n.items()))
`

// seenOfShop is what it prints; used is the argument of a function that compilers change.
func seenOfShop(used string) []string {
	values := " /index.html Ada 77 -30 a tag 1 1234 4 True True 3 OPEN PAID"
	return []string{"user" + values, "kernel" + values,
		"call 107 7 -20 1099511627776 record(total = -20, paid = True, more = 1099511627776)",
		`all ["ok", "order", "path", "s"] /index.html`, "next False 107 True", "next True <fault> True",
		"changed " + used, `counted [(("/index.html", "Ada"), 1)]`}
}

// Arguments and results of a program with debug information, by their names. (S4-14, S4-18, S4-20)
//
// > Where a program has debug information (`-g`), arguments have the names and types of its source.
// > A `char *` is a string, a bool True or False, an enum its number, of which `names(e.args.state)` is the name.
// > `print(e.args)` shows all that can be read.
// > `e.args.NAME` is not a word but a value of the type that the source gives it, where debug information tells it.
// > A pointer is a number here, too, 0 and not None where it is null, and has the fields of what it points to.
// > `e.ret` is a number where it is one word and no struct, with and without debug information: a bool is 0 or 1, and a
// > `char *` an address, so `cstr(e.ret)` is the string.
// > With debug information a struct and a pointer have their fields there.
// > A struct in registers is a record, also where it is one word, and `e.ret[0]` its first word.
// > Several results are a tuple.
// > It is as those of kernel functions: a struct has its fields, a `char *` is the string at it.
// > A pointer leads to memory of the process, which is read when the field is.
// > At the end of a call `e.args.p.n` is what is there then, and `e.start.args.p.n` what was there at the
// > start.
// > A struct that is passed in registers is put together from them, and prints as a record.
// > A value of which nobody knows where it is, is FAULT, and prints as `<optimized out>`: an argument of a function
// > that the compiler may have changed or that it says nothing of, as clang of those that are not used, and on arm64 a
// > result that C returns in memory.
// > Fields, elements and pointers are followed as those of the kernel are:
func TestNamedArguments(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..") // TestNamedArgumentsOfTargets is the same in guests
	source, err := os.ReadFile("../target/testdata/shop.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"gcc -g -O0", "gcc -g -O2", "clang -g -O1"} {
		binary := need.Built(t, command, "shop.c", string(source))
		e := startrace(t, "-q", script(t, strings.ReplaceAll(namesOfShop, "BIN", binary)), "-c", binary).ok(t)
		used := "5"
		if strings.HasPrefix(command, "clang") { // it is always that, which clang says of no call for certain
			used = "<optimized out>"
		}
		equalLines(t, lines(e.stdout), seenOfShop(used))
	}
}

// The same of programs that guests have, and of one of Go.
func TestNamedArgumentsOfTargets(t *testing.T) {
	e := onTarget(t, "shop", namesOfShop)
	equalLines(t, sorted(e.stdout, ""), seenOfShop("5"))
	e = onTarget(t, "goroutines", `
n = count()
probe("ufunc:BIN:main.add", lambda e: print("add", e.args.a, e.args.text, e.args.b, e.ret))
probe("uprobe:BIN:main.(*square).area", lambda e: print("area", e.args.s.side, e.args.scale))
probe("uprobe:BIN:main.add", lambda e: n[e.args.text, e.args.text == "abc"].add())
at_exit(lambda: print("counted", n.items()))
`, "1")
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprintf("add %d abc %d (%d, %d)", i, -i, i+3, -i), fmt.Sprintf("area %d 10", i))
	}
	equalLines(t, sorted(e.stdout, ""), append(want, `counted [(("abc", True), 3)]`, "0")) // its own sum
}

// > A string of Go or Rust, a `std::string` and a `std::string_view` are strings.
// > A string of Go is as long as it says, or ends at a NUL in it.
// > A reference of C++ is what it refers to.
func TestNamedStrings(t *testing.T) {
	needTracing(t)
	cpp := need.Built(t, "g++ -g -O1", "strings.cc", `
#include <string>
#include <string_view>
struct base { int id; };
struct order : base { std::string name; std::string_view view; };
volatile int sink;
__attribute__((noinline)) void take(const order &o, std::string_view v, const std::string &s) { sink++; }
int main() {
	std::string longer = "a string that is too long to lie in itself";
	order o; o.id = 5; o.name = "short"; o.view = longer;
	take(o, "a view", longer);
}
`)
	e := startrace(t, "-q", "-e", `probe("uprobe:`+cpp+`:take", lambda e: print(e.args.o.id, e.args.o.name, `+
		`e.args.o.view, e.args.v, e.args.s, sep = "|"))`, "-c", cpp).ok(t)
	const longer = "a string that is too long to lie in itself"
	equalLines(t, lines(e.stdout), []string{"5|short|" + longer + "|a view|" + longer})
	golang := need.Built(t, "go build", "strings.go", `package main
type order struct { Name string; Tags []string }
var sink int
//go:noinline
func take(o *order, s string, list []int32) { sink++ }
func main() { take(&order{"a\x00b", []string{"x", "yz"}}, "täg", []int32{4, -5}) }
`)
	e = startrace(t, "-q", script(t, strings.ReplaceAll(`
def show(e):
    o, list = e.args.o, e.args.list
    print([o.Name], len(o.Name), o.Tags.array[1], o.Tags.len, e.args.s, list.array[1], list.cap)

probe("uprobe:BIN:main.take", show)
`, "BIN", golang)), "-c", golang).ok(t)
	equalLines(t, lines(e.stdout), []string{`["a"] 1 yz 2 täg -5 2`})
}

// > `cast("./shop:struct order", p)` gives an address a type of a program that has debug information.
// > In a handler `container_of` and `sizeof` take such a name, too.
func TestTypesOfPrograms(t *testing.T) {
	e := onTarget(t, "shop", `
ORDER = "BIN:struct order"
n = count()
probe("uprobe:BIN:checkout", lambda e: n[cast(ORDER, e.args[0]).customer.id, sizeof(ORDER)].add())

def show(e):
    o = cast("BIN:struct order *", e.args[0])
    print("order", o.items[0].tag, o.customer.name, container_of(e.args[0] + 48, ORDER, "next").id,
          cast("BIN:enum state", 4), cast("BIN:struct customer", o.customer).id)

probe("uprobe:BIN:checkout", show)
at_exit(lambda: print("counted", n.items()))
`)
	equalLines(t, sorted(e.stdout, ""), []string{"order ten Ada 7 4 77", "counted [((77, 56), 1)]"})
	shop, none := traceable(t, "shop"), filepath.Join(t.TempDir(), "none")
	for name, want := range map[string]string{
		shop + ":struct nope": shop + " has no type struct nope", none + ":int": none + " does not exist",
	} {
		text := fmt.Sprintf(`probe("uprobe:%s:checkout", lambda e: print(cast(%q, 1)))`, shop, name)
		e := startrace(t, "-q", "-e", text, "-c", shop)
		if e.status == 0 || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %s, want %s", name, e.stderr, want)
		}
	}
}
