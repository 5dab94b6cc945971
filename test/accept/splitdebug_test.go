package accept

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// typedOrders calls a function with types of each kind, once.
const typedOrders = `#include <cstdio>
#include <string>
#include <vector>
namespace shop {
enum state { IDLE = 3, BUSY };
struct item { int id; long price; std::string name; };
struct order { item *first; state st; std::vector<int> list; unsigned bits : 5, more : 3; item in; };
}
extern "C" __attribute__((noinline)) long checkout(shop::order *o, const shop::item &it, int n) {
  int local = n * 2;
  return o->in.price + it.id + local;
}
int main() {
  shop::item a{1, 100, "one"};
  shop::order o{&a, shop::BUSY, {1, 2, 3}, 9, 2, {2, 200, "two"}};
  printf("%ld\n", checkout(&o, a, 4));
}
`

// Types that have units of their own are read as others, in both forms of DWARF.
func TestTypesInUnitsOfTheirOwn(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []int{4, 5} {
			command := fmt.Sprintf("%s -O0 -g -gdwarf-%d -fdebug-types-section", compiler, version)
			binary := need.Built(t, command, "orders.cc", typedOrders)
			e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def f(e):
    o = e.args.o
    print(o.first.name, names(o.st), o.list, o.bits, o.more, o.in_.price, e.args.it.id, e.args.n,
        cast("BIN:shop::order", e.args[0]).in_.id, sizeof("BIN:shop::item"))
probe("uprobe:BIN:checkout", f)
`, "BIN", binary)), "-c", binary).ok(t)
			equalLines(t, lines(e.stdout), []string{"209", "one BUSY (1, 2, 3) 9 2 200 1 4 2 48"})
		}
	}
}

// shopOfFiles is a program of two files and a header, in one of which a namespace has a type that the other only
// declares.
var shopOfFiles = map[string]string{
	"shop.h": `#include <cstdio>
#include <string>
#include <vector>
namespace shop {
enum state { IDLE = 3, BUSY };
struct item { int id; long price; std::string name; };
struct hidden;
struct order { item *first; state st; std::vector<int> list; unsigned bits : 5, more : 3; item in; hidden *rest; };
}
extern "C" long checkout(shop::order *o, const shop::item &it, int n);
shop::hidden *hide(int n);
int other(int n);
static inline __attribute__((always_inline)) long weigh(const shop::item &it, int k) {
  asm volatile("" : : "r"(k));
  return it.price * k + it.id;
}
`,
	"main.cc": `#include "shop.h"
int main() {
  shop::item a{1, 100, "one"};
  shop::order o{&a, shop::BUSY, {1, 2, 3}, 9, 2, {2, 200, "two"}, hide(77)};
  for (int i = 0; i < 3; i++)
    printf("%ld %d\n", checkout(&o, a, 4 + i), other(i));
}
`,
	"cart.cc": `#include "shop.h"
static int hits = 7;
__attribute__((noinline)) int other(int n) {
  hits += n;
  return n * n + hits;
}
extern "C" __attribute__((noinline)) long checkout(shop::order *o, const shop::item &it, int n) {
  int twice = n * 2;
  volatile long total = o->in.price;
  for (int i = 0; i < twice; i++)
    total += weigh(it, i);
  return total + twice;
}
`,
	"hide.cc": `#include "shop.h"
namespace shop { struct hidden { char pad[3]; int depth; }; }
namespace apart { struct hidden { long wrong; } kept; }
shop::hidden *hide(int n) {
  static shop::hidden h;
  h.depth = n;
  return &h;
}
`,
}

// shopped asks for arguments, results, variables, types, lines and copies that were inlined.
const shopped = `
def call(e):
    o = e.start.args.o
    print("call", o.first.name, names(o.st), o.list, o.bits, o.more, o.rest.depth, e.start.args.it.id, e.start.args.n,
        e.ret)
probe("ufunc:BIN:checkout", call)
probe("uprobe:BIN:cart.cc:10", lambda e: print("line", e.source, e.vars.twice, e.vars.total, e.vars.n, e.globals.hits))
probe("uprobe:BIN:weigh", lambda e: print("inlined", e.args.k, e.args.it.price))
probe("ufunc:BIN:@cart.cc:other*", lambda e: print("other", e.args.n, e.ret, sizeof("BIN:shop::order")))
probe("uprobe:BIN:checkout", lambda e: print("cast", cast("BIN:shop::order", e.args[0]).in_.id))
`

// asked gives what a program's probes print, in order.
func asked(t *testing.T, binary string) []string {
	t.Helper()
	e := startrace(t, "-q", script(t, strings.ReplaceAll(shopped, "BIN", binary)), "-c", binary).ok(t)
	out := lines(e.stdout)
	slices.Sort(out)
	return out
}

// Debug information in files of its own is read as that of the program: what is said of a program does not depend on
// where it stands.
//
// > Debug information in files of its own (`gcc -gsplit-dwarf`) is read as that of the program. Such a file (`.dwo`) is
// > looked for where the compiler put it, and beside the program. Files that were packed together are `PROGRAM.dwp`.
func TestSplitDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"g++ -O0 -gdwarf-4", "g++ -O2 -gdwarf-5", "clang++ -O2 -gdwarf-4",
		"clang++ -O0 -gdwarf-5", "g++ -O0 -gdwarf-5 -fdebug-types-section",
		"clang++ -O0 -gdwarf-4 -fdebug-types-section"} {
		t.Run(command, func(t *testing.T) {
			whole := asked(t, need.BuiltOf(t, command, shopOfFiles))
			if len(whole) < 20 || slices.Index(whole, "call one BUSY (1, 2, 3) 9 2 77 1 5 4720") < 0 {
				t.Fatalf("not split:\n%s", strings.Join(whole, "\n"))
			}
			split := need.BuiltOf(t, command+" -gsplit-dwarf", shopOfFiles)
			equalLines(t, asked(t, split), whole)

			for _, packer := range packers(t, command) {
				pack := exec.Command(packer, "-e", split, "-o", split+".dwp")
				pack.Dir = filepath.Dir(split)
				if out, err := pack.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", packer, err, out)
				}
				moved := moveUnits(t, split)
				equalLines(t, asked(t, split), whole)
				for to, from := range moved {
					if err := os.Rename(to, from); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// packers are programs that pack .dwo files, of which that of binutils does not know DWARF 5.
func packers(t *testing.T, command string) []string {
	t.Helper()
	out := []string{need.Program(t, "llvm-dwp")}
	if strings.Contains(command, "-gdwarf-4") {
		out = append(out, need.Program(t, "dwp"))
	}
	return out
}

// moveUnits renames all .dwo files of a program, and gives their old names by the new ones.
func moveUnits(t *testing.T, binary string) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(binary), "*.dwo"))
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	out := map[string]string{}
	for _, path := range list {
		if err := os.Rename(path, path+".moved"); err != nil {
			t.Fatal(err)
		}
		out[path+".moved"] = path
	}
	return out
}

// A file that is not there, or is of another build, tells nothing; a message says which one it is.
//
// > Where such a file is not there, is damaged, or is of another build, a message says so. The functions of such a
// > program are as without debug information.
func TestSplitDebugInformationIsMissing(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	other := maps.Clone(shopOfFiles)
	other["cart.cc"] = strings.ReplaceAll(other["cart.cc"], "int n", "long n0, int n")
	other["shop.h"] = strings.ReplaceAll(other["shop.h"], "int n", "long n0, int n")
	other["main.cc"] = "#include \"shop.h\"\nint main() { return 0; }\n"
	for _, command := range []string{"g++ -O0 -gdwarf-4", "clang++ -O0 -gdwarf-5", "g++ -O0 -gdwarf-5"} {
		split := need.BuiltOf(t, command+" -gsplit-dwarf", shopOfFiles)
		wrong := need.BuiltOf(t, command+" -gsplit-dwarf", other)
		refused := func(why string) {
			t.Helper()
			for _, body := range []string{"print(e.args.n)", "print(e.args.o.st)"} {
				e := startrace(t, script(t, `probe("uprobe:`+split+`:checkout", lambda e: `+body+`)`), "-c", split)
				const message = "the debug information of this function is in a file of its own, "
				_, file, said := strings.Cut(e.stderr, message)
				if e.status == 0 || !said || !strings.Contains(file, "cart.dwo, which "+why) {
					t.Errorf("%s: %d\n%s", command, e.status, e.stderr)
				}
			}
			text := `probe("ufunc:` + split + `:checkout", lambda e: print(e.start.args[2], e.ret))`
			e := startrace(t, "-q", script(t, text), "-c", split).ok(t)
			equalLines(t, lines(e.stdout), []string{"3016 7", "4 3016", "4720 9", "5 4720", "6 6824", "6824 14"})
		}
		moved := moveUnits(t, split)
		refused("is not there")
		for path := range moveUnits(t, wrong) {
			to := filepath.Join(filepath.Dir(split), strings.TrimSuffix(filepath.Base(path), ".moved"))
			if err := os.Rename(path, to); err != nil {
				t.Fatal(err)
			}
		}
		refused("is of another build")
		for path := range moved {
			damaged := strings.TrimSuffix(path, ".moved")
			if err := os.WriteFile(damaged, []byte("\x7fELF, but no more"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		refused("is damaged")
	}
}

// twoLimits is a program of two files that have a variable of one name each, and of which one has two more.
var twoLimits = map[string]string{
	"first.c": `int shared = 5; static int limit = 11, lonely = 7;
int second(int n);
__attribute__((noinline)) int first(int n) { limit += n; shared++; lonely++; return limit + lonely; }
int main(void) { return first(1) + second(1) == 0; }
`,
	"second.c": `static int limit = 100;
extern int shared;
__attribute__((noinline)) static int within(int n) { limit += n; return limit + shared; }
int second(int n) { return within(n) + within(n); }
`,
}

// A variable outside of functions is never that of another source file where the debug information of the function's
// own is in a file that is not there, is damaged, or is of another build: a message names that file, and how a variable
// of a file that is there can be asked for.
//
// > Where the file of the function's own source is not there, its variables are not known, and a name that another
// > source file has is refused, too: `getattr(e.globals, "@cart.c:limit")` is one of a file that is there.
func TestGlobalsOfSplitDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -O0 -gdwarf-4", "gcc -O0 -gdwarf-5", "clang -O0 -gdwarf-4",
		"clang -O0 -gdwarf-5 -fsplit-dwarf-inlining"} {
		binary := need.BuiltOf(t, command+" -gsplit-dwarf", twoLimits)
		seen := func(of, variable string) ended {
			text := `probe("uprobe:` + binary + `:` + of + `", lambda e: print(` + variable + `))`
			return startrace(t, "-q", script(t, text), "-c", binary)
		}
		told := func(of, variable, want string) {
			t.Helper()
			equalLines(t, lines(seen(of, variable).ok(t).stdout), strings.Fields(want))
		}
		refused := func(of, variable, text string) {
			t.Helper()
			e := seen(of, variable)
			if e.status == 0 || !strings.Contains(e.stderr, "second.dwo, which ") || !strings.Contains(e.stderr, text) {
				t.Errorf("%s: %s in %s: %d\n%s", command, variable, of, e.status, e.stderr)
			}
		}
		told("within", "e.globals.limit", "100 101")
		told("within", "e.globals.lonely", "8 8")
		told("first", "e.globals.limit", "11")

		split, whole := splitOf(t, binary, "second")
		for _, left := range []int{-1, 0, 600} {
			if err := os.Remove(split); err != nil {
				t.Fatal(err)
			}
			if left >= 0 {
				if err := os.WriteFile(split, whole[:left], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			const own = "the debug information of this function's source file is in a file of its own, "
			refused("within", "e.globals.limit", own)
			refused("within", "e.globals.limit", `getattr(e.globals, "@first.c:limit") is one of another file`)
			refused("within", "e.globals.shared", own)
			refused("within", "e.globals.lonely", own)
			refused("first", "e.globals.nothing", "some source files of the program")
			refused("first", `getattr(e.globals, "@second.c:limit")`, "some source files of the program")
			told("first", "e.globals.limit", "11")
			told("first", "e.globals.shared", "5")
			told("within", `getattr(e.globals, "@first.c:limit")`, "12 12")
			if left < 0 {
				if err := os.WriteFile(split, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// twoFiles is a program of two files and a header, of which both have a copy of a function.
var twoFiles = map[string]string{
	"twice.h": `struct pair { int a, b; };
static __attribute__((noinline)) int twice(int q) { __asm__ volatile(""); return q * 2; }
`,
	"first.c": `#include "twice.h"
int second(int n);
struct only { long x; } one = { 9 };
static inline __attribute__((always_inline)) int inlined(int k) { __asm__ volatile("" : : "r"(k)); return k + 1; }
__attribute__((noinline)) int first(struct pair *p, int times) {
  int sum = p->a * times;
  return sum + twice(3) + inlined(sum);
}
int main(void) { struct pair p = { 1, 2 }; return first(&p, 4) + second(5) == 0; }
`,
	"second.c": `#include "twice.h"
int second(int n) { return twice(n); }
`,
}

// A variable of which debug information does not tell the type has a message that says so.
func TestGlobalWithoutType(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.BuiltOf(t, "gcc -g1 -O0", twoLimits)
	e := startrace(t, script(t, `probe("uprobe:`+binary+`:first", lambda e: print(e.globals.shared))`), "-c", binary)
	if e.status == 0 || !strings.Contains(e.stderr, "does not tell the type of shared: build it with -g, not -g1") {
		t.Errorf("%d\n%s", e.status, e.stderr)
	}
}

// splitOf is the file with the debug information of a source of twoFiles, beside the program, and what it has.
func splitOf(t *testing.T, binary, source string) (file string, whole []byte) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(binary), "*"+source+".dwo"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	whole, err = os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	return list[0], whole
}

// Whatever is asked for that is in a file of debug information that is not there or is damaged, the message names that
// file, and what is wrong with it. A function with names in one file and without in another has none that is guessed.
//
// > Where one point of a probe has a named argument or variable and another one's file is not there, it prints as
// > `<not shown>` at that, and is equal to FAULT.
func TestLostDebugInformationIsNamed(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"gcc -O0 -gdwarf-4", "gcc -O0 -gdwarf-5", "clang -O0 -gdwarf-5"} {
		binary := need.BuiltOf(t, command+" -gsplit-dwarf", twoFiles)
		split, whole := splitOf(t, binary, "first")
		asks := func(pattern, body string) ended {
			text := "probe(\"" + pattern + "\", lambda e: print(" + body + "))"
			return startrace(t, script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary)
		}
		for _, c := range []struct {
			why  string
			file []byte // nil: none
		}{
			{"is not there", nil},
			{"is damaged", []byte{}},
			{"is damaged", whole[:600]},
			{"is damaged", whole[:len(whole)-len(whole)/4]},
			{"is damaged", slices.Concat(whole[:8], []byte(strings.Repeat("x", 300)), whole[308:])},
		} {
			if err := os.RemoveAll(split); err != nil {
				t.Fatal(err)
			}
			if c.file != nil {
				if err := os.WriteFile(split, c.file, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, ask := range [][2]string{{"ufunc:BIN:first", "e.args.times"}, {"uprobe:BIN:first", "e.args"},
				{"uprobe:BIN:[fm]*", "e.args.times"}, {"uprobe:BIN:first.c:6", "1"},
				{"uprobe:BIN:first.c:7", "e.vars.sum"}, {"uprobe:BIN:first+4", "e.vars.sum"},
				{"uprobe:BIN:first", "e.globals.one"},
				{"uprobe:BIN:second", `getattr(e.globals, "one")`}, {"uprobe:BIN:@first.c:f*", "1"},
				{"uprobe:BIN:@first.c:first", "1"}, {"uprobe:BIN:inlined", "1"},
				{"uprobe:BIN:second", `sizeof("BIN:struct only")`}} {
				e := asks(ask[0], ask[1])
				if e.status == 0 || !strings.Contains(e.stderr, "first.dwo, which "+c.why+": bring it") ||
					strings.Contains(e.stderr, "has no code") || strings.Contains(e.stderr, "has code") {
					t.Errorf("%s: %v: %d, want %q\n%s", command, ask, e.status, c.why, e.stderr)
				}
			}
			e := asks("uprobe:BIN:twice", "e.args.q, e.args.q == FAULT").ok(t)
			equalLines(t, lines(e.stdout), []string{"<not shown> True", "5 False"})
			e = asks("uprobe:BIN:second", "e.args.n").ok(t)
			equalLines(t, lines(e.stdout), []string{"5"})
			e = asks("uprobe:BIN:twice.h:2", "e.vars.q").ok(t)
			equalLines(t, lines(e.stdout), []string{"5"})
			const left = "cannot be probed: the debug information of a function with this line is in a file of its own"
			if !strings.Contains(e.stderr, left) {
				t.Errorf("no warning of the other places:\n%s", e.stderr)
			}
		}
	}
}

// Debug information that dwz has put into a file that several programs share is read as that of the program, by both
// ways in which the file is named, and where the program has a debug file.
//
// > The same holds of a file with what several programs have in common, which `dwz -m` makes.
// > It is looked for where the program says, and below `/usr/lib/debug`, by its build id too.
func TestSharedDebugInformation(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	dwz := need.Program(t, "dwz")
	other := maps.Clone(shopOfFiles)
	other["main.cc"] = strings.ReplaceAll(other["main.cc"], "77", "78")
	for _, c := range []struct {
		command, option string
	}{{"g++ -O0 -gdwarf-5 -Wl,--build-id", "--dwarf-5"}, {"g++ -O2 -gdwarf-4 -Wl,--build-id", "-q"},
		{"g++ -O0 -gdwarf-5 -Wl,--build-id", "-q"}} {
		binary := need.BuiltOf(t, c.command, shopOfFiles)
		whole := asked(t, binary)
		if len(whole) < 20 {
			t.Fatalf("%s:\n%s", c.command, strings.Join(whole, "\n"))
		}
		second, shared := need.BuiltOf(t, c.command, other), filepath.Join(filepath.Dir(binary), "shared.debug")
		if out, err := exec.Command(dwz, c.option, "-m", shared, binary, second).CombinedOutput(); err != nil {
			t.Fatalf("dwz: %v\n%s", err, out)
		}
		equalLines(t, asked(t, binary), whole)
		equalLines(t, asked(t, second), whole78(whole))

		if err := os.Rename(shared, shared+".moved"); err != nil {
			t.Fatal(err)
		}
		const shares = "shares debug information with other programs"
		for text, message := range map[string]string{
			`probe("uprobe:BIN:checkout", lambda e: print(e.args.n))`:       "is in a file of its own, ",
			`probe("uprobe:BIN:cart.cc:10", lambda e: print(e.vars.n))`:     shares,
			`probe("uprobe:BIN:checkout", lambda e: print(e.globals.hits))`: shares,
		} {
			e := startrace(t, script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary)
			if e.status == 0 || !strings.Contains(e.stderr, message) ||
				!strings.Contains(e.stderr, "shared.debug, which is not there") {
				t.Errorf("%s: %d\n%s", text, e.status, e.stderr)
			}
		}
	}
}

// whole78 is what the program prints in which a number is another one.
func whole78(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, strings.Replace(line, " 77 ", " 78 ", 1))
	}
	return out
}
