package accept

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A program that calls deeper than stacks are walked: such stacks are cut, say so in each format, and are counted.
//
// > A stack of a program that has more than 127 frames is cut there, does not reach its beginning and is counted
// > as such (see below).
func TestStackTooDeep(t *testing.T) {
	const made = 200 // the n-th has n frames of deep, and four or more around them
	bin := traceable(t, "chain")
	text := script(t, fmt.Sprintf("n = count()\nprobe(\"uprobe:%s:last\", kernel = lambda e: n[e.ustack()].add())\n",
		bin))
	command := fmt.Sprintf("%s 0 %d", bin, made)
	e := startrace(t, text, "-c", command).ok(t)
	whole, cut, different := strings.Count(e.stdout, "    _start"), 0, 0
	for _, m := range regexp.MustCompile(`… cut at 127 frames\n\]: (\d+)`).FindAllStringSubmatch(e.stdout, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		cut, different = cut+n, different+1
	}
	if whole+cut != made || cut < made-127 || different < 2 {
		t.Errorf("%d stacks reach the beginning and %d are cut, %d of these differ, of %d", whole, cut, different, made)
	}
	// What are cut above the last call of deep have the same frames.
	want := fmt.Sprintf("%d of %d stacks of %s do not reach its beginning: more than 127 frames\n", different,
		whole+different, bin)
	if !strings.Contains(e.stderr, want) {
		t.Errorf("said %q, want %q", e.stderr, want)
	}
	for form, mark := range map[string]string{"json": `,"…"]`, "folded": "…;deep", "csv": ";…"} {
		e := startrace(t, text, "--format", form, "-c", command).ok(t)
		if n := strings.Count(e.stdout, mark); n == 0 {
			t.Errorf("%s: no stack says that it was cut:\n%s", form, e.stdout)
		}
	}
}
