package diff

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// An exception is a program or a run of one that is not compared, because docs/semantics.md has it so.
type exception string

// The exceptions.
const (
	// notDocumented: what an unsigned int and a signed one make together where the result is over 63 bits, and what
	// aggregations do with a key that is None when the program runs.
	notDocumented exception = "runs with a value that is left open"
	// wideFolded: the generator does not calculate, and cannot know that a constant has over 64 bits.
	wideFolded     exception = "programs with a constant of over 64 bits"
	manyBranches   exception = "programs with more branches than the verifier follows"
	longLoops      exception = "programs with a loop that the verifier does not follow"
	overMemory     exception = "programs with too much for a handler's memory"
	overStack      exception = "programs with too many values at the same time"
	wideKey        exception = "programs with a key that this kernel does not take"
	fullTable      exception = "runs with a full table"
	notRun         exception = "runs of programs that the kernel did not run"
	startInUser    exception = "programs with a start that the kernel cannot handle"
	partChosen     exception = "programs with a part that user space chooses"
	argumentChosen exception = "programs with an argument that user space computes"
	loopRead       exception = "programs with a function inside that reads the variable of a loop over pointers"
)

// except counts one. DIFF_EXCEPT=… prints those of that name.
func (c *checker) except(what exception, p *Program) {
	if c.excepted == nil {
		c.excepted = map[exception]int{}
	}
	c.excepted[what]++
	if name := os.Getenv("DIFF_EXCEPT"); name != "" && strings.Contains(string(what), name) {
		fmt.Printf("%s: %s\n%s\n", p.Name, what, p.Script())
	}
}

// exceptions says how many there were.
func (c *checker) exceptions() string {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(c.excepted)) {
		list = append(list, fmt.Sprintf("%d %s", c.excepted[what], what))
	}
	return strings.Join(list, ", ")
}

// mostOften is how many of a thousand programs or runs may be excepted: what is meant to be rare could hide a mistake
// if it were not. Of 100,000 programs 210 have a loop that the verifier does not follow.
var mostOften = map[exception]int{
	notDocumented: 20, wideFolded: 200, longLoops: 3, overMemory: 2, overStack: 1, wideKey: 20, fullTable: 5,
	notRun: 50, startInUser: 100, partChosen: 30,
	argumentChosen: 3, loopRead: 5,
}

// bounded fails where an exception is no exception any more.
func (c *checker) bounded(t *testing.T) {
	for what, n := range c.excepted {
		of, few := c.programs, 5
		if strings.HasPrefix(string(what), "runs") {
			of, few = c.runs, max(few, len(c.inputs)) // what one program does, it may do in all of its runs
		}
		if n > few+of*mostOften[what]/1000 { // a short run has few programs
			t.Errorf("%d %s, of %d: the test shows little", n, what, of)
		}
	}
}
