package covered

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/startrace/startrace/test/diff"
)

// What a grammar can say need not happen: a production that stands in one program of a thousand finds nothing in a
// short run. These tests count.

// programsOfRun is the number of programs of a short run, of which each has what is counted at least so often.
const (
	programsOfRun = 2000
	leastOften    = 10
)

// A tally counts programs.
type tally struct {
	counts map[string]int
	in     map[string]bool // what the current program has
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

func (c *tally) has(what string) { c.in[what] = true }

// over counts what the programs of a run have.
func (c *tally) over(generate func(uint64, string) *diff.Program) {
	for seed := uint64(1); seed <= programsOfRun; seed++ {
		c.in = map[string]bool{}
		c.program(generate(seed, "f"))
		for what := range c.in {
			c.counts[what]++
		}
	}
}

// check prints the counts and says what is too rare.
func (c *tally) check(t *testing.T, want []string) {
	t.Helper()
	for _, what := range want {
		t.Logf("%5d %s", c.counts[what], what)
		if c.counts[what] < leastOften {
			t.Errorf("%d programs of %d have: %s", c.counts[what], programsOfRun, what)
		}
		delete(c.counts, what)
	}
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		t.Logf("%5d %s (nobody asks)", c.counts[what], what)
	}
}

var declared = regexp.MustCompile(`^(\w+) = (\w+)\(`)

// program notes what a program has.
func (c *tally) program(p *diff.Program) {
	containers := map[string]string{}
	for _, g := range p.Globals {
		if m := declared.FindStringSubmatch(g); m != nil {
			containers[m[1]] = m[2]
		}
	}
	w := &walk{tally: c, containers: containers, calls: map[string]map[string]bool{}}
	for _, f := range append(slices.Clone(p.Helpers), p.Main) {
		w.body(f.Body)
	}
	for _, with := range w.calls {
		if len(with) > 1 {
			c.has("a helper called with different parts of the event")
		}
	}
	c.result(p.Main.Result)
}

func (c *tally) result(t diff.Type) {
	if len(t.Elems) > 10 {
		c.has("a record with over ten fields")
	}
	for _, e := range append(slices.Clone(t.Elems), t) {
		switch e.Kind {
		case diff.Label:
			c.has("a label")
		case diff.Bytes:
			c.has("bytes")
		}
	}
}

// A walk goes through one program.
type walk struct {
	*tally
	containers map[string]string
	calls      map[string]map[string]bool // of helpers, by the text of the arguments
}

func (w *walk) body(list []*diff.Stmt) {
	for _, s := range list {
		for _, e := range s.Exprs {
			w.expr(e)
		}
		switch s.Form {
		case diff.Update:
			w.has(fmt.Sprintf("%s %s= an int that is %s", w.containers[s.Target], s.Op, signs[s.Exprs[1].Type.Class]))
		case diff.Augment:
			w.has("a variable " + s.Op + "= a value")
		case diff.Def:
			w.body(s.Func.Body)
		case diff.Lines:
			w.text(s.Exprs[0].Text)
		}
		for _, b := range s.Bodies {
			w.body(b)
		}
	}
}

var signs = map[diff.Class]string{diff.Plain: "a constant", diff.Signed: "signed", diff.Unsigned: "unsigned"}

func (w *walk) expr(e *diff.Expr) {
	w.text(e.Text)
	switch e.Form {
	case diff.Leaf:
		w.constant(e.Text)
	case diff.Call:
		w.helper(e)
	case diff.Method:
		w.method(e)
	}
	switch e.Type.Kind {
	case diff.Label:
		w.has("a label")
	case diff.Bytes:
		w.has("bytes")
	}
	for _, a := range e.Args {
		w.expr(a)
	}
}

var comprehension = regexp.MustCompile(` for .* in `)

var labels = regexp.MustCompile(`\b(errno|signal|syscall_name|inet|names|ksym|dev_name|mac)\(`)

// text is that of a shape or of statements for user space.
func (w *walk) text(s string) {
	if labels.MatchString(s) {
		w.has("a label")
	}
	if !strings.Contains(s, "\n") && comprehension.MatchString(s) {
		w.has("a comprehension")
	}
}

var numeral = regexp.MustCompile(`^\(?-?\d{19,}\)?$`)

func (w *walk) constant(s string) {
	if strings.Contains(s, "1 << 64") || strings.Contains(s, "1 << 100") {
		w.has("a constant of over 64 bits")
	}
	if numeral.MatchString(s) {
		if n, ok := new(big.Int).SetString(strings.Trim(s, "()"), 10); ok && n.BitLen() > 64 {
			w.has("a constant of over 64 bits")
		}
	}
}

// helper notes with which parts of the event a function is called.
func (w *walk) helper(e *diff.Expr) {
	if !strings.Contains(e.Text, "_h") {
		return
	}
	var parts []string
	for _, a := range e.Args {
		if a.Form == diff.Leaf && strings.HasPrefix(a.Text, "e.") || a.Form == diff.Attr {
			parts = append(parts, fmt.Sprint(a.Text, len(a.Args)))
		}
	}
	if w.calls[e.Text] == nil {
		w.calls[e.Text] = map[string]bool{}
	} else {
		w.has("a helper called more than once")
	}
	if len(parts) > 0 {
		w.calls[e.Text][strings.Join(parts, ",")] = true
	}
}

// method notes what is done with containers.
func (w *walk) method(e *diff.Expr) {
	recv := e.Args[0]
	for (recv.Form == diff.Index || recv.Form == diff.Attr) && len(recv.Args) > 0 {
		recv = recv.Args[0]
	}
	kind := w.containers[recv.Text]
	if kind == "" || e.Text != "add" {
		return
	}
	with := "nothing"
	if at := map[string]int{"table": 2}[kind]; len(e.Args) > max(1, at) {
		with = "an int that is " + signs[e.Args[len(e.Args)-1].Type.Class]
	}
	if at := kind != "table" && kind != "cell"; at && with != "nothing" {
		with = "an int"
	}
	w.has(kind + ".add of " + with)
}

// ofBoth is what programs for both halves have.
func ofBoth() []string {
	out := []string{
		"a helper called more than once", "a helper called with different parts of the event", "bytes", "a label",
		"a constant of over 64 bits",
		"a record with over ten fields", "table.add of nothing", "cell.add of nothing", "count.add of nothing",
	}
	for _, sign := range []string{"signed", "unsigned", "a constant"} {
		for _, op := range []string{"+", "-", "*"} {
			out = append(out, fmt.Sprintf("table %s= an int that is %s", op, sign))
		}
		out = append(out, "table.add of an int that is "+sign, "cell.add of an int that is "+sign)
	}
	for _, op := range []string{"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"} {
		out = append(out, "a variable "+op+"= a value")
	}
	for _, op := range []string{"&", "|", "^"} {
		out = append(out, fmt.Sprintf("table %s= an int that is unsigned", op))
	}
	for _, kind := range []string{"count", "total", "mean", "lowest", "highest", "stats", "hist", "lhist", "quantiles",
		"group"} {
		out = append(out, kind+".add of an int")
	}
	return out
}

// TestOccurs counts what the programs for the kernel have.
func TestOccurs(t *testing.T) {
	c := newTally()
	c.over(diff.Generate)
	c.check(t, ofBoth())
}

// TestOccursInUser counts what those for user space have.
func TestOccursInUser(t *testing.T) {
	c := newTally()
	c.over(diff.GenerateUser)
	c.check(t, append(ofBoth(), "a comprehension"))
}

// TestInputsOccur counts the strings of the inputs of each run.
func TestInputsOccur(t *testing.T) {
	for _, run := range []struct {
		seed   uint64
		inputs int
	}{{1, 24}, {3, 12}} {
		counts := map[string]int{}
		for _, in := range diff.Inputs(run.seed, run.inputs) {
			for i, f := range diff.Fields {
				if f.Bits == 0 {
					for _, what := range classes(in.Texts[i]) {
						counts[what]++
					}
				}
			}
		}
		for _, what := range []string{"unreadable", "empty", "at the limit", "one below the limit or shorter", "cut",
			"cut in two", "not UTF-8"} {
			t.Logf("seed %d, %d inputs: %d strings are %s", run.seed, run.inputs, counts[what], what)
			if counts[what] == 0 {
				t.Errorf("the inputs of seed %d have no string that is %s", run.seed, what)
			}
		}
	}
}

// classes are what a string is an example of.
func classes(x diff.Text) (out []string) {
	if x.Fault {
		return []string{"unreadable"}
	}
	switch n := len(x.S); {
	case n == 0:
		out = append(out, "empty")
	case n == diff.StrMax:
		out = append(out, "at the limit")
	case n > diff.StrMax:
		out = append(out, "cut")
		if utf8.ValidString(x.S) && !utf8.ValidString(x.S[:diff.StrMax]) {
			out = append(out, "cut in two")
		}
	default:
		out = append(out, "one below the limit or shorter")
	}
	if !utf8.ValidString(x.S) {
		out = append(out, "not UTF-8")
	}
	return out
}
