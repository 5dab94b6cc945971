package code

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// TestGrowthSteps counts what compiling takes in statements that are executed, by the counters of go test's coverage:
// they are the same on each machine, however busy it is. At n log n, four times the size is at most some five times the
// statements; at n², sixteen.
func TestGrowthSteps(t *testing.T) {
	const most = 5.6
	binary := filepath.Join(t.TempDir(), "steps.test")
	build := exec.Command(need.Program(t, "go"), "test", "-c", "-o", binary, "-covermode=count",
		"-coverpkg=../../bpfgen/...,../../starlark/...,../../internal/plan/...,../../internal/explain/...", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, g := range stepGrowths {
		t.Run(g.name, func(t *testing.T) {
			small, large := steps(t, binary, g.name, g.n), steps(t, binary, g.name, 4*g.n)
			if r := float64(large.sum()) / float64(small.sum()); r > most {
				t.Errorf("%d statements for %d, %d for %d: %.1f times as many, most of them at %s", small.sum(), g.n,
					large.sum(), 4*g.n, r, large.grown(small))
			}
		})
	}
}

// stepGrowths are shapes that are asked for statements: those of TestGrowth, and some that are refused where they are
// too large.
var stepGrowths = append([]growth{
	{"elif until it is refused", 400, false, growths[0].script},
	{"ifs until they are refused", 400, false, func(n int) string {
		return head + "  x = 0\n" + lines(n, "  if e.pid == #: x += #") + "  c.add(x)\n" + wakeup
	}},
	{"names of which some far apart begin alike", 1000, false, func(n int) string {
		s := head + "  x = 0\n"
		for i := range n {
			s += fmt.Sprintf("  if e.comm == 'prog%05d': x = %d\n", i*7919%100000, i)
		}
		return s + "  c.add(x)\n" + wakeup
	}},
}, growths...)

// stepEnv names the shape and the size of which TestOneGrowth executes the statements.
const stepEnv = "STARTRACE_GROWTH"

// TestOneGrowth compiles one script, for TestGrowthSteps. By itself it has nothing to do.
func TestOneGrowth(t *testing.T) {
	name, size, ok := strings.Cut(os.Getenv(stepEnv), "/")
	if !ok {
		return
	}
	var n int
	if _, err := fmt.Sscan(size, &n); err != nil {
		t.Fatal(err)
	}
	for _, g := range stepGrowths {
		if g.name == name {
			t.Log(compileAll(g.script(n), smallKernel(t)))
			return
		}
	}
	t.Fatalf("no shape %s", name)
}

// counts says how many statements were executed, by the place of each block of them.
type counts map[string]int64

// steps executes what compiling a script takes.
func steps(t *testing.T, binary, name string, n int) counts {
	t.Helper()
	file := filepath.Join(t.TempDir(), "steps")
	cmd := exec.Command(binary, "-test.run=^TestOneGrowth$", "-test.coverprofile="+file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%d", stepEnv, name, n))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := counts{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line) // the place, the number of statements, and how often they were executed
		if len(words) != 3 {
			continue
		}
		statements, err := strconv.ParseInt(words[1], 10, 64)
		times, err2 := strconv.ParseInt(words[2], 10, 64)
		if err != nil || err2 != nil {
			t.Fatalf("no line of a profile: %q", line)
		}
		out[words[0]] += statements * times
	}
	return out
}

func (c counts) sum() (n int64) {
	for _, times := range c {
		n += times
	}
	return n
}

// grown is the place that has grown the most beyond four times what it was.
func (c counts) grown(from counts) (place string) {
	most := int64(0)
	for at, n := range c {
		if more := n - 4*from[at]; more > most {
			most, place = more, at
		}
	}
	return place
}
