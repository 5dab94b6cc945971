package infer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/test/chunk"
	"github.com/startrace/startrace/test/golden"
)

// TestGolden compares the typed tree of scripts with testdata/*.tree. Chunks
// of a script are separated by lines of three dashes.
//
// > Arguments that a builtin does not take are such an error in each function that a handler or a timer calls:
// > `print(x, foo = 3)`.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.star")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	facts := testFacts(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".star"), func(t *testing.T) {
			got := goldenOf(t, file, facts)
			golden.Equal(t, goldenName(file), got)
		})
	}
}

// goldenName is NAME.GOARCH.tree where there is one, else NAME.tree: scripts whose tree has registers or numbers of
// system calls have a file for each architecture.
func goldenName(file string) string {
	name := strings.TrimSuffix(file, ".star")
	if own := name + "." + runtime.GOARCH + ".tree"; exists(own) {
		return own
	}
	return name + ".tree"
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// goldenOf is the text of all chunks of a file. What is wrong with them, and what they are warned of, stands on the
// lines of the chunks (test/chunk).
func goldenOf(t *testing.T, file string, facts *kernel.Facts) string {
	chunks, err := chunk.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&out, "### %s\n", c.Title())
		text, found := inferText(t, c.Text, facts)
		out.WriteString(text)
		for _, d := range c.Differences(found) {
			t.Error(d)
		}
	}
	return out.String()
}

// planOf runs a script's top level.
func planOf(t *testing.T, src string) *plan.Plan {
	t.Helper()
	h := script.New(script.Options{Constant: kernel.Constant, Runtime: builtins.Idle{}})
	if err := h.ParseText("t.star", []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(nil); err != nil {
		t.Fatal(err)
	}
	return h.Plan()
}

// inferText is the tree and the user halves of a script, and what it is told: errors, or warnings.
func inferText(t *testing.T, src string, facts *kernel.Facts) (string, []chunk.Mistake) {
	p := planOf(t, src)
	res, err := infer.Plan(p, facts, infer.Options{})
	var wrong refusal.Diags
	if err != nil && !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	if err != nil {
		return "refused\n", mistakes("", wrong)
	}
	var out strings.Builder
	out.WriteString(res.Tree.String())
	for id := range p.Probes {
		if half := res.Halves[id]; half != nil {
			printHalf(&out, half, "")
		}
		if half := res.StartHalves[id]; half != nil {
			out.WriteString("at the start: ")
			printHalf(&out, half, "")
		}
	}
	return out.String(), mistakes("warning: ", res.Warnings)
}

// mistakes are the messages with a word in front of each.
func mistakes(word string, list refusal.Diags) (out []chunk.Mistake) {
	for _, d := range list {
		out = append(out, chunk.Mistake{Line: int(d.Pos.Line), Col: int(d.Pos.Col), Msg: word + d.Msg})
	}
	return out
}

func printHalf(out *strings.Builder, h *plan.UserHalf, indent string) {
	var lines []string
	at := func(x syntax.Node) string {
		p, _ := x.Span()
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	for x, slot := range h.Slots {
		lines = append(lines, fmt.Sprintf("%s  %s is field %d", indent, at(x), slot))
	}
	for x := range h.Drop {
		lines = append(lines, fmt.Sprintf("%s  %s is dropped", indent, at(x)))
	}
	for x := range h.Nested {
		lines = append(lines, fmt.Sprintf("%s  %s keeps the event", indent, at(x)))
	}
	sort.Strings(lines)
	fmt.Fprintf(out, "%suser half %s\n", indent, h.Fn.Name)
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	var calls []*syntax.CallExpr
	for c := range h.Calls {
		calls = append(calls, c)
	}
	sort.Slice(calls, func(i, j int) bool { return at(calls[i]) < at(calls[j]) })
	for _, c := range calls {
		fmt.Fprintf(out, "%s  %s calls\n", indent, at(c))
		printHalf(out, h.Calls[c], indent+"    ")
	}
}
