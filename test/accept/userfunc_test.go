package accept

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/target"
)

// traceable gives a program of package target: in a guest the one that came along, elsewhere it is built.
func traceable(t testing.TB, name string) string {
	t.Helper()
	needTracing(t)
	if inGuest() {
		path, err := filepath.Abs(filepath.Join("..", "..", "bin", "target", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Skipf("needs %s where guests are started: it builds bin/target/%s", target.Compiler(name), name)
		}
		return path
	}
	path, err := target.Build(filepath.Join("..", "target", "testdata"), t.TempDir(), name)
	if errors.Is(err, target.ErrNoCompiler) {
		t.Skipf("needs %s: %v", target.Compiler(name), err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// onTarget runs a script, in which BIN is the path of a program of package target, on that program.
func onTarget(t testing.TB, name, text string, words ...string) ended {
	t.Helper()
	path := traceable(t, name)
	text = strings.ReplaceAll(text, "BIN", path)
	return startrace(t, script(t, text), "-c", strings.Join(append([]string{path}, words...), " ")).ok(t)
}

// unended is how many calls a run reports that were left by other ways than a return, and ends without a start.
func (e ended) unended(t testing.TB) (starts, ends int) {
	t.Helper()
	one := func(pattern string) (n int) {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(e.stderr); m != nil {
			n, _ = strconv.Atoi(m[1])
		}
		return n
	}
	return one(`(\d+) calls? of \S+ (?:never ended|did not return)`), one(`(\d+) ends? of \S+ had no start`)
}

// sorted are the lines that begin with a word, in order.
func sorted(text, word string) []string {
	lines := linesWith(text, word)
	slices.Sort(lines)
	return lines
}

func equalLines(t testing.TB, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Arguments in registers and on the stack, results, at the entry, at the return and for calls as spans.
// (S3-04, S4-07, S4-08, S4-15, S4-23)
//
// > | `ufunc:BINARY:FUNCTION` | | a span: a call of a function of a program or library |
// > | `uprobe:BINARY:FUNCTION[+OFFSET]`, `uretprobe:BINARY:FUNCTION` | `u`, `ur` | its entry, its return |
// > `e.args[0]` is the first word that the function is called with, a number, with and without debug information.
// > A `char *` is an address there, and `cstr(e.args[0])` the string at it.
// > `int32(…)` and `uint32(…)` take the lower 32 bits of an argument.
// > Without debug information nobody knows the types of a user function.
// > So `e.args[i]` and `e.ret` are words of 64 bits, with a sign.
// > Of a C `int` the upper 32 bits mean nothing, and `int32(e.ret)` and `uint32(e.args[0])` take the lower ones.
// > Arguments and results of user functions are whole registers, of which an int fills only the low 32 bits:
// > int32(e.ret) < 0.
func TestUserFunctions(t *testing.T) {
	e := onTarget(t, "calls", `
probe("uprobe:BIN:add", lambda e: print("enter", e.args[0], int32(e.args[1]), cstr(e.args[2]), e.func))
probe("uretprobe:BIN:add", lambda e: print("leave", e.ret, e.func))
probe("ufunc:BIN:{negative,many}", lambda e:
      print("call", e.func, int32(e.args[0]), int32(e.ret)) if e.func == "negative" else
      print("call", e.func, e.args[0], e.args[5], e.args[6], int32(e.args[7]), e.args[8], e.args[9], e.ret, e.depth,
            e.duration > 0))
`, "calls", "3")
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprintf("enter %d -3 abc add", i), fmt.Sprintf("leave %d add", i),
			fmt.Sprintf("call negative %d %d", i, -i),
			fmt.Sprintf("call many %d 6 7 -8 9 %d %d 0 True", i, 10+i, i+2+3+4+5+6+7-8+9+10+i))
	}
	equalLines(t, sorted(e.stdout, ""), want)
	const byName = `probe("uprobe:BIN:add", lambda e: print(e.args.n))`
	refused := startrace(t, "-q", script(t, strings.ReplaceAll(byName, "BIN", traceable(t, "calls"))), "-c", "true")
	if !strings.Contains(refused.stderr, "there is none of this function: e.args[0] is the first") {
		t.Errorf("an argument by its name: %s", refused.stderr)
	}
}

// Exact numbers of many calls, in one thread and in eight, with recursion: each call has its own argument's result.
func TestUserFunctionCounts(t *testing.T) {
	const text = `
n = count()
probe("ufunc:BIN:down", kernel = lambda e: n[e.args[0] == e.ret, e.tid == e.start.tid].add())
at_exit(lambda: print("all", sorted(n.items())))
`
	each := scaled(8000) / 8 * 8
	for _, tt := range []struct {
		words []string
		want  int
	}{{[]string{"down", "63"}, 64}, {[]string{"threads", strconv.Itoa(each)},
		8 * each / 8 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8)}} {
		e := onTarget(t, "calls", text, tt.words...)
		if want := fmt.Sprintf("all [((True, True), %d)]", tt.want); !strings.Contains(e.stdout, want) {
			t.Errorf("%v: got %s, want %s\nstderr: %s", tt.words, e.stdout, want, e.stderr)
		}
	}
}

// The kernel sees the returns of 64 calls on one stack: what is further in is counted, and the others are right.
//
// > A call that is further in is counted as lost.
// > `uprobe:` sees all entries.
func TestUserDeepRecursion(t *testing.T) {
	e := onTarget(t, "calls", `
n = count()
entered = count()
probe("ufunc:BIN:down", kernel = lambda e: n[e.args[0] == e.ret].add())
probe("uprobe:BIN:down", kernel = lambda e: entered.add())
at_exit(lambda: print("all", n.items(), entered.value))
`, "down", "4000")
	if want := "all [(True, 64)] 4001"; !strings.Contains(e.stdout, want) {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
	if got := e.lost(t); got != 4001-64 {
		t.Errorf("%d calls reported as lost, want %d: %s", got, 4001-64, e.stderr)
	}
}

// Where the kernel has sessions (6.13) it replaces the return addresses of those calls only that a filter at the start
// lets through, and one program sees both. Elsewhere they count among the 64 with all others. Functions of Go have no
// return probes, and no sessions.
//
// > Where the kernel replaces return addresses (uprobes in programs of C), it does so for 64 calls on one stack.
// > From Linux 6.13 on, calls that a filter with `start=` drops are not among them.
func TestUserSessions(t *testing.T) {
	path := traceable(t, "calls")
	e := startrace(t, "-v", script(t, strings.ReplaceAll(`
n = count()
began = count()
probe("ufunc:BIN:down", lambda e: n[e.args[0] == e.ret, e.duration > 0, e.depth < 64].add(),
      where = lambda e: e.args[0] % 8 == 0, start = lambda e: began.add())
at_exit(lambda: print("all", n.items(), began.value))
`, "BIN", path)), "-c", path+" down 400").ok(t)
	const wanted = 51
	seen, sessions := 8, 0 // of 400 to 337
	if atLeast(t, 6, 13) {
		seen, sessions = wanted, 1
	}
	want := fmt.Sprintf("all [((True, True, True), %d)] %d", seen, wanted)
	if starts, ends := e.unended(t); !strings.Contains(e.stdout, want) || starts != wanted-seen || ends != 0 {
		t.Errorf("got %s, want %s, and that the others never ended\nstderr: %s", e.stdout, want, e.stderr)
	}
	const session = "(uprobe session)"
	if got := strings.Count(strings.Join(strings.Fields(e.stderr), " "), session); got != sessions ||
		strings.Contains(e.stderr, "no session there") {
		t.Errorf("%d sessions, want %d:\n%s", got, sessions, e.stderr)
	}
	path = traceable(t, "goroutines")
	e = startrace(t, "-v", script(t, `
n = count()
probe("ufunc:`+path+`:main.negative", lambda e: n[int32(e.args[0]) + int32(e.ret)].add())
at_exit(lambda: print("all", n.items()))
`), "-c", path+" 100").ok(t)
	if want := "all [(0, 3)]"; !strings.Contains(e.stdout, want) ||
		strings.Contains(strings.Join(strings.Fields(e.stderr), " "), session) {
		t.Errorf("got %s, want %s\nstderr: %s", e.stdout, want, e.stderr)
	}
}

// What is not called, or keeps its return address, is left out of patterns and refused by name: a return probe would
// end the program.
//
// > Functions that nobody calls, or that keep their return address for later (`_start`, `setjmp`, `getcontext` and
// > their like), are left out of patterns, and refused by name.
func TestUserReturnsThatMustNotBeProbed(t *testing.T) {
	const refused = "the return of swapcontext cannot be probed"
	e := startrace(t, "-e", `probe("uretprobe:`+traceable(t, "coroutines")+`:swapcontext")`, "-c", "true")
	if e.status != failedBeside || !strings.Contains(e.stderr, refused) {
		t.Errorf("swapcontext: status %d, %s", e.status, e.stderr)
	}
	path := traceable(t, "calls")
	for _, name := range []string{"_start", "_setjmp", "__sigsetjmp"} {
		e := startrace(t, "-e", `probe("uretprobe:`+path+":"+name+`")`, "-c", path+" calls 1")
		if e.status != failedBeside || !strings.Contains(e.stderr, "the return of "+name) {
			t.Errorf("%s: status %d, %s", name, e.status, e.stderr)
		}
		e = startrace(t, "-e", `n = count()`, "-e", `probe("uprobe:`+path+":"+name+`", lambda e: n.add())`, "-e",
			`at_exit(lambda: print("entered", n.value))`,
			"-c", path+" leaps 2").ok(t)
		if strings.HasSuffix(name, "start") && !strings.Contains(e.stdout, "entered 1") {
			t.Errorf("%s: %s", name, e.stdout)
		}
	}
}

// The depth of a recursion at each call's end, with its result.
//
// > `func:` and `ufunc:` pair the entry of a call with its return by three things: the thread (in Go the goroutine),
// > the place on the stack where the call began, and the function.
func TestUserRecursion(t *testing.T) {
	e := onTarget(t, "calls", `probe("ufunc:BIN:factorial", lambda e: print("call", e.args[0], e.ret, e.depth))`,
		"factorial", "5")
	equalLines(t, sorted(e.stdout, "call"), []string{"call 1 1 4", "call 2 2 3", "call 3 6 2", "call 4 24 1",
		"call 5 120 0"})
}

// Calls that the next one replaces on the stack return with it.
//
// > At spans of calls `e.depth` says how many calls of the probe's functions, on this thread, are open around this one.
func TestUserTailCalls(t *testing.T) {
	e := onTarget(t, "calls",
		`probe("ufunc:BIN:{odd,even}", lambda e: print("call", e.func, e.args[0], e.ret, e.depth))`, "tails", "4")
	equalLines(t, sorted(e.stdout, "call"), []string{
		"call even 0 1 0",
		"call even 1 0 0", "call odd 0 0 1",
		"call even 2 1 0", "call odd 1 1 1", "call even 0 1 2",
		"call even 3 0 0", "call odd 2 0 1", "call even 1 0 2", "call odd 0 0 3",
	})
}

// > Each point or pattern of a list counts its own calls alone: `ufunc:./app:{f,g}` counts the calls of both functions.
func TestDepthsOfList(t *testing.T) {
	e := onTarget(t, "calls",
		`probe(["ufunc:BIN:factorial", "ufunc:BIN:negative"], lambda e: print("call", e.func, e.args[0], e.depth))`,
		"factorial", "3")
	equalLines(t, sorted(e.stdout, "call"), []string{"call factorial 1 2", "call factorial 2 1", "call factorial 3 0"})
	for points, depth := range map[string]int{`"ufunc:BIN:{odd,even}"`: 1, `["ufunc:BIN:odd", "ufunc:BIN:even"]`: 0} {
		e := onTarget(t, "calls",
			`probe(`+points+`, lambda e: print("call", e.func, e.args[0], e.depth))`, "tails", "2")
		equalLines(t, sorted(e.stdout, "call"), []string{
			"call even 0 0", "call even 1 0", fmt.Sprint("call odd 0 ", depth)})
	}
}

// > Where `where=` is asked at the start, as it is beside `start=`, the calls that it drops do not count.
func TestDepthsOfFilteredCalls(t *testing.T) {
	for start, depth := range map[string]int{"": 2, ", start = lambda e: None": 1} {
		e := onTarget(t, "calls", `probe("ufunc:BIN:factorial", lambda e: print("call", e.args[0], e.depth),
      where = lambda e: e.args[0] != 2`+start+`)`, "factorial", "3")
		equalLines(t, sorted(e.stdout, "call"), []string{fmt.Sprint("call 1 ", depth), "call 3 0"})
	}
}

// Calls that longjmp leaves are dropped and counted, and the depth stays right.
//
// > Calls that are left in another way (longjmp, an exception, a coroutine that is never continued) are dropped when
// > the next call shows it, and counted.
// > Of coroutines that take turns on one thread some calls are counted instead of paired, and none is paired with
// > another.
func TestUserLongjmp(t *testing.T) {
	const rounds = 50
	e := onTarget(t, "calls", `
depths = count()
probe("ufunc:BIN:{leap,negative}", lambda e: print("ended", e.func),
      start = lambda e: depths[e.func, e.args[0], e.depth].add())
at_exit(lambda: [print("began", k, n) for k, n in depths.items()])
`, "leaps", strconv.Itoa(rounds))
	var want []string
	for depth := range 4 {
		want = append(want, fmt.Sprintf(`began ("leap", %d, %d) %d`, 3-depth, depth, rounds))
	}
	equalLines(t, sorted(e.stdout, "began (\"leap"), want)
	if got := linesWith(e.stdout, "ended"); len(got) != 1 || got[0] != "ended negative" {
		t.Errorf("ended: %q", got)
	}
	if starts, ends := e.unended(t); starts != 4*rounds || ends != 0 {
		t.Errorf("%d starts without an end, %d ends without a start, want %d and 0", starts, ends, 4*rounds)
	}
}

// However many calls a longjmp leaves, the call that goes on ends with its own depth, and those of the frame to which
// it went begin with theirs.
//
// > It does not matter how many calls are left at once, if they took less than 1 MiB of stack.
// > Until a call or return that lies no deeper in the stack shows that they were left, they count in `e.depth`.
// > They also count there where the same instruction calls another function next (through a pointer).
func TestUserLongjmpOfMany(t *testing.T) {
	for _, depth := range []int{1, 31, 32, 33, 55} {
		e := onTarget(t, "calls",
			`probe("ufunc:BIN:{vault,leap,negative}", lambda e: print("call", e.func, e.args[0], e.depth))`,
			"vaults", strconv.Itoa(depth))
		equalLines(t, sorted(e.stdout, "call"), []string{
			fmt.Sprintf("call vault %d 0", depth), "call negative 1 0", "call negative 2 0", "call negative 3 0"})
		if starts, ends := e.unended(t); starts != 2*(depth+1) || ends != 0 {
			t.Errorf("%d starts without an end, %d ends without a start, want %d and 0", starts, ends, 2*(depth+1))
		}
	}
}

// A call that exec leaves is not open in the new program, and is counted.
//
// > A call that is open when its thread executes another program has ended without a return, too, and is counted.
// > In Go the next call shows it.
func TestUserCallsAcrossExec(t *testing.T) {
	e := onTarget(t, "calls",
		`probe("ufunc:BIN:{executes,factorial}", lambda e: print("call", e.func, e.args[0], e.depth))`, "executes")
	equalLines(t, sorted(e.stdout, "call"), []string{"call factorial 1 2", "call factorial 2 1", "call factorial 3 0"})
	if starts, ends := e.unended(t); starts != 1 || ends != 0 {
		t.Errorf("%d starts without an end, %d ends without a start, want 1 and 0", starts, ends)
	}
}

// A signal's handler on a stack of its own calls a function that is open on the other one.
func TestUserSignals(t *testing.T) {
	const rounds = 20
	e := onTarget(t, "calls", `probe("ufunc:BIN:tick", lambda e: print("call", e.depth, e.ret - e.args[0]))`, "signals",
		strconv.Itoa(rounds))
	for depth := range 2 {
		if n := len(linesWith(e.stdout, fmt.Sprintf("call %d 1", depth))); n != rounds {
			t.Errorf("%d calls of depth %d, want %d", n, depth, rounds)
		}
	}
	if starts, ends := e.unended(t); starts != 0 || ends != 0 {
		t.Errorf("%d starts without an end, %d ends without a start", starts, ends)
	}
}

// Coroutines end their calls in another order than that in which they begin: what cannot be paired is counted, and
// nothing is paired with something else.
func TestUserCoroutines(t *testing.T) {
	const rounds = 25
	e := onTarget(t, "coroutines", `probe("ufunc:BIN:work", lambda e: print("call", e.ret - e.args[0]))`, "turns",
		strconv.Itoa(rounds))
	paired := len(linesWith(e.stdout, "call 100"))
	if all := len(linesWith(e.stdout, "call")); all != paired {
		t.Errorf("%d of %d pairs are wrong", all-paired, all)
	}
	if starts, _ := e.unended(t); paired+starts != 2*rounds || paired == 0 {
		t.Errorf("%d pairs and %d starts without an end of %d calls", paired, starts, 2*rounds)
	}
}

// Exceptions pass through probed functions: the program lives, and the calls that they end are counted. (S4-25)
//
// > In programs of Go, C++ and Rust no return address is ever replaced, because a return probe would end the program:
// > Go moves its stacks, and exceptions find their way by return addresses.
func TestUserExceptions(t *testing.T) {
	const rounds, depth = 20, 200
	for _, probes := range []string{
		`probe("ufunc:BIN:{caught,thrown}", lambda e: print("call", e.func, e.args[0], e.ret, e.depth))`,
		`probe("uretprobe:BIN:{caught,thrown}", lambda e: print("call", e.func, 200, e.ret, 0))`,
	} {
		e := onTarget(t, "thrower", probes, strconv.Itoa(rounds), strconv.Itoa(depth))
		if got := linesWith(e.stdout, "call"); len(got) != rounds || got[0] != "call caught 200 42 0" {
			t.Errorf("%d lines: %q", len(got), excerpt(e.stdout))
		}
		if starts, ends := e.unended(t); strings.Contains(probes, "ufunc") &&
			(starts != rounds*(depth+1) || ends != 0) {
			t.Errorf("%d starts without an end, %d ends without a start, want %d and 0", starts, ends, rounds*(depth+1))
		}
	}
}

// Names of C++ as they are written, with and without parameters.
//
// > FUNCTION is written as the symbol table has it, and C++ and Rust names as their source has them
// > (`ufunc:./app:ns::read*`).
// > A pattern can match such a name with its parameters and the arguments of its templates, or without them:
// > `ns::box<int>::get(int)`, `ns::box<int>::get` and `ns::box::get` find one function, the last one also that of each
// > other box.
func TestUserNamesOfCPlusPlus(t *testing.T) {
	e := onTarget(t, "thrower", `
probe('uprobe:BIN:"ns::f*"', lambda e: print("enter", e.func))
probe('ufunc:BIN:"ns::first(long)"', lambda e: print("call", e.func, e.args[0], e.ret))
probe('ufunc:BIN:"ns::Thing::twice"', lambda e: print("call", e.func, e.args[1], e.ret))
probe('uprobe:BIN:"ns::folded"', lambda e: print("bare", e.func))
`, "2", "1")
	equalLines(t, sorted(e.stdout, " ns::"), []string{
		"enter ns::first", "enter ns::first", "enter ns::folded<long>", "enter ns::first", "enter ns::first",
		"enter ns::folded<long>",
		"bare ns::folded<long>", "bare ns::folded<long>",
		"call ns::first 0 1", "call ns::first 1 2", "call ns::Thing::twice 0 5", "call ns::Thing::twice 1 7",
	})
}

// A function that ends by a jump to another one returns when that does, with its result; one that is called by others,
// too, does not end those. Where functions jump to each other in turns their ends are seen at the jumps. (-O2: sibling
// calls)
//
// > A function that ends by jumping to another one (a tail call) ends where that other one returns, with its result.
// > `ufunc:` probes the returns of the other function too, which costs all its callers something, and `-v` says of how
// > many.
// > In four cases the end is seen at the jump, and `e.ret` is not the result: the jump leads through memory; it leads
// > to the linker's stub of another library's function; it leads back again (functions that jump to each other in
// > turns); or the point is `uretprobe:`, which knows no starts.
// > `-v` says how often that can happen.
func TestUserJumps(t *testing.T) {
	const rounds = 4
	var onward []string
	for i := range rounds {
		onward = append(onward, fmt.Sprintf("call onward %d %d", i, 2*(i+11)))
	}
	e := onTarget(t, "thrower", `probe("ufunc:BIN:onward", lambda e: print("call", e.func, e.args[0], e.ret))`,
		strconv.Itoa(rounds), "0")
	equalLines(t, sorted(e.stdout, "call"), onward)
	if starts, ends := e.unended(t); starts+ends != 0 {
		t.Errorf("onward alone: %s", e.stderr)
	}
	e = onTarget(t, "thrower",
		`probe("ufunc:BIN:{landed,tailed,onward}", lambda e: print("call", e.func, e.args[0], e.ret, e.depth))`,
		strconv.Itoa(rounds), "0")
	var want []string
	for i := range rounds { // landed(i), tailed(i) → landed(i+1), onward(i) → tailed(i+10) → landed(i+11)
		want = append(want, fmt.Sprintf("call landed %d %d 0", i, 2*i),
			fmt.Sprintf("call tailed %d %d 0", i, 2*(i+1)), fmt.Sprintf("call landed %d %d 1", i+1, 2*(i+1)),
			fmt.Sprintf("call onward %d %d 0", i, 2*(i+11)), fmt.Sprintf("call tailed %d %d 1", i+10, 2*(i+11)),
			fmt.Sprintf("call landed %d %d 2", i+11, 2*(i+11)))
	}
	equalLines(t, sorted(e.stdout, "call"), want)
	if starts, ends := e.unended(t); starts+ends != 0 {
		t.Errorf("all three: %s", e.stderr)
	}
	e = onTarget(t, "thrower", `
n = count()
probe("ufunc:BIN:{turn,about}", lambda e: n[e.func].add())
at_exit(lambda: print("turns", sorted(n.items())))
`, strconv.Itoa(rounds), "0")
	// turn(i) for i to 3: turn, turn about, turn about turn, turn about turn about.
	if want := `turns [("about", 4), ("turn", 6)]`; !strings.Contains(e.stdout, want) {
		t.Errorf("got %s, want %s; %s", e.stdout, want, e.stderr)
	}
	if starts, ends := e.unended(t); starts+ends != 0 {
		t.Errorf("in turns: %s", e.stderr)
	}
}

// What jumps cost, and where ends are seen at them, is said by -v. (TestUserJumps has the results.)
func TestUserJumpsSaid(t *testing.T) {
	path := traceable(t, "thrower")
	const there = "1 time a function leaves by a jump to another one: " +
		"its end is seen there, and e.ret is not its result"
	for point, want := range map[string]string{
		"ufunc:BIN:onward": "functions leave by jumps to 2 functions more, whose", "ufunc:BIN:turn": there,
		"uretprobe:BIN:onward": there,
	} {
		for _, flag := range []string{"-v", "-q"} {
			text := fmt.Sprintf("n = count()\nprobe(%q, lambda e: n.add())\n", strings.ReplaceAll(point, "BIN", path))
			e := startrace(t, flag, script(t, text), "-c", path+" 1 0").ok(t)
			said := strings.Contains(strings.Join(strings.Fields(e.stderr), " "), want)
			if said != (flag == "-v") {
				t.Errorf("%s of %s says %q: %v\n%s", flag, point, want, said, e.stderr)
			}
		}
	}
}

// One probe at many functions knows each of them; without BIN the functions are those of the program of -c or -p; an
// address is one of the file.
func TestUserPatterns(t *testing.T) {
	path := traceable(t, "calls")
	e := startrace(t, script(t, `
n = count()
probe("uprobe:{add,neg*,man[xy]}", lambda e: n[e.func, e.probe].add())
at_exit(lambda: [print("hit", f, p.split(":")[-1], k) for (f, p), k in n.items()])
`), "-c", path+" calls 5").ok(t)
	equalLines(t, sorted(e.stdout, "hit"), []string{"hit add add 5", "hit negative negative 5", "hit many many 5"})

	pattern := "*"
	if !atLeast(t, 6, 6) { // no uprobe_multi
		pattern = "{main,negative,leap*,s*}" // thousands of probes one by one take minutes
	}
	e = startrace(t, script(t, `
n = count()
probe("ufunc:`+pattern+`", lambda e: n[e.func].add(), where = lambda e: e.func == "main" or e.func == "negative")
at_exit(lambda: [print("hit", f, k) for f, k in n.items()])
`), "-c", path+" leaps 5").ok(t)
	equalLines(t, sorted(e.stdout, "hit"), []string{"hit main 1", "hit negative 1"})
}

// Two programs at the same functions of a Go program with growing stacks, by many goroutines. (S4-22)
//
// > startrace recognises Go programs.
// > It never gives their functions return probes, which would end them, but probes the instructions where they return.
// > There the instructions that return are probed instead, so there is no bound on the depth.
func TestUserGo(t *testing.T) {
	n := scaled(10_000)
	e := onTarget(t, "goroutines", `
deep = count()
probe("ufunc:BIN:main.deep", kernel = lambda e: deep[e.args[0] == e.ret].add())
probe("ufunc:BIN:main.add", lambda e: print("call", e.args[0], cstr(e.args[1])[:3], e.args[2], int32(e.args[3]), e.ret))
probe("uretprobe:BIN:main.negative", lambda e: print("leave", e.ret))
probe('uprobe:BIN:"main.(*square).area"', lambda e: print("enter", e.args[1]))
at_exit(lambda: print("deep", deep.items()))
`, strconv.Itoa(n))
	calls, sum := 0, 0
	for i := range n {
		calls += i%50 + 1
		sum += i % 50
	}
	if !strings.Contains("\n"+e.stdout, fmt.Sprintf("\n%d\n", sum)) { // its line may be the first
		t.Errorf("the program was harmed: %s", excerpt(e.stdout))
	}
	if want := fmt.Sprintf("deep [(True, %d)]", calls); !strings.Contains(e.stdout, want) {
		t.Errorf("got %q, want %s\nstderr: %s", linesWith(e.stdout, "deep"), want, e.stderr)
	}
	for i := range 3 {
		call := fmt.Sprintf("call %d abc 3 %d (%d, %d)\n", i, -i, i+3, -i)
		for _, want := range []string{call, fmt.Sprintf("leave %d\n", -i), "enter 10\n"} {
			if !strings.Contains(e.stdout, want) {
				t.Errorf("no %q in %s", want, excerpt(e.stdout))
			}
		}
	}
}

// Functions of Go that never return are left out: a return probe would end the program. Those that recover from a panic
// return.
func TestUserGoPanic(t *testing.T) {
	e := onTarget(t, "goroutines",
		`probe("ufunc:BIN:main.{never,recovered}", lambda e: print("call", e.func, e.args[0], e.ret))`, "1")
	equalLines(t, sorted(e.stdout, "call"), []string{"call main.recovered 0 0", "call main.recovered 1 1",
		"call main.recovered 2 2"})
	path := traceable(t, "goroutines")
	e = startrace(t, "-e", fmt.Sprintf("probe('ufunc:%s:main.never', lambda e: None)", path), "-c", path+" 1")
	if e.status != failedBeside || !strings.Contains(e.stderr, "the return of main.never cannot be probed: ") ||
		!strings.Contains(e.stderr, "never returns") {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}
