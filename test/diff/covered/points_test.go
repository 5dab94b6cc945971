package covered

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/docs"
	"github.com/startrace/startrace/test/diff"
	"github.com/startrace/startrace/test/need"
)

// withoutArguments are the kinds of points at which no random program runs, each with the test of package accept that
// compares what they give: nothing of an event there is chosen, or its address only. Hooks of security modules call no
// programs but where bpf is one of the modules, as in a guest.
var withoutArguments = map[string]struct{ file, test string }{
	"profile": {"exact_test.go", `probe("profile:`}, "interval": {"kinds_test.go", "interval:"},
	"software": {"kinds_test.go", "func TestPageFaults("}, "hardware": {"counters_test.go", "func TestCycles("},
	"watchpoint": {"kinds_test.go", "func TestWatchpoints("}, "iter": {"kinds_test.go", "func TestTaskIterators("},
	"lsm": {"lsm_test.go", "func TestSecurityHooks("},
}

// sites are those at which the tests of package diff run programs.
func sites() (out []diff.Site) {
	for i := range diff.Calls {
		out = append(out, diff.Calls[i].Sites(1)...)
	}
	for i := range diff.KernelFunctions {
		out = append(out, diff.KernelFunctions[i].Sites()...)
	}
	for _, d := range diff.Deeds {
		out = append(out, d.Sites...)
	}
	for seed := uint64(1); seed <= 5; seed++ {
		p := diff.NewUserProgram(seed, 10, 6)
		for i := range p.Calls {
			out = append(out, p.Calls[i].Sites("./app")...)
		}
	}
	return out
}

var (
	pointRow  = regexp.MustCompile("(?m)^\\| (`[a-z]+:[A-Z0-9][^|]*) \\|")
	pointName = regexp.MustCompile("`([a-z]+):")
)

// TestPointsCovered finds each kind of point that the documentation has among those at which random programs run.
func TestPointsCovered(t *testing.T) {
	need.Sources(t, "../../..")
	have := map[string]bool{}
	for _, s := range sites() {
		have[s.Kind()] = true
	}
	text, _ := docs.Page("language")
	n := 0
	for _, row := range pointRow.FindAllStringSubmatch(text, -1) {
		for _, m := range pointName.FindAllStringSubmatch(row[1], -1) {
			n++
			switch kind := m[1]; {
			case have[kind] && withoutArguments[kind].test != "":
				t.Errorf("programs run at %s, which is said to be absent", kind)
			case !have[kind] && !shownAt(kind):
				t.Errorf("no program runs at %s", kind)
			}
		}
	}
	if n < 18 {
		t.Errorf("the page names %d kinds of points only", n)
	}
}

// shownAt reports whether there is the test that shows a kind of point without arguments.
func shownAt(kind string) bool {
	at := withoutArguments[kind]
	src, err := os.ReadFile("../../accept/" + at.file)
	return err == nil && strings.Contains(string(src), at.test)
}

var (
	plainWords  = "signed 8, unsigned 8, signed 16, unsigned 16, signed 32, unsigned 32, signed 64, unsigned 64"
	ofCalls     = "signed 32, unsigned 32, signed 64, unsigned 64, text, a pointer"
	ofFunctions = ofCalls + ", a struct by value, behind a struct by value, an int of eight"
	ofPrograms  = plainWords + ", an int on the stack, an enum, an enum with a sign, a pointer, a string, " +
		"a float, a double, a struct of two words, a struct of less than a word, a struct of two ints in a word, " +
		"a struct of a word and a part, a struct of floats, a struct of an int and a float, a struct in memory"
)

// classesAt are those of arguments and results that each kind of point must have, as the ABI or the kernel passes them.
var classesAt = map[string]string{
	"syscall": ofCalls + ", unsigned 16, a result",
	"tracepoint": ofCalls + ", unsigned 8, unsigned 16, signed 16, an array, chars of a record, " +
		"a result",
	"rawtracepoint": "signed 16, signed 32, signed 64, a struct behind a pointer, a string of the kernel, " +
		"chars behind a pointer",
	"kprobe": ofFunctions, "fentry": ofFunctions, "fexit": ofFunctions + ", a result",
	"func": ofFunctions + ", a result", "kretprobe": "a result",
	"uprobe": ofPrograms, "ufunc": ofPrograms + ", a result, no result",
	"uretprobe": "a result, no result, a double as a result, a struct of two words as a result, a string as a result",
	"usdt": "of a static probe: a register, of a static probe: the second byte of a register, " +
		"of a static probe: memory on the stack, of a static probe: a variable, " +
		"of a static probe: memory with an index, of a static probe: a constant, " +
		"of a static probe: a vector register",
}

func class(f diff.Field) string {
	switch {
	case f.ABI != "":
		return f.ABI
	case f.Address:
		return "a pointer"
	case f.Bits == 0:
		return "text"
	case f.Signed:
		return fmt.Sprint("signed ", f.Bits)
	}
	return fmt.Sprint("unsigned ", f.Bits)
}

// TestClassesCovered finds each class of arguments at each kind of point.
func TestClassesCovered(t *testing.T) {
	have := map[string][]string{}
	for _, s := range sites() {
		for _, f := range s.Fields {
			have[s.Kind()] = append(have[s.Kind()], class(f))
		}
	}
	for kind, list := range classesAt {
		for _, want := range strings.Split(list, ", ") {
			if !slices.Contains(have[kind], want) {
				t.Errorf("no argument at %s is: %s", kind, want)
			}
		}
	}
	for kind := range have {
		if classesAt[kind] == "" {
			t.Errorf("nothing is said of the arguments at %s", kind)
		}
	}
}

// atSites is what programs at sites have besides what others have.
var atSites = []struct{ what, pattern string }{
	{"a handler of a start", `(?m)^def \w+_begin\(e\):`},
	{"an argument of a start there", `(?s)_begin\(e\):.*e\.args`},
	{"an argument of the start of a call", `e\.start\.args`},
	{"a string of a program", `cstr\(e\.(start\.)?args\[`},
	{"a part of a struct by value", `e\.args\.uattr\.|e\.args\.size`},
	{"a stack", `e\.ustack\(\)`}, {"a stack of some frames", `e\.ustack\(\d+\)`},
	{"the stack of a start", `e\.start\.ustack\(`},
	{"stacks that are compared", `ustack\(\d*\) [!=]= .*ustack\(`},
	{"a stack in a key", `_[TA]\d+\[\(?e\.(start\.)?ustack`},
	{"a stack that is kept", `\] = \(?e\.(start\.)?ustack`},
	{"a result", `e\.ret\b`},
}

// TestCoversAtSites finds what is there at sites only in programs for them.
func TestCoversAtSites(t *testing.T) {
	missing := map[string]*regexp.Regexp{}
	for _, c := range atSites {
		missing[c.what] = regexp.MustCompile(c.pattern)
	}
	for i, s := range sites() {
		ints := slices.ContainsFunc(s.Fields, func(f diff.Field) bool {
			return f.Bits > 0 && !f.Far && !f.Void && !f.Address && !f.Constant && !f.Bool
		})
		for seed := range uint64(4) {
			if !ints {
				continue
			}
			src := diff.GenerateAt(uint64(i)*100+seed, "q", &s).Script()
			for what, re := range missing {
				if re.MatchString(src) {
					delete(missing, what)
				}
			}
		}
	}
	for what, re := range missing {
		t.Errorf("no program at a site has %s (%s)", what, re)
	}
}
