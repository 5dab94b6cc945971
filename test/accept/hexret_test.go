package accept

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const resultsSource = `#define N __attribute__((noinline, noclone))
N int negative(int n) { __asm__ volatile(""); return -n; }
N short narrow(int n) { __asm__ volatile(""); return -n; }
N double real(int n) { __asm__ volatile(""); return n / 2.0; }
N void nothing(int n) { __asm__ volatile("" :: "a"(-1)); }
struct pair { long a, b; };
N struct pair both(long n) { __asm__ volatile(""); return (struct pair){n, -n}; }
int main(void) { return negative(5) + narrow(6) + (int)real(7) + (nothing(8), both(9), both(0), 0) != -8; }
`

// resultsProgram is the program above with debug information.
func resultsProgram(t *testing.T) string {
	t.Helper()
	needTracing(t)
	return need.Built(t, "gcc -w -g -O1", "results.c", resultsSource)
}

// What functions give is shown with the bits that their types have, in callindent, which has no types of its own.
func TestCallindentResults(t *testing.T) {
	binary := resultsProgram(t)
	e := startrace(t, "-q", "callindent", binary, "-c", binary).ok(t)
	for _, want := range []string{"<- negative 0xfffffffb", "<- narrow 0xfffa", "<- real <float>", "<- nothing",
		`<- both \(a = 9, b = -9\)`, `<- both \(a = 0, b = 0\)`, "<- main 0/NULL"} {
		if !regexp.MustCompile(`(?m)` + want + `$`).MatchString(e.stdout) {
			t.Errorf("no line ends with %q:\n%s\nstderr: %s", want, e.stdout, e.stderr)
		}
	}
}

// A function that returns nothing leaves what it likes in the register for results: e.ret is None, in both halves, also
// in one program for functions of several types.
//
// > `e.ret` of a function that returns nothing is None, where debug information of C, C++ or Rust says so.
func TestVoidResult(t *testing.T) {
	binary := resultsProgram(t)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:n*", lambda e: print("user", e.func, e.ret, e.ret == None))
probe("uretprobe:BIN:nothing", lambda e: print("return", e.ret, e.ret == None, e.ret or 7))
seen, total = count(), total()
def kernel_half(e):
    seen[e.func, e.ret, e.ret == None].add()
probe("ufunc:BIN:n*", kernel = kernel_half)
probe("ufunc:BIN:nothing", kernel = lambda e: total.add(e.ret))
at_exit(lambda: [print("kernel", *(k + (n,))) for k, n in seen.items()])
`, "BIN", binary)), "-c", binary).ok(t)
	var got []string
	for line := range strings.Lines(e.stdout) {
		if f := strings.Fields(line); len(f) > 2 {
			got = append(got, strings.Join(f, " "))
		}
	}
	slices.Sort(got)
	equalLines(t, got, []string{
		"kernel narrow -6 False 1", "kernel negative -5 False 1", "kernel nothing None True 1", "return None True 7",
		"user narrow -6 False", "user negative -5 False", "user nothing None True",
	})
}

const structResults = `#define N __attribute__((noinline, noclone))
#define GIVEN __asm__ volatile("" ::: "memory"); return s
struct one { int a; };
struct two { int a, b; };
struct bits { unsigned low : 3, high : 5; char c; };
struct text { char s[8]; };
struct inner { struct two in; };
struct pair { long a, b; };
union either { int i; unsigned u; };
N struct one of_one(struct one s) { GIVEN; }
N struct two of_two(struct two s) { GIVEN; }
N struct bits of_bits(struct bits s) { GIVEN; }
N struct text of_text(struct text s) { GIVEN; }
N struct inner of_inner(struct inner s) { GIVEN; }
N struct pair of_pair(struct pair s) { GIVEN; }
N union either of_either(union either s) { GIVEN; }
N void of_none(int s) { __asm__ volatile(""); }
N long of_number(long s) { GIVEN; }
int main(void)
{
	of_one((struct one){5}), of_one((struct one){0});
	of_two((struct two){5, -6}), of_two((struct two){0, 0});
	of_bits((struct bits){1, 2, 'c'});
	of_text((struct text){"seven"});
	of_inner((struct inner){{7, 8}}), of_inner((struct inner){{0}});
	of_pair((struct pair){9, -9});
	of_either((union either){-1});
	of_none(3);
	of_number(4);
	return 0;
}
`

// A struct that a function takes or gives is shown by its fields, whatever its size and also where all of it is zero:
// by callindent, by trace and as a value, in both halves, beside functions that give a number or nothing.
//
// > A struct in registers is a record, also where it is one word, and `e.ret[0]` its first word.
func TestStructResults(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -w -g -O1", "structs.c", structResults)
	fields := []string{"one (a = 5)", "one (a = 0)", "two (a = 5, b = -6)", "two (a = 0, b = 0)",
		"bits (low = 1, high = 2, c = 99)", `text (s = "seven")`, "inner (in = record(a = 7, b = 8))",
		"inner (in = record(a = 0, b = 0))", "pair (a = 9, b = -9)", "either (i = -1, u = 4294967295)"}
	var indented, values []string
	for _, f := range fields {
		name, text, _ := strings.Cut(f, " ")
		indented = append(indented, "-> of_"+name+"(s = record"+text+")", "<- of_"+name+" "+text)
		values = append(values, "of_"+name+" record"+text, "of_"+name+" record"+text)
	}
	e := startrace(t, "-q", "callindent", binary, "-F", "of_*", "-c", binary).ok(t)
	var got []string
	for _, line := range lines(e.stdout) {
		_, what, _ := strings.Cut(line, "): ")
		got = append(got, what)
	}
	slices.Sort(got)
	equalLines(t, got, append(indented, "-> of_none(s = 3)", "<- of_none", "-> of_number(s = 4)", "<- of_number 0x4"))

	e = startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("ufunc:BIN:of_*", lambda e: print(e.func, e.ret))
probe("ufunc:BIN:of_*", kernel = lambda e: (e.func, e.ret), handler = lambda e: print(*e.value))
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, ""), append(values, "of_none None", "of_none None", "of_number 4", "of_number 4"))

	e = startrace(t, "-q", "trace", "ufunc:"+binary+":of_*", "-c", binary).ok(t)
	if !strings.Contains(e.stdout, "s=(a=5, b=-6) ret=(a=5, b=-6)") || !strings.Contains(e.stdout, "ret=(a=0)") {
		t.Errorf("trace shows:\n%s", e.stdout)
	}
}

// A name can stand for a struct at one point of a probe, for a number at another and for a value of user space at a
// third: the user half finds each, by whichever way it got the name.
func TestNamesOfMixedKinds(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -w -g -O1", "structs.c", structResults)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
def kind(value):
    return "none" if value == None else type(value)

def handler(e):
    ret = e.ret
    own = e.args.s if hasattr(e.args, "s") else "no s"
    first, second = (e.ret, e.func)
    led = e.task if hasattr(e.args, "s") else "none"
    seen = led.pid > 0 if hasattr(e.args, "s") else led
    given = (lambda x: x.pid > 0 if hasattr(e.args, "s") else x)(e.task if hasattr(e.args, "s") else "text")
    if (seen, given) != ((True, True) if hasattr(e.args, "s") else ("none", "text")):
        print("wrong", seen, given)
    print(second, kind(e.ret), kind(ret), kind(first), [kind(v) for v in (e.ret,)][0], kind(own), own)

probe("ufunc:BIN:{of_one,of_pair,of_none,of_number,main}", handler)
`, "BIN", binary)), "-c", binary).ok(t)
	equalLines(t, sorted(e.stdout, ""), []string{"of_one record record record record record record(a = 5)",
		"of_one record record record record record record(a = 0)",
		"of_pair record record record record record record(a = 9, b = -9)", "of_none none none none none int 3",
		"of_number int int int int int 4", "main int int int int string no s"})
}
