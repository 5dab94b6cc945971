package accept

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// onceGo and onceC are programs of which each line that ends in a number is passed so often.
const onceGo = `package main

import (
	"fmt"
	"os"
	"runtime"
)

type point struct{ x, y int }

func two() (int, error) { return 3, nil }

func stmts(k int) (out []int, err error) {
	out = append(out, k, k+1, k+2) // 4
	m := map[string]int{"a": k, "b": 2} // 4
	p := &point{k, 2} // 4
	s := make([]int, k, 10) // 4
	defer func() { out = append(out, 5) }() // 8
	done := make(chan int) // 4
	go func() { done <- k }() // 8
	<-done // 4
	a, err := two() // 4
	for i := range s { // 4
		s[i] = a + i // 6
	}
	for i := 0; i < k; i++ { // 4
		m["c"] += i // 6
	}
	switch k { // 4
	case 1, 2: // 4
		a++ // 2
	case 3: // 2
		a += 2 // 1
	default:
		a += 3 // 1
	}
	switch { // 4
	case a > 3 && k < 2: // 4
		a = 1 // 2
	case a > 4 || k == 2: // 2
		a = 2 // 2
	}
	if v, ok := m["a"]; ok && v > 0 { // 4
		a++ // 3
	}
	for key, v := range m { // 4
		a += v + len(key) // 11
	}
	var any interface{} = p // 4
	switch t := any.(type) { // 4
	case *point: // 4
		a += t.x // 4
	case int:
		a++
	}
	q := []point{{1, 2}, {3, 4}, {k, a}} // 4
	str := fmt.Sprintf("%d %v", a, q[0]) // 4
	str += "x" + str // 4
	copy(s, out) // 4
	if len(str) > 1000 { // 4
		return nil, fmt.Errorf("long")
	}
	return append(out, len(str)), err // 4
}

func fib(k int) int {
	if k < 2 { // 25
		return k // 13
	}
	return fib(k-1) + fib(k-2) // 12
}

func none() {
	fmt.Fprint(os.Stderr) // 4
	runtime.Gosched() // 4
	defer runtime.Gosched() // 4
	go runtime.Gosched() // 4
	for {
		break
	}
	return
}

func nested(a, b int) int { return a + b }

func main() {
	for k := 0; k < 4; k++ { // 1
		stmts(k) // 4
		none() // 4
	}
	fib(6) // 1
	nested(nested(1, 2), nested( // 1
		3,
		4))
	select {
	default:
	}
}
`

const onceC = `#include <stdio.h>
#include <stdlib.h>
static volatile int g, h[10];
int add(int a, int b) { return a + b; }
void none(void) {
	g = add(g, 1); // 4
	for (g = 0; g < 3; g++) // 4
		h[g]++; // 12
	while (g > 0)
		g--; // 12
	if (g == 0 && h[0] > 0 || h[1] > 5) // 4
		g = 2; // 4
	g = g > 1 ? add(1, 2) : add(3, // 4
		4);
	do {
		g++; // 12
	} while (g < 6);
	switch (g) { // 4
	case 1:
		g = 2;
		break;
	case 6:
		g = 7; // 4
	default:
		g++; // 4
	}
	g = add(add(1, 2), add( // 4
		3,
		4));
}
int fib(int k) {
	if (k < 2) // 10
		return k; // 7
	return fib(k - 1) + fib(k - 2); // 3
}
struct point { int x, y; };
int main(int argc, char **argv) {
	struct point p = { argc, 2 }, q[] = { { 1, 2 }, { argc, 4 } }; // 1
	for (int i = 0; i < 4; i++) { // 1
		none(); // 4
		if (i & 1) continue; // 4
		g = p.x + q[1].y; // 2
	}
	for (int i = 0, j = 1; i < 4 && j; i++, j++) g += fib(i) && i > 1; // 1
	for (;;) {
		if (g++ > 10) // 1
			break; // 1
	}
	int n = 3;
	while (n-- > 0) {
		g++; // 3
	}
again:
	g++; // 24
	if (g < 40) // 24
		goto again; // 23
	return 0; // 1
}
`

// A line is counted once each time it is executed, whatever the compiler makes of its statement: calls, jumps, and
// instructions elsewhere that belong to it.
//
// > Of Go that is so with optimization, too, where only the begin of a `for` may be left out.
func TestLinesOnce(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, c := range []struct{ command, file, source string }{
		{"go build -gcflags=-N", "passes.go", onceGo}, {"go build", "passes.go", onceGo},
		{"gcc -g -O0", "passes.c", onceC}, {"gcc -g -O0 -gdwarf-4", "passes.c", onceC},
		{"clang -g -O0", "passes.c", onceC}, {"clang -g -O0 -gdwarf-4", "passes.c", onceC},
		{"g++ -g -O0", "passes.cc", onceC}, {"clang++ -g -O0", "passes.cc", onceC},
	} {
		binary := need.Built(t, c.command, c.file, c.source)
		want := map[string]string{}
		for i, line := range strings.Split(c.source, "\n") {
			if n := regexp.MustCompile(` // (\d+)$`).FindStringSubmatch(line); n != nil {
				want[strconv.Itoa(i+1)] = n[1]
			}
		}
		plain := c.command != "go build"
		lines := slices.Sorted(maps.Keys(want))
		if !plain {
			lines = slices.DeleteFunc(lines, func(line string) bool { // what has no code
				e := startrace(t, "list", "uprobe:"+binary+":"+c.file+":"+line)
				return e.status != 0
			})
		}
		e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "FILE", c.file).Replace(`
n = count()
def counted(line):
    probe("uprobe:BIN:FILE:%d" % line, lambda e: n[line].add())
[counted(line) for line in [`+strings.Join(lines, ", ")+`]]
at_exit(lambda: [print("line %d: %d" % item) for item in n.items()])
`)), "-c", binary).ok(t)
		seen := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^line (\d+): (\d+)$`).FindAllStringSubmatch(e.stdout, -1) {
			seen[m[1]] = m[2]
		}
		for _, line := range lines {
			number, _ := strconv.Atoi(line)
			text := strings.Split(c.source, "\n")[number-1]
			if seen[line] != want[line] && (plain || !strings.Contains(text, "for ")) {
				t.Errorf("%s: seen %q times: %s", c.command, seen[line], text)
			}
		}
	}
}
