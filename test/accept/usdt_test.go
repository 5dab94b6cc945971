package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// Static probes at several sites, with arguments in all forms of operands, by the names that programs and documents
// use. (S3-06)
//
// > | `usdt:BINARY:[PROVIDER:]NAME` | `U` | a static probe of a program |
func TestStaticProbes(t *testing.T) {
	const n = 5
	e := onTarget(t, "static", `
probe("usdt:BIN:work:forms", lambda e: print("forms", e.args[0], e.args[1], e.args[2], e.args[3], e.args[4], e.args[5],
                                             cstr(e.args[6]), e.args.arg7))
probe("usdt:BIN:work:inlined", lambda e: print("inlined", e.args[0]))
probe("usdt:BIN:plain", lambda e: print("plain", e.probe.split(":")[-2:]))
probe("usdt:BIN:work:guarded-name", lambda e: print("guarded", e.args[0]))
seen = count()
probe("usdt:BIN:{work,other}:*", lambda e: seen[e.func].add())
at_exit(lambda: [print("seen", f, k) for f, k in seen.items()])
`, fmt.Sprint(n))
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("forms -17 %d %d -2 -3 250 text %d", i, -i, -i), fmt.Sprint("inlined ", i),
			"inlined -1",
			`plain ["other", "plain"]`, fmt.Sprint("guarded ", i))
	}
	want = append(want, "seen forms 5", "seen inlined 10", "seen guarded__name 5", "seen plain 5",
		fmt.Sprint("enabled ", n))
	equalLines(t, sorted(e.stdout, ""), want)
}

// A constant has the width and the sign that the note gives it, as the same number has in a register, in both halves.
func TestStaticProbeConstants(t *testing.T) {
	e := onTarget(t, "static", `
probe("usdt:BIN:ints:signs", lambda e: print("user",
                                             [e.args[0], e.args[2], e.args[4], e.args[6], e.args[8], e.args[10]]))
probe("usdt:BIN:ints:signs", lambda e: print("user",
                                             [e.args[1], e.args[3], e.args[5], e.args[7], e.args[9], e.args[11]]))
same = count()
probe("usdt:BIN:ints:signs", lambda e: same[e.args[0] == e.args[1], e.args[2] == e.args[3], e.args[4] == e.args[5],
                                            e.args[6] == e.args[7], e.args[8] == e.args[9],
                                            e.args[10] == e.args[11]].add())
at_exit(lambda: [print(k, v) for k, v in same.items()])
`, "1")
	const numbers = "user [18446744073709551611, -5, 4294967291, -5, 65531, 251]"
	equalLines(t, sorted(e.stdout, ""), []string{numbers, numbers, "(True, True, True, True, True, True) 1",
		"enabled 0"})
}

// A program that asks whether its probe is in use is told so while it is, and only then.
func TestStaticProbeSemaphore(t *testing.T) {
	path := traceable(t, "static")
	for point, want := range map[string]string{"guarded__name": "enabled 3", "plain": "enabled 0"} {
		e := startrace(t, "-e", fmt.Sprintf(`probe("usdt:%s:%s", lambda e: None)`, path, point), "-c", path+" 3").ok(t)
		if !strings.Contains(e.stdout, want+"\n") {
			t.Errorf("%s: %s", point, e.stdout)
		}
	}
}

// What is not there is named, with what there is.
func TestStaticProbeErrors(t *testing.T) {
	static, calls := traceable(t, "static"), traceable(t, "calls")
	for _, tt := range []struct{ point, pattern string }{
		{static + ":work:inlinde", `inlinde.*did you mean .*inlined`},
		{calls + ":work:inlined", `calls has no static probes`},
		{static + ":work:inlined", `no point of .* has an argument 1`},
	} {
		e := startrace(t, "-e", fmt.Sprintf(`probe("usdt:%s", lambda e: print(e.args[1]))`, tt.point), "-c", "true")
		if e.status != failedBeside || !regexp.MustCompile(tt.pattern).MatchString(e.stderr) {
			t.Errorf("%s: status %d: %s", tt.point, e.status, e.stderr)
		}
	}
}

// An argument that only some places of a static probe have is None at the others, by its name and by its number, in
// both halves.
func TestStaticProbeOfTwoForms(t *testing.T) {
	source := `
#define NOTE(args) "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n.asciz \"shop\"\n" \
	".asciz \"sold\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
__attribute__((noinline)) void sell(int i, long sum) {
	__asm__ volatile(NOTE("-4@$3"));
	if (i & 1) __asm__ volatile(NOTE("-8@$10000000000 4@$9"));
}
int main(void) { for (int i = 0; i < 2; i++) sell(i, i); return 0; }
`
	if runtime.GOARCH == "arm64" { // where constants have no mark
		source = strings.ReplaceAll(source, "@$", "@")
	}
	got := printed(t, "gcc -g -O1", "forms.c", source, `
n = count()
probe("usdt:BIN:sold", lambda e: print(e.args.arg1, e.args[1]))
probe("usdt:BIN:sold", lambda e: n[e.args.arg0, e.args.arg1].add())
at_exit(lambda: print(sorted(n.items(), key = str)))
`)
	if want := "None None, None None, 9 9, [((10000000000, 9), 1), ((3, None), 2)]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An argument of a static probe has the bits that its note tells, also where it is a constant at one of the places.
func TestOwnWidthOfStaticProbe(t *testing.T) {
	source := `
#define NOTE(args) "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n.asciz \"shop\"\n" \
	".asciz \"sold\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
__attribute__((noinline)) void sell(int i) {
	__asm__ volatile(NOTE("-4@$-5 -4@%0 -1@$-1 -8@$-2 -2@$7") :: "r"(i));
	__asm__ volatile(NOTE("-4@%0 -2@$-5 -2@$-1 -8@$-2 -4@$-7") :: "r"(i));
}
int main(void) { sell(-3); return 0; }
`
	if runtime.GOARCH == "arm64" { // where constants have no mark
		source = strings.ReplaceAll(source, "@$", "@")
	}
	got := printed(t, "gcc -g -O1", "widths.c", source, `
probe("usdt:BIN:sold", lambda e: printf("%x %x %x %x %x\n", *[e.args[0], e.args[1], e.args[2], e.args[3], e.args[4]]),
      where = lambda e: e.args[3] == -2 and e.args[2] < 0)
probe("usdt:BIN:sold", lambda e: printf("%x %d %x\n", e.args[0], e.args[0], e.value),
      kernel = lambda e: e.args[1])
`)
	const want = "fffffffb fffffffd ff fffffffffffffffe 7, fffffffb -5 fffffffd, " +
		"fffffffd fffb ffff fffffffffffffffe fffffff9, fffffffd -3 fffb"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A program whose static probe has an int, two texts, a bool, an enum and a pointer to a struct, the texts without an
// end of their own.
const soldSource = `
#define NOTE(provider, name, args) "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
	".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n" \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
struct order { int id; char name[8]; } order = {7, "apple"};
__attribute__((noinline)) void sell(long n, char *text, long length, char *customer) {
	__asm__ volatile(NOTE("shop", "item__sold", "-4@%0 8@%1 4@%2 8@%3 -4@%0 -2@%0 8@%4")
		:: "r"(n), "r"(text), "r"(length), "r"(customer), "r"(&order) : "memory");
	__asm__ volatile(NOTE("libc", "memory_heap_new", "8@%0 8@%1") :: "r"(text), "r"(length));
	__asm__ volatile(NOTE("libc", "memory_heap_free", "8@%0") :: "r"(text));
}
int main(void) {
	char text[] = "pearapple", customer[] = "Ann";
	sell(-2, text, 4, customer);
	sell(0x100, text, 0, 0);
	return 0;
}
`

// A script says which names and types the arguments of static probes have.
//
// > `types()` declares the names and types of others, as DTrace's files do.
// > With `provider shop { probe sold(int n, char *name); };` it says which names and types the arguments of a static
// > probe have.
// > A `char *` is a string, and `char name[n]` a text of n bytes, where n is another argument. A bool is True or
// > False, an enum a number of which `names` is the name, and a pointer is followed by its type. An int keeps the width
// > and the sign that the program gives it. Arguments at the end may be left out. The numbers are there as before.
func TestStaticProbeOfScript(t *testing.T) {
	got := printed(t, "gcc -g -O1", "sold.c", soldSource, `
types("""
#pragma D attributes Evolving/Evolving/Common provider shop provider
struct order { int id; char name[8]; };
enum kind { SMALL = -2, LARGE = 256 };
provider shop {
    probe item-sold(unsigned long n, char text[length], int length, const char *customer, bool paid, enum kind kind,
                    struct order *from);
    probe item__lost(void);
};
""")
n = count()
probe("usdt:BIN:item-sold", lambda e: print(e.args.n, e.args.text, e.args.length, e.args.customer, e.args.paid,
                                            names(e.args.kind), e.args.from_.name))
probe("usdt:BIN:shop:*", lambda e: n[e.args.text, e.args.paid, e.args.arg0, e.args[2]].add())
probe("usdt:BIN:shop:*", lambda e: print(e.args.n), where = lambda e: e.args.text == "")
at_exit(lambda: print(sorted(n.items(), key = str)))
`)
	want := "-2 pear 4 Ann True SMALL apple, 256  0 <fault> True LARGE apple, 256, " +
		`[(("", True, 256, 0), 1), (("pear", True, -2, 4), 1)]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Probes of providers that are known have names without a declaration where they have as many arguments as the table
// says, and else numbers.
//
// > An argument of a static probe has no name in the program: `e.args.arg0` is the first one, an int of the width and
// > the sign that the program gives it. Of the probes of PostgreSQL, Python, Java (HotSpot), the C library, the C++
// > library, MySQL, Ruby, PHP and Perl names and types are known: `startrace list -v` shows them.
func TestStaticProbeOfKnownProvider(t *testing.T) {
	got := printed(t, "gcc -g -O1", "sold.c", soldSource, `
probe("usdt:BIN:libc:*", lambda e: print(e.func, e.args.size, e.args.arg1, e.args.heap == e.args.arg0, e.args))
`)
	if want := regexp.MustCompile(`^memory_heap_new 4 4 True record\(heap = \d+, size = 4\), ` +
		`memory_heap_free None None False record\(arg0 = \d+\), memory_heap_new 0 0 True .*`); !want.MatchString(got) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The modules of Python and the threads of Java by the names of their arguments.
func TestStaticProbesOfInterpreters(t *testing.T) {
	for _, tt := range []struct{ name, files, probe, file, text, want string }{
		{"Python", "/usr/bin/python3.*", "import__find__load__done", "a.py", "import wave\n", "wave 1 1"},
		{"Java", "/usr/lib/jvm/*/lib/server/libjvm.so", "thread__start", "T.java", `public class T {
	public static void main(String[] a) throws Exception {
		Thread t = new Thread(() -> {}, "worker-x"); t.start(); t.join();
	}
}`, "worker-x 8 False"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, _ := filepath.Glob(tt.files)
			file := ""
			for _, f := range all {
				e := startrace(t, "list", "usdt:"+f+":"+tt.probe)
				if e.status == 0 && strings.Contains(e.stdout, tt.probe) {
					file = f
				}
			}
			if file == "" {
				t.Skipf("needs a %s with static probes (%s)", tt.name, tt.files)
			}
			source := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(source, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			print, run := "print(e.args.module, e.args.found, e.args.arg1)", file
			if tt.name == "Java" {
				print = "print(e.args.name, e.args.name_length, e.args.daemon)"
				run = strings.TrimSuffix(file, "lib/server/libjvm.so") + "bin/java"
			}
			e := startrace(t, "-q", "-e", fmt.Sprintf("probe('usdt:%s:%s', lambda e: %s)", file, tt.probe, print), "-c",
				run+" "+source).ok(t)
			if !slices.Contains(lines(e.stdout), tt.want) {
				t.Errorf("no line %s in\n%s", tt.want, e.stdout)
			}
		})
	}
}

// Mistakes in what a script says of static probes are told at their places.
func TestStaticProbeMistakes(t *testing.T) {
	need.Sources(t, "../..")
	bin := need.Built(t, "gcc -g -O1", "sold.c", soldSource)
	for text, want := range map[string]string{
		"void *heap, int size": `-e:2:1: types\(\) declares 2 arguments of probe libc:memory_heap_free, which has 1 `,
		"void *":               `-e:1:53: got \), want the name of the parameter`,
		"char heap[n]":         `-e:1:47: the length of heap is n, which is no parameter`,
		"struct s { int i; } heap": `the argument heap of a static probe is one word; want an int, an enum, a ` +
			`pointer, or char heap\[LENGTH\]`,
	} {
		e := startrace(t, "-e", "types('provider libc { probe memory_heap_free("+text+"); };')\nprobe('usdt:"+bin+
			":libc:memory_heap_free', lambda e: print(e.args.heap))", "-c", "true")
		if e.status == 0 || !regexp.MustCompile(want).MatchString(e.stderr) {
			t.Errorf("%s: status %d: %s\nwant %s", text, e.status, e.stderr, want)
		}
	}
}

// fixedStatic is a program of which arguments are in arrays that registers index.
const fixedStatic = `
#define NOTE(args) "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n" \
  "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte 0\n" \
  ".asciz \"fixed\"\n.asciz \"at\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
long numbers[8] = {0, -10, -20, -30, 40};
static volatile unsigned char bytes[8] = {1, 2, 3, 4, 250};
struct pair { int a, b; } pairs[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
__attribute__((noinline)) void at(long i) {
  __asm__ volatile(NOTE("-8@numbers(,%%rdx,8) -8@numbers+8(%%rax) 1@bytes(%%rdx) -4@pairs+4(%%rax,%%rdx,4)"
    " 8@$numbers") : : "d"(i), "a"(i * 4), "r"(bytes), "m"(numbers), "m"(pairs) : "memory");
}
int main(void) {
  for (long i = 0; i < 4; i += 2) at(i);
  return 0;
}
`

// Arguments in arrays are read where the program is always loaded at the same address, as static ones are; where it is
// not, they are refused.
func TestStaticProbeOfArrays(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64, whose operands add registers to addresses")
	}
	for _, command := range []string{"gcc -O2 -static", "gcc -O1 -no-pie", "clang -O2 -no-pie"} {
		binary := need.Built(t, command, "fixed.c", fixedStatic)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def at(e):
    print(e.args[0], e.args[1], e.args[2], e.args[3], e.args[4] == uaddr("BIN:numbers"))
probe("usdt:BIN:at", at)
`, "BIN", binary)), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{"-20 -20 3 6 True", "0 -10 1 2 True"})
	}
	binary := need.Built(t, "gcc -O2", "fixed.c", fixedStatic)
	e := startrace(t, "-q", script(t, `probe("usdt:`+binary+`:at", lambda e: print(e.args[0]))`), "-c", binary)
	if e.status == 0 || !strings.Contains(e.stderr, "known only once the file is loaded") {
		t.Errorf("%d %s", e.status, e.stderr)
	}
}

// The address of a symbol at a static probe is that of the process: what lies there is the symbol's.
//
// > `uaddr("./shop:counter")` is the address of a variable or a function of a program, in the process of the event.
func TestAddressesAtStaticProbes(t *testing.T) {
	source := strings.ReplaceAll(fixedStatic, "-8@numbers(,%%rdx,8) -8@numbers+8(%%rax) 1@bytes(%%rdx) "+
		`-4@pairs+4(%%rax,%%rdx,4)"`, `-4@5"`)
	if runtime.GOARCH == "arm64" {
		source = strings.NewReplacer(`" 8@$numbers"`, `""`, `"d"`, `"r"`, `"a"`, `"r"`).Replace(source)
	}
	const text = `
probe("usdt:BIN:at", lambda e: print(cast("long *", uaddr("BIN:numbers"))[1], uaddr("BIN:at") <= e.ip))
`
	for _, command := range []string{"gcc -O2", "gcc -O1 -no-pie", "gcc -O2 -static", "clang -O2"} {
		if got := printed(t, command, "fixed.c", source, text); got != "-10 True, -10 True" {
			t.Errorf("%s: got %s", command, got)
		}
	}
}
