// Package covered checks that the programs of test/diff have what the documentation says of both halves. It needs no
// kernel, so guests of test/vm need not run it.
package covered

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/diff"
	"github.com/startrace/startrace/test/need"
)

// covered is what kernel halves may do, with what a program has that does it: each must be found in a program that the
// generator makes. The list follows what the documentation says of kernel halves, sentence by sentence; what is refused
// there is in TestRefused.
var covered = []struct{ what, pattern string }{
	{"functions", `(?m)^def f\d+_h\d+\(`},
	{"nested functions", `(?m)^    +def n\d+\(`},
	{"lambdas", `\(lambda l\d+`},
	{"a lambda with a name", `n\d+ = \(lambda`},
	{"closures: one lambda in a loop is several functions", `_F\d+ = \[f\d+_mk\d+\(i, s\) for`},
	{"calls of one of them", `_F\d+\[[01]\]\(`},
	{"parameters with defaults", `def \w+\([^)]*p\d+ = `},
	{"arguments by name", `\w+\([^)]*p\d+ = `},
	{"local variables", `(?m)^    v\d+ = `},
	{"augmented assignment", `(?m)^ +v\d+ (\+|-|\*|&|\||\^|>>|%)= `},
	{"if, elif, else", `(?s)\n +if .*\n +elif .*\n +else:`},
	{"conditional expressions", ` if .* else `},
	{"and, or, not", `(?s)\band\b.*\bor\b.*\(not `},
	{"the value of and, or", `return .* (and|or) [^:]*\n`},
	{"+ - *", `\) [-+*] \(`},
	{"unary minus, ~", `\([-~](e\.|\()`},
	{"& | ^", ` [&|^] `},
	{"<< >>", ` (<<|>>) `},
	{"// and %", ` (//|%) `},
	{"and, or in one another", `\(\(.* (and|or) .*\) (and|or) `},
	{"comparisons of any signs", `e\.args\.s\d+ [<>]=? .*e\.args\.u\d+`},
	{"a constant that only an unsigned int holds", `\b18446744073709551615\b`},
	{"tuples", `\(e\.args\.\w+, e\.`},
	{"unpacking", `(?m)^ +v\d+, v\d+ = `},
	{"records", `record\(f0 = `},
	{"a constant record", `_R\d+\.f[01]`},
	{"range with constants", `in range\(\d\)`},
	{"range over many steps", `in range\(\d\d+\)`},
	{"range with computed bounds", `in range\(\(`},
	{"range with a step", `in range\(.*, -[12]\)`},
	{"a loop over a constant list", `(?m)for i\d+ in f\d+_L\d+:$`},
	{"a loop over the keys of a dict", `(?m)for i\d+ in f\d+_D\d+:$`},
	{"a loop over a list that is written there", `for i\d+ in \(`},
	{"a loop over pairs", `for i\d+, i\d+ in \(`},
	{"a loop over an array field", `for i\d+ in .*\.(ints|words):`},
	{"break and continue", `(?s)\bbreak\b.*\bcontinue\b|\bcontinue\b.*\bbreak\b`},
	{"abs", `abs\(`}, {"min", `min\(`}, {"max", `max\(`}, {"len", `len\(`}, {"bool", `bool\(`}, {"int", `int\(e`},
	{"records of names in another order", `record\(a = .*\) == record\(b = `},
	{"a record against a tuple", `record\(a = .*\) == \(`},
	{"a record that may be None, compared", `\(record\(a = .* else None\) == record`},
	{"hasattr of a text", `hasattr\(.*"upper"\)`}, {"hasattr of FAULT", `hasattr\(FAULT`},
	{"getattr of a text", `getattr\(.*, "nope", `}, {"the truth of a range", `bool\(range\(`},
	{"the truth of a container", `bool\(f\d+_[AC]\d+\)`}, {"FAULT as a key", `_[TA]\d+\[FAULT\]`},
	{"FAULT as a part of a key", `_[TA]\d+\[\(.*, FAULT\)\]`},
	{"a key without a value", `_[TA]\d+\[(record\(\)|\(\(\), record\(\)\))\]`},
	{"hasattr", `hasattr\(`}, {"getattr", `getattr\(`}, {"ntohs, ntohl", `ntoh[sl]\(`}, {"int32", `\bint32\(`},
	{"uint32", `uint32\(`},
	{"== of strings", `\(e\.args\.[st] == e\.args\.[st]\)`},
	{"< of strings", `\(e\.args\.[st] <=? `},
	{"in a string", `\("\w+" in e\.args\.[st]\)`},
	{"startswith, endswith", `(?s)\.startswith\(.*\.endswith\(|\.endswith\(.*\.startswith\(`},
	{"strip of a constant", `"\.l?r?strip\(\)`},
	{"join of a char **", `"[ /]"\.join\(e\.(start\.)?args\.p`},
	{"globs", `matches\(.*, ".*\*`},
	{"a captured constant", `_K\d+`},
	{"a captured list", `_L\d+\[`},
	{"in a captured list", ` in f\d+_L\d+\)`},
	{"a constant dict's get", `_D\d+\.get\(`},
	{"in a constant dict", ` in f\d+_D\d+\)`},
	{"fields through a pointer", `e\.args\.p\.u32`},
	{"a pointer behind a pointer", `\.next\.next\.`},
	{"a struct within", `\.inner\.a\b`}, {"a union", `\.inner\.also\b`},
	{"an element of an array", `\.(ints|words)\[\d\]`},
	{"bit-fields", `\.(low|mid|high|wide|sign)\b`},
	{"char[]", `\.p\.name\b`}, {"char *", `\.p\.str\b`}, {"bool in memory", `\.p\.flag\b`},
	{"a null pointer is None", `e\.args\.p == None`},
	{"a pointer in a variable", `v\d+\.(s8|u8|u32|s64|u64|next)\b`},
	{"None narrows in and", `\(v\d+ != None\) and`},
	{"None narrows behind a return", `(?m)^ +if \(v\d+ == None\):\n +return`},
	{"e.args[i]", `e\.args\[\d+\]`},
	{"t[k] = v", `(?m)^ +f\d+_T\d+\[.*\] = `},
	{"t[k] op= v", `(?m)^ +f\d+_T\d+\[.*\] (\+|-|\*|&|\||\^)= `},
	{"t[k]", `[( ]f\d+_T\d+\[[^=]*\]`},
	{"k in t", ` in f\d+_T\d+\)`},
	{"get, pop, set, add, remove of a table", `_T\d+\.get\(`}, {"pop", `_T\d+\.pop\(`}, {"set", `_T\d+\.set\(`},
	{"add", `_T\d+\.add\(`}, {"remove", `_T\d+\.remove\(`},
	{"None in a key, known", `_[TA]\d+\[\((None, .*|.*, None)\)\]`},
	{"None in a key, not known", `if e\.args\.flag else None\)\)\]`},
	{"cells", `_C\d+\.get\(`}, {"set of a cell", `_C\d+\.set\(`}, {"add of a cell", `_C\d+\.add\(`},
	{"count", `= count\(`}, {"total", `= total\(`}, {"mean", `= mean\(`}, {"lowest", `= lowest\(`},
	{"highest", `= highest\(`}, {"stats", `= stats\(`},
	{"hist", `= hist\(\)`}, {"hist with a unit", `hist\(unit`}, {"fine hist", `hist\(sub`}, {"lhist", `= lhist\(`},
	{"quantiles", `= quantiles\(`}, {"group", `= group\(`},
	{"add with a key", `_A\d+\[.*\](\.\w+)?\.add\(`}, {"add without one", `_A\d+(\.\w+)?\.add\(`},
	{"add with a weight", `\.add\(.*, \d\)`},
	{"errno", `errno\(`}, {"signal", `signal\(`}, {"syscall_name", `syscall_name\(`}, {"inet", `inet\(`},
	{"a span by thread", `e\.start\.args`}, {"a span by key", `(?m)^def f\d+_key\d+\(e`},
	{"what the start read through a pointer", `e\.start\.args\.p\.`},
	{"a double in memory", `\.p\.real\b`}, {"a float in memory", `\.p\.half\b`},
	{"a double of a union", `\.inner\.bits\b`}, {"an element of a list of floats", `\.(reals|halves)\[\d\]`},
	{"a loop over floats", `(?m)for i\d+ in .*\.(reals|halves):$`},
	{"a float against a constant float", `\.(real|half|bits) [<>]=? \(?-?\d+\.`},
	{"a constant int against a float", `\d [<>]=? e\.(start\.)?args(\.\w+)*\.(real|half|bits)\b`},
	{"a float against an int that no double is", `\.(real|half|bits) [<>=!]+ \(?-?900719925474099[135]`},
	{"a float against an int of over 64 bits", `\.(real|half|bits) [<>=!]+ \(?-?18446744073709551616`},
	{"floats of one width against each other", `\.half [<>]=? .*\.half\b`},
	{"a float against None", `\.(real|half) [!=]= None`}, {"a float against FAULT", `\.(real|half) [!=]= FAULT`},
	{"the truth of a float", `(bool\(|not |if )e\.args(\.\w+)*\.(real|half)[): ]`},
	{"a float that may be None", `\.(real|half) if [^(].* else None`},
	{"a float in a list", `\.(real|half|bits) (not )?in [([]`},
	{"a float as a key", `_[TA]\d+\[e[^],]*\.(real|half|bits)\]`},
	{"a float as a part of a key", `_[TA]\d+\[\([^]]*, e[^],]*\.(real|half|bits)\)\]`},
	{"a float in a table", `(?m)_T\d+\[.*\] = e.*\.(real|half|bits)$`},
	{"a cell that begins with a float", `= cell\(\(?-?\d+[.e]`}, {"a float in a cell", `_C\d+\.set\(.*\.real\)`},
	{"a float of the start of a span", `e\.start\.args\.p(\.\w+)*\.(real|half|bits)\b`},
	{"a float as a parameter", `_h\d+\([^)]*\.(real|half|bits)[,)]`}, {"no number", `= float\("nan"\)`},
	{"an infinity", `= float\("inf"\)`}, {"the negative zero", `= -0\.0`},
}

// elsewhere is what the documentation says of kernel halves that is no matter of values, with the file and the test of
// it.
var elsewhere = []struct{ what, file, test string }{
	{"integers wrap; bounds, signs and widths of each operator", "../../../bpfgen/arith_kernel_test.go",
		"func TestBinaryOps("},
	{"floats and lists are refused, captured lists do not change, a bound is exceeded, a missing test of None",
		"../refused_test.go", "func TestRefused("},
	{"calls of functions of loaded modules", "../../../starlark/script/run_test.go", "func TestLoadFiles("},
	{"captured values are frozen; the error names table()", "../../../starlark/script/run_test.go", "func TestFrozen("},
	{"closures are compiled by what they captured", "../../../starlark/script/capture_test.go",
		"func TestCaptureClosures("},
	{"all messages of a file at once, at line and column", "../../../bpfgen/infer/testdata/errors.star",
		"# fields that do not exist, all at once"},
	{"other tracers' words get ours", "../../../starlark/script/testdata/errors.star", "kstack"},
	{"redefining a builtin is warned about", "../../../starlark/script/run_test.go", "this file redefines it"},
	{"a rejection by the verifier is reported at the line of the script", "../../../internal/attach/verifier_test.go",
		"func TestRejectionOfLogs("},
	{"before 5.12 only addition is atomic", "../diff_test.go", "func TestUpdatesBefore512("},
}

// TestElsewhere finds the tests that the list names.
func TestElsewhere(t *testing.T) {
	need.Sources(t, "../../..")
	for _, e := range elsewhere {
		src, err := os.ReadFile(e.file)
		if err != nil || !strings.Contains(string(src), e.test) {
			t.Errorf("%s: %s has no %q: %v", e.what, e.file, e.test, err)
		}
	}
}

// TestCovers finds everything that is covered in programs of the generator.
//
// > A kernel half may have:
// >
// > * functions, nested functions, lambdas and closures, and parameters with defaults;
// > * local variables, tuples, unpacking and records;
// > * `if`, conditional expressions, `and`, `or`, `not`, one in another;
// > * arithmetic and bit operators;
// > * `for` with `break` and `continue`;
// > * calls of other functions of the script, also of loaded modules.
func TestCovers(t *testing.T) {
	const programs = 3000
	missing := map[string]*regexp.Regexp{}
	for _, c := range covered {
		missing[c.what] = regexp.MustCompile(c.pattern)
	}
	for seed := uint64(1); seed <= programs && len(missing) > 0; seed++ {
		src := diff.Generate(seed, fmt.Sprintf("f%d", seed)).Script()
		for what, re := range missing {
			if re.MatchString(src) {
				delete(missing, what)
			}
		}
	}
	for what, re := range missing {
		t.Errorf("no program of %d has %s (%s)", programs, what, re)
	}
}

// TestCoversUser finds what only user space can do in its programs.
func TestCoversUser(t *testing.T) {
	missing := map[*regexp.Regexp]bool{}
	for _, re := range []string{`for (i\d+) in [[(][^:]*e\.args\.p\b[^:]*:\n.*\bmem\(i\d+, `,
		`\[.*\be\..* << (40|60)\)*\](\.\w+)?\.add\(`,
		`\be\.args\.\w+ / `, `float\(`, `1e10`, `v\d+ / `, `\.p\.(real|half) [-+*/] `,
		`\.half [<>]=? .*\.real\b`, `\.half [<>]=? .*e\.args\.u64`, `\{e\.[^}]*\.(real|half)\b[^}]*: `} {
		missing[regexp.MustCompile(re)] = true
	}
	for seed := uint64(1); seed <= 2000 && len(missing) > 0; seed++ {
		src := diff.GenerateUser(seed, "f").Script()
		for re := range missing {
			if re.MatchString(src) {
				delete(missing, re)
			}
		}
	}
	for re := range missing {
		t.Errorf("no program has %s", re)
	}
}
