package accept

import (
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// The names of structured bindings are variables, as far as the compiler tells of them: clang up to 15 does so only of
// tuples and pairs.
func TestStructuredBindings(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <cstdio>
#include <map>
#include <tuple>
struct point { int x; long y; };
static volatile long sink;
int run(int n, std::map<int, long> &m) {
	std::pair<int, long> pair{n, n * 2L};
	point p{n, n + 1L};
	int list[2] = {n, n + 1};
	auto [a, b] = pair;
	auto &[x, y] = p;
	auto &[r0, r1] = list;
	auto [t0, t1] = std::make_tuple(n + 5, -3L);
	x = 99, r1 = 55;
	sink = a + b + x + y + r0 + r1 + t0 + t1; // 15
	for (auto &[key, value] : m)
		sink = key + value; // 17
	for (const auto [key, value] : m)
		sink = key + value; // 19
	return n;
}
int main(int argc, char **argv) { std::map<int, long> m{{3, 4}, {5, 6}}; run(argc + 6, m); }
`
	for _, command := range []string{"g++ -std=c++17 -g -O0", "g++ -std=c++17 -g -O0 -gdwarf-4",
		"clang++ -std=c++17 -g -O0", "clang++ -std=c++17 -g -O0 -gdwarf-4"} {
		binary := need.Built(t, command, "bind.cc", source)
		printed, want := `print(e.vars.a, e.vars.b, e.vars.t0, e.vars.t1)`, "7 14 12 -3\n"
		if strings.HasPrefix(command, "g++") {
			printed += `, print(e.vars.x, e.vars.y, e.vars.r0, e.vars.r1)`
			want += "99 8 7 55\n"
		}
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "PRINTED", printed).Replace(`
probe("uprobe:BIN:bind.cc:15", lambda e: [PRINTED])
probe("uprobe:BIN:bind.cc:17", lambda e: print(e.vars.key, e.vars.value))
probe("uprobe:BIN:bind.cc:19", lambda e: print(e.vars.key, e.vars.value))
probe("uprobe:BIN:bind.cc:19", lambda e: print("__" in str(e.vars)))
`)), "-c", binary).ok(t)
		if want += "3 4\n5 6\n3 4\nFalse\n5 6\nFalse\n"; e.stdout != want {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}

// What a closure of Go has captured has its own name and value, by value and by reference; at the line at which the
// closure begins it has no value yet, and never what was left in memory.
//
// > What a closure of Go has captured is FAULT at the line at which the closure begins, too.
func TestCapturedVariables(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `package main

import "fmt"

//go:noinline
func closures(k int, name string) func(int) int {
	kept, count, list := k+100, k*10, []int{k}
	inner := func(n int) int { // 8
		count += n
		list = append(list, count)
		k++
		return kept + count + k + len(name) + len(list) // 12
	}
	count += 5 // 14
	return inner // 15
}

func main() {
	f := closures(7, "tea")
	f(1)
	fmt.Println(f(2))
}
`
	for _, command := range []string{"go build -gcflags=-N", "go build"} {
		binary := need.Built(t, command, "capture.go", source)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(`
probe("uprobe:BIN:capture.go:8", lambda e: print("begin", e.vars.count, e.vars.kept) if "func1" in e.func else None)
probe("uprobe:BIN:capture.go:12", lambda e: print("inner", e.vars.count, e.vars.list, e.vars.k, e.vars.kept))
probe("uprobe:BIN:capture.go:15", lambda e: print("outer", e.vars.count, e.vars.list, e.vars.k, "&" in str(e.vars)))
`, "BIN", binary)), "-c", binary).ok(t)
		want := strings.ReplaceAll("200\nouter 75 (7,) 7 False\nUNSETinner 76 (7, 76) 8 107\nUNSET"+
			"inner 78 (7, 76, 78) 9 107\n", "UNSET", "begin <optimized out> <optimized out>\n")
		if is := regexp.MustCompile("^" + mayBeLost(want, command == "go build") + "$"); !is.MatchString(e.stdout) {
			t.Errorf("%s: got %q, want %q", command, e.stdout, want)
		}
	}
}

// mayBeLost is a pattern of an output, in which numbers and lists may be lost.
func mayBeLost(want string, lost bool) string {
	want = regexp.QuoteMeta(want)
	if !lost {
		return want
	}
	return regexp.MustCompile(` (\d+|\\\([0-9, ]+\\\))`).ReplaceAllString(want, ` ($1|<optimized out>|<fault>)`)
}
