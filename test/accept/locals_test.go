package accept

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// A localKind is a type of variables of C: how one is declared and set from a number, how the program shows it, and
// what startrace is asked for.
type localKind struct {
	// declare has $V for the name and $N for a number that the compiler does not know.
	declare string
	// show are arguments of printf, and format is their text; sees are the parts of the variable. A ~ stands before
	// what lies in memory all the time: optimized code may store it later than its line says.
	format, show string
	sees         []string
}

var localWords = []string{"one", "two", "three"}

// The prelude of a program with random locals. P lines say what the variables at a line were.
var localsPrelude = `
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
struct pair { int a; short b; };
struct large { long a[5]; char name[8]; int z; };
struct flags { unsigned low : 3; int high : 7; bool on : 1; };
enum state { IDLE = 1, BUSY = 5, GONE = -3 };
union number { int i; unsigned char c[4]; };
#define T(b) ((b) ? "True" : "False")
static const char *words[] = {` + `"` + strings.Join(localWords, `", "`) + `"` + `};
static struct pair pairs[4];
static long serial;
volatile int unknown = 7;
static long sum;
`

var localKinds = []localKind{
	{"signed char $V = $N", "%d", "$V", []string{"$V"}},
	{"unsigned char $V = $N", "%u", "$V", []string{"$V"}},
	{"short $V = $N * 777", "%d", "$V", []string{"$V"}},
	{"unsigned short $V = $N", "%u", "$V", []string{"$V"}},
	{"int $V = -($N)", "%d", "$V", []string{"$V"}},
	{"unsigned $V = -($N)", "%u", "$V", []string{"$V"}},
	{"long $V = $N * 0x123456789", "%ld", "$V", []string{"$V"}},
	{"unsigned long $V = ~(unsigned long)$N", "%lu", "$V", []string{"$V"}},
	{"bool $V = $N & 1", "%s", "T($V)", []string{"$V"}},
	{"enum state $V = $N & 1 ? BUSY : GONE", "%d", "$V", []string{"$V"}},
	{"const char *$V = words[(unsigned)$N % 3]", "%s", "$V", []string{"$V"}},
	{"struct pair $V = {$N, -($N)}", "%d|%d", "$V.a, $V.b", []string{"$V.a", "$V.b"}},
	{"struct pair *$V = &pairs[$N & 3]", "%d|%d", "$V->a, $V->b", []string{"$V.a", "$V.b"}},
	{`struct large $V = {{$N, 2}, "abc", $N}`, "~%ld|~%ld|~%s|~%d", "$V.a[0], $V.a[4], $V.name, $V.z",
		[]string{"$V.a[0]", "$V.a[4]", "$V.name", "$V.z"}},
	{"struct flags $V = {$N & 7, $N % 50, $N & 1}", "%u|%d|%s", "$V.low, $V.high, T($V.on)",
		[]string{"$V.low", "$V.high", "$V.on"}},
	{"union number $V = {.i = $N}", "%d|%u", "$V.i, $V.c[1]", []string{"$V.i", "$V.c[1]"}},
	{"int $V[3] = {$N, 2, -($N)}", "~%d|~%d", "$V[0], $V[2]", []string{"$V[0]", "$V[2]"}},
	{"long $V = 42", "%ld", "$V", []string{"$V"}},
}

// A localsProgram is a program of random functions with random locals, and the lines at which it says what they are.
type localsProgram struct {
	r      *rand.Rand
	source strings.Builder
	probes []string
	line   int
	names  int
}

func (p *localsProgram) write(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.source.WriteString(text + "\n")
	p.line += strings.Count(text, "\n") + 1
}

// An inSight is a variable of a program that is being written.
type inSightOf struct {
	name string
	kind localKind
}

// declare writes a variable of a random type.
func (p *localsProgram) declare(numbers ...string) inSightOf {
	p.names++
	return p.declareAs(fmt.Sprintf("v%d", p.names), numbers...)
}

func (p *localsProgram) declareAs(name string, numbers ...string) inSightOf {
	return p.declareFrom(name, "unknown + "+numbers[p.r.IntN(len(numbers))], localKinds)
}

// declareFrom gives a variable, of one of some kinds, a value that is made of a number.
func (p *localsProgram) declareFrom(name, number string, kinds []localKind) inSightOf {
	v := inSightOf{name, kinds[p.r.IntN(len(kinds))]}
	n := fmt.Sprintf("(%s + %d)", number, p.r.IntN(100))
	p.write("%s;", strings.NewReplacer("$V", v.name, "$N", n).Replace(v.kind.declare))
	return v
}

// show writes a line that says what some variables are, and a probe at it.
func (p *localsProgram) show(vars []inSightOf) {
	p.write("long at = ++serial;")
	format, args, sees := "P|%ld", "at", "e.vars.at"
	for _, v := range vars {
		format += "|" + v.kind.format
		args += ", " + strings.ReplaceAll(v.kind.show, "$V", v.name)
		for _, see := range v.kind.sees {
			sees += ", e.vars." + strings.ReplaceAll(see, "$V", v.name)
		}
	}
	p.write("printf(\"%s\\n\", %s);", format, args)
	p.probes = append(p.probes, fmt.Sprintf("probe(\"uprobe:BIN:locals.c:%d\", lambda e: print(said(%s)))",
		p.line, sees))
}

// function writes one with parameters, a block and a loop.
func (p *localsProgram) function(name, kind string, inner string) {
	p.write("%s long %s(int k, short s, struct pair by, const char *text) {", kind, name)
	params := []inSightOf{{"k", localKinds[4]}, {"s", localKinds[2]}, {"by", localKinds[11]}, {"text", localKinds[10]}}
	a, b := p.declare("k"), p.declare("s", "k")
	p.write("{")
	if p.r.IntN(2) == 0 {
		p.show(append(params, p.declareAs(a.name, "k", "by.a"), b)) // which hides the outer one
	} else {
		p.show(append(params, a, b, p.declare("k", "by.a")))
	}
	p.write("sum += at;\n}")
	p.write("for (int i = 0; i < 2; i++) {")
	d := p.declare("i", "k")
	p.show([]inSightOf{params[0], a, d, {"i", localKinds[4]}})
	p.write("sum += at + (i ^ k);\n}")
	if inner != "" {
		p.write("sum += %s(k + 1, s, by, text);", inner)
	}
	p.show([]inSightOf{a, b})
	p.write("return sum + at;\n}")
}

// recursive writes a function that calls itself, so that compilers make copies of it within itself. Its number is no
// volatile variable, and its variable a number: of others gcc -O3 tells places that are those of another copy.
func (p *localsProgram) recursive(name string) {
	p.write("static long %s(int k, int n) {", name)
	p.names++
	a := p.declareFrom(fmt.Sprintf("v%d", p.names), "n + k * 3", localKinds[:10])
	p.write("if (k > 0)\nsum += %s(k - 1, n);", name)
	p.show([]inSightOf{{"k", localKinds[4]}, a})
	p.write("return sum + at;\n}")
}

func newLocalsProgram(seed uint64, functions int) *localsProgram {
	p := &localsProgram{r: rand.New(rand.NewPCG(seed, 1))}
	p.write("%s", localsPrelude)
	for i := range functions {
		inner := ""
		if p.r.IntN(2) == 0 {
			inner = fmt.Sprintf("inner%d", i)
			p.function(inner, "static inline", "")
		}
		p.function(fmt.Sprintf("outer%d", i), "__attribute__((noinline))", inner)
		p.recursive(fmt.Sprintf("deep%d", i))
	}
	p.write("int main(void) {\nfor (int i = 0; i < 4; i++) pairs[i] = (struct pair){i * 100000, -i};")
	for i := range functions {
		p.write("for (int i = 0; i < 2; i++) outer%d(i * 5 - 3, i - 2, (struct pair){i + 9, 7 - i}, words[i]);", i)
		p.write("deep%d(3, unknown);", i)
	}
	p.write("return 0;\n}")
	return p
}

// The variables at a line are what the program itself says that they are. What the compiler does not keep there says
// so. Without optimization it keeps all.
//
// > `e.vars.NAME` at `uprobe:BINARY:FILE:LINE` is the variable as debug information describes it at that place: in
// > memory, in a register, computed from both, or in several parts.
// > A variable that the compiler does not keep at this place prints as `<optimized out>` and is equal to FAULT.
// > What is known of a variable is what debug information says at each of them, which is mostly right.
// > One exception is what lies in memory all the time, as an array or a larger struct, or a variable that a closure of
// > Go has captured.
// > Its parts may be stored some instructions after the line that sets them, which debug information does not say, and
// > a debugger shows the same.
// > Another one is clang, at `-O1` and `-Os` above all: a variable can have the value that it had before the line
// > above.
// > What debug information does not know there is FAULT, and prints as `<optimized out>`.
// > In optimized code an instruction of a line can lie outside of the block, or of the inlined function, that the line
// > stands in.
// > The variables are those of the line, all the same.
// > Where the compiler has left the block out, or several copies of the function could be meant, they are FAULT.
// > In code without optimization a local is FAULT at its own line and before it.
func TestLocals(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	seeds := 2
	if !testing.Short() {
		seeds = 6
	}
	var all localsSeen
	var mu sync.Mutex // guards all
	t.Run("programs", func(t *testing.T) {
		for seed := range setting.Int(t, "LOCALS_PROGRAMS", seeds) {
			p := newLocalsProgram(uint64(seed), 5)
			for _, command := range localsCommands {
				t.Run(fmt.Sprintf("seed %d, %s", seed, command), func(t *testing.T) {
					beside(t)
					n := tracedLocals(t, p, command)
					mu.Lock()
					defer mu.Unlock()
					all.equal, all.lost, all.faults = all.equal+n.equal, all.lost+n.lost, all.faults+n.faults
				})
			}
		}
	})
	lost := all.lost + all.faults
	if all.equal < lost {
		t.Errorf("%d values are known and %d are not", all.equal, lost)
	}
	t.Logf("%d values, %d more optimized out", all.equal, lost)
}

var localsCommands = []string{"gcc -g -O0", "gcc -g -O2", "gcc -g -O3 -gdwarf-4", "gcc -g -O1 -no-pie -static",
	"clang -g -O0", "clang -g -O1", "clang -g -O2 -gdwarf-4"}

// tracedLocals builds the program, traces it and compares what startrace says of its variables with what it does.
func tracedLocals(t *testing.T, p *localsProgram, command string) localsSeen {
	t.Helper()
	binary := need.Built(t, command, "locals.c", p.source.String())
	code := "def said(*values):\n    return \"|\".join([\"S\"] + [str(v) for v in values])\n" +
		strings.ReplaceAll(strings.Join(p.probes, "\n"), "BIN", binary)
	out := tracedLines(t, code, binary)
	plain := strings.Contains(command, "-O0")
	n := compareLocals(t, command, out, !plain)
	if plain && (n.lost > 0 || n.faults > len(localWords) || n.equal == 0) {
		t.Errorf("of %d values %d are optimized out, and %d cannot be read", n.equal, n.lost, n.faults)
	}
	return n
}

// tracedLines runs the probes at those of the lines that have code: compilers can make the code of several lines one,
// of which they tell no line.
func tracedLines(t *testing.T, code, binary string) string {
	t.Helper()
	e := startrace(t, "-q", script(t, code), "-c", binary)
	if gone := noCode.FindAllStringSubmatch(e.stderr, -1); len(gone) > 0 && len(gone) < 4 {
		for _, line := range gone {
			code = regexp.MustCompile(`(?m)^probe\("[^"]*:`+line[1]+`",.*$`).ReplaceAllString(code, "")
		}
		e = startrace(t, "-q", script(t, code), "-c", binary)
	}
	return e.ok(t).stdout
}

var noCode = regexp.MustCompile(`line (\d+) of \S+ has no code`)

// localsSeen counts what became of the values.
type localsSeen struct{ equal, lost, faults int }

// lostParts are the parts of a value of which nothing is known.
var lostParts = regexp.MustCompile(`<optimized out>|record|\w+ = |[(), ]`)

// compareLocals compares the lines of the program with those of startrace, by the number in front.
func compareLocals(t *testing.T, of, out string, optimized bool) (n localsSeen) {
	t.Helper()
	said := map[string][]string{}
	for line := range strings.Lines(out) {
		if words := strings.Split(strings.TrimSpace(line), "|"); words[0] == "P" {
			said[words[1]] = words[2:]
		}
	}
	for line := range strings.Lines(out) {
		words := strings.Split(strings.TrimSpace(line), "|")
		if words[0] != "S" {
			continue
		}
		if words[1] == "<optimized out>" {
			n.lost++
			continue
		}
		want := said[words[1]]
		if len(want) != len(words)-2 {
			t.Errorf("%s: startrace prints %q, and the program %q", of, line, want)
			continue
		}
		for i, w := range words[2:] {
			wanted, inMemory := strings.CutPrefix(want[i], "~")
			switch {
			case lostParts.ReplaceAllString(w, "") == "":
				n.lost++ // of which the parts may be those of a variable that hides it, where that is not known
			case w == "<fault>": // what a pointer leads to that is optimized out, or a text that nobody has touched yet
				n.faults++
			case w == wanted:
				n.equal++
			case !inMemory || !optimized:
				t.Errorf("%s: startrace prints %q, and the program %q: %s", of, line, want, w)
			}
		}
	}
	return n
}

// What has no value yet at a line is optimized out: named results of Go, which the function sets to zero behind the
// instruction at which its first line begins, and names of the parts of a value of C++ that are references, which clang
// declares without a line.
func TestLocalsWithoutAValueYet(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const lost = "<optimized out>"
	const ofGo, goOut = "go build -gcflags=-N", "res = " + lost + ", name = " + lost + ", err = " + lost
	for _, tt := range []struct{ command, file, source, line, show, want string }{
		{ofGo, "main.go", namedResults, "main.go:4", "e.vars", "record(n = 3, " + goOut + ")"},
		{ofGo, "main.go", namedResults, "main.go:6", "e.vars", `record(n = 3, res = 3, name = "", err = None)`},
		{"clang++ -g -O0 -std=c++17", "sb.cc", referenceBindings, "sb.cc:6", "(e.vars.c, e.vars.d)",
			"(" + lost + ", " + lost + ")"},
		{"clang++ -g -O0 -std=c++17", "sb.cc", referenceBindings, "sb.cc:7", "(e.vars.c, e.vars.d)", "(3, 4)"},
		{"g++ -g -O0 -std=c++17", "sb.cc", referenceBindings, "sb.cc:7", "(e.vars.c, e.vars.d)", "(3, 4)"},
	} {
		binary := need.Built(t, tt.command, tt.file, tt.source)
		text := "probe('uprobe:" + binary + ":" + tt.line + "', lambda e: print(" + tt.show + "))"
		e := startrace(t, "-q", "-e", text, "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.command, tt.line, got, tt.want)
		}
	}
}

const namedResults = `package main
import "os"
//go:noinline
func f(n int) (res int, name string, err error) {
	res = n
	name = "x"
	return
}
func main() { n, _, _ := f(3); os.Exit(n - 3) }
`

// referenceBindings gives names to the parts of a pair, which has functions that give them.
const referenceBindings = `#include <utility>
volatile int sink;
__attribute__((noinline)) int f(int n) {
	sink = n;
	std::pair<int, short> pr{3, 4};
	auto &[c, d] = pr;
	sink = c + d;
	return n;
}
int main() { return f(0); }
`

// Where several lines have one address, gcc's variables are those of each line, and not of the last of them.
//
// > The variables are those of the line, all the same.
func TestLocalsOfLinesAtOneAddress(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const lost = "<optimized out>"
	binary := need.Built(t, "gcc -g -O1", "moments.c", `volatile long sink;
__attribute__((noinline)) long f(int k) {
	int t = 40;
	t += 2;
	t ^= 1;
	for (int i = 0; i < 1; i++) {
		unsigned v = t;
		v -= 5;
		sink += v;
	}
	return k;
}
int main(void) { return f(3) * 0; }
`)
	for line, want := range map[int]string{3: lost + " " + lost, 4: "40 " + lost, 5: "42 " + lost, 7: "43 " + lost,
		8: "43 43", 9: "43 38"} {
		text := fmt.Sprintf("probe('uprobe:%s:moments.c:%d', lambda e: print(e.vars.t, e.vars.v))", binary, line)
		e := startrace(t, "-q", "-e", text, "-c", binary).ok(t)
		if got := strings.TrimSpace(e.stdout); got != want {
			t.Errorf("line %d: got %s, want %s", line, got, want)
		}
	}
}

// What debug information says of a variable of Go with optimization can be old, and a debugger shows the same; without
// optimization it is the value at the line.
//
// > A third one is Go with optimization: a variable can have the value that it had some lines above.
// > `go build -gcflags='all=-N -l'` makes a program whose variables are right.
func TestOldValuesOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, command := range []string{"go build", "go build -gcflags=-N"} {
		binary := need.Built(t, command, "main.go", `package main
import "os"
//go:noinline
func sum(a, b, c int) int {
	t := a
	t += b * 3
	t += c * 5
	t += len(os.Args)
	return t
}
func main() { os.Exit(sum(1, 2, 3) - 23) }
`)
		values := []string{"1", "7", "22", "23"} // before the line, from line 6 on
		for i, want := range values {
			text := fmt.Sprintf("probe('uprobe:%s:main.go:%d', lambda e: print(e.vars.t))", binary, 6+i)
			got := strings.TrimSpace(startrace(t, "-q", "-e", text, "-c", binary).ok(t).stdout)
			old := command == "go build" && slices.Contains(values[:i], got)
			if got != want && !old && got != "<optimized out>" {
				t.Errorf("%s: line %d: got %s, want %s", command, 6+i, got, want)
			}
		}
	}
}
