package accept

import (
	"cmp"
	"fmt"
	"regexp"
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

// shapesGo and shapesC are of the same kind. Some lines are of loops of which turns can be counted: "least-most". They
// have each way in which one line is reached from several others.
const shapesGo = `package main

import (
	"strings"
	"sync"
)

var s, t int

type point struct{ x int }

func (p point) val(k int) int { return p.x + k }

func work(a int, b string) int { s += a; return len(b) }

func chain(a int) {
	if a == 0 { // 5
		s++ // 1
	} else if a == 1 { // 4
		s += 2 // 1
	} else if a == 2 { // 3
		s += 3 // 1
	}
	t += a // 5
	if a == 0 { // 5
		s++ // 1
	} else if a == 1 { // 4
		s += 2 // 1
	} else if a == 2 { // 3
		s += 3 // 1
	} else {
		s += 4 // 2
	}
	x := a > 1 && s > 0 // 5
	if x { // 5
		t++ // 3
	}
}

func nested(a int) {
	if a > 1 { // 5
		if a > 2 { // 3
			if a > 3 { // 2
				s++ // 1
			}
		} else {
			s-- // 1
		}
	}
	s += 2 // 5
	select {
	default:
		if a > 1 { // 5
			s++ // 3
		} else if a > 0 { // 2
			s-- // 1
		}
	}
	s += 3 // 5
	c, d := make(chan int, 1), make(chan int, 1) // 5
	if a > 2 { // 5
		c <- a // 2
	} else if a > 0 { // 3
		d <- a // 2
	}
	select {
	case v := <-c: // 5
		s += v // 2
	case <-d:
		s++ // 2
	default:
		s-- // 1
	}
	s += 4 // 5
}

func cases(a int) (r int) {
	switch a { // 5
	case 0:
		fallthrough
	case 1:
		r = 1 // 2
		fallthrough
	case 2:
		r += 2 // 3
	case 3:
		if a == 3 { // 1
			goto l
		}
		r = 5
	}
	r++ // 4
l:
	r += 2 // 5
	return r // 5
}

func falls(a int) int {
	switch {
	case a == 0:
		fallthrough
	case a == 1:
		return 1 // 2
	case a == 2:
		fallthrough
	default:
		return 2 // 3
	}
}

func seq(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func loops(a int) {
	for i := 0; i < 2; i++ { // 5
		if a == 0 { // 9
			continue // 2
		} else if a == 1 { // 7
			s++ // 2
		} else if a == 2 { // 5
			break // 1
		} else {
			s-- // 4
		}
		t++ // 6
	}
	n := 3 // 5
	for n > 0 { // 5-20
		n-- // 15
	}
	for n < 2 { n++ } // 5-20
	for i := range 3 { n += i } // 5-20
	for {
		n-- // 20
		if n < 2 { // 20
			break // 5
		}
	}
	for v := range seq(2) { // 5-15
		n += v // 10
	}
	for ; n > 0; n-- { // 5-20
		if n > 1 { // 10
			s++ // 5
		} else if n > 2 { // 5
			s--
		}
		t++ // 10
	}
}

func defers(a int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	mu.Lock() // 5
	defer mu.Unlock() // 5
	defer work(a, "x") // 5
	defer strings.ToUpper("x") // 5
	defer func(a, b int) { // 5-10
		s += a + b // 5
	}(a, 2)
	p := point{a} // 5
	f := p.val // 5
	f(3) // 5
	defer p.val(4) // 5
	done.Add(3) // 5
	go done.Done() // 5
	go done.Add(-1) // 5
	go func(k int) { // 10
		done.Done() // 5
	}(a)
	go work(a, "x") // 5
	done.Wait() // 5
}

func (p *point) gowrap1() {
	t++ // 5
}

func deferwrap2() {
	t++ // 5
}

func main() {
	for a := 0; a < 5; a++ { // 1
		deferwrap2() // 5
		(&point{a}).gowrap1() // 5
		chain(a) // 5
		nested(a) // 5
		cases(a) // 5
		falls(a) // 5
		loops(a) // 5
		defers(a) // 5
	}
}
`

const shapesC = `static volatile int s, t;
void chain(int a) {
	if (a == 0) // 5
		s++; // 1
	else if (a == 1) // 4
		s += 2; // 1
	else if (a == 2) // 3
		s += 3; // 1
	t += a; // 5
	if (a > 1) { // 5
		if (a > 2) { // 3
			if (a > 3) // 2
				s++; // 1
		} else
			s--; // 1
	}
	s += 2; // 5
}
int cases(int a) {
	int r = 0; // 5
	switch (a) { // 5
	case 0:
	case 1:
		r = 1; // 2
	case 2:
		r += 2; // 3
		break; // 3
	case 3:
		if (a == 3) // 1
			goto l; // 1
		r = 5;
	}
	r++; // 4
l:
	r += 2; // 5
	return r; // 5
}
void loops(int a) {
	int n = 3; // 5
	for (int i = 0; i < 2; i++) { // 5
		if (a == 0) // 9
			continue; // 2
		else if (a == 1) // 7
			s++; // 2
		else if (a == 2) // 5
			break; // 1
		else
			s--; // 4
		t++; // 6
	}
	while (n > 0) // 5-20
		n--; // 15
	while (n < 3) { n++; } // 5-20
	for (; n > 0;) // 5-20
		n--; // 15
	do { n++; } while (n < 3); // 5-20
	for (int i = 0; i < 3; i++) { int q = i; t += q; } // 5-20
}
int main(void) {
	for (int a = 0; a < 5; a++) { // 1
		chain(a); // 5
		cases(a); // 5
		loops(a); // 5
	}
	return 0; // 1
}
`

// A line is counted once each time it is executed, whatever the compiler makes of its statement: calls, jumps, and
// instructions elsewhere that belong to it.
//
// > In code without optimization a line is probed once for each block of the source that it begins in. So a `for` that
// > begins with a statement is seen once for each loop, not for each turn: `for i := 0; i < n; i++ {`. One that begins
// > with its condition can be seen at each turn, as `for n > 0 {` of Go and `while (n > 0)`. So can a loop that has its
// > body on the same line, and a `range` over a function.
//
// > Of Go a line is probed so with optimization, too.
// > A line that the compiler has joined with others is seen less often than it is executed, or not at all.
//
// > The functions that Go makes for `defer f(x)` and `go f(x)` are no code of that line, which is seen once.
func TestLinesOnce(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	notInlined := strings.ReplaceAll(shapesGo, "\nfunc ", "\n//go:noinline\nfunc ")
	for _, c := range []struct{ command, file, source string }{
		{"go build -gcflags=-N", "passes.go", onceGo}, {"go build", "passes.go", onceGo},
		{"gcc -g -O0", "passes.c", onceC}, {"gcc -g -O0 -gdwarf-4", "passes.c", onceC},
		{"clang -g -O0", "passes.c", onceC}, {"clang -g -O0 -gdwarf-4", "passes.c", onceC},
		{"g++ -g -O0", "passes.cc", onceC}, {"clang++ -g -O0", "passes.cc", onceC},
		{"go build -gcflags=-N", "shapes.go", notInlined},
		{"go build", "shapes.go", shapesGo}, {"go build", "shapes.go", notInlined},
		{"gcc -g -O0", "shapes.c", shapesC}, {"clang -g -O0", "shapes.c", shapesC},
		{"g++ -g -O0", "shapes.cc", shapesC}, {"clang++ -g -O0", "shapes.cc", shapesC},
	} {
		binary := need.Built(t, c.command, c.file, c.source)
		optimized := c.command == "go build"
		seen := lineCounts(t, binary, c.file, passes(c.source), optimized)
		for line, n := range seen {
			text := strings.Split(c.source, "\n")[line-1]
			want := passes(c.source)[line]
			switch {
			case optimized && c.file == "shapes.go" && !strings.Contains(text, "defer") && n <= want[1] &&
				(n > 0 || !strings.Contains(text, "for ")):
			case n < want[0], n > want[1]:
				t.Errorf("%s: line %d seen %d times: %s", c.command, line, n, text)
			}
		}
	}
}

// passes are how often lines of a program are passed at least and at most, by their numbers.
func passes(source string) map[int][2]int {
	out := map[int][2]int{}
	for i, line := range strings.Split(source, "\n") {
		if n := regexp.MustCompile(` // (\d+)(?:-(\d+))?$`).FindStringSubmatch(line); n != nil {
			least, _ := strconv.Atoi(n[1])
			most, _ := strconv.Atoi(cmp.Or(n[2], n[1]))
			out[i+1] = [2]int{least, most}
		}
	}
	return out
}

// lineCounts runs a program and counts how often lines of it are seen; of an optimized one those that have code.
func lineCounts(t *testing.T, binary, file string, of map[int][2]int, optimized bool) map[int]int {
	var lines []string
	seen := map[int]int{}
	for line := range of {
		probe := fmt.Sprintf("uprobe:%s:%s:%d", binary, file, line)
		if !optimized || startrace(t, "list", probe).status == 0 {
			seen[line] = 0
			lines = append(lines, strconv.Itoa(line))
		}
	}
	e := startrace(t, "-q", script(t, strings.NewReplacer("BIN", binary, "FILE", file).Replace(`
n = count()
def counted(line):
    probe("uprobe:BIN:FILE:%d" % line, lambda e: n[line].add())
[counted(line) for line in [`+strings.Join(lines, ", ")+`]]
at_exit(lambda: [print("line %d: %d" % item) for item in n.items()])
`)), "-c", binary).ok(t)
	for _, m := range regexp.MustCompile(`(?m)^line (\d+): (\d+)$`).FindAllStringSubmatch(e.stdout, -1) {
		line, _ := strconv.Atoi(m[1])
		seen[line], _ = strconv.Atoi(m[2])
	}
	return seen
}
