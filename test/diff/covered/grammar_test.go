package covered

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/docs"
	"github.com/startrace/startrace/test/diff"
)

// programsToCover is how many programs of each kind the tests of what they have look at.
const programsToCover = 1200

// deeds say why no generated program has a builtin that does more than give a value (infer.Builtins). What is neither
// that nor in absentHere must be in a program.
var deeds = map[infer.Deed]string{
	infer.Declares: "declares: it runs once, before there are events (scripts of cmd/startrace show it)",
	infer.Machine:  "asks what this machine has (scripts of cmd/startrace show it)",
	infer.Later:    "runs code at another time (scripts of cmd/startrace show it)",
	infer.Outside:  "has an effect outside, which no value shows (scripts of cmd/startrace show it)",
	infer.Ends:     "ends with an error at once: what follows would show nothing",
	infer.Elapses:  "has another value each time",
}

// absentHere is what else no generated program has, with the reason. What is not in this list and in no program fails.
var absentHere = map[string]string{
	"builtin path":  "wants a struct file: the kernel of these programs has none (TestPath of bpfgen has)",
	"builtin uaddr": "wants a program whose place in memory changes at each run (TestUaddr of test/accept has)",
	"builtin NSEC":  "1, which is there as a number", "builtin SEC": unit, "builtin MSEC": unit,
	"builtin load": deeds[infer.Declares],
}

const unit = "another unit than USEC, which is there"

// shownElsewhere is mac, which wants an array of six bytes: a script for docs/semantics.md has one in a kernel half.
const shownElsewhere = "mac"

func init() {
	for _, f := range infer.Builtins() {
		if reason := deeds[f.Deed]; reason != "" {
			absentHere["builtin "+f.Name] = reason
		}
	}
}

// refusedInKernel are operators and forms that a kernel half refuses, as TestRefused and the scripts for
// docs/semantics.md show.
var refusedInKernel = []string{
	"op /", "assign /=", "unary +", "form list comprehension", "form dict comprehension", "form dict", "form slice",
	"form *args", "form **kwargs",
	"form def *args", "form def **kwargs", "form keyword-only",
}

// TestGrammarCovered finds every operator and form of Starlark's grammar in programs for user space, and those that
// kernel halves take in programs for the kernel.
func TestGrammarCovered(t *testing.T) {
	user, kernel := must(t, usedByUser), must(t, usedByKernel)
	for _, what := range grammar() {
		if !user[what] && absentHere[what] == "" {
			t.Errorf("no program for user space has %s", what)
		}
		if refused := slices.Contains(refusedInKernel, what); refused == kernel[what] && absentHere[what] == "" {
			t.Errorf("%s: refused by kernel halves %v, in programs for the kernel %v", what, refused, kernel[what])
		}
	}
}

// TestBuiltinsCovered finds every builtin that the reference describes, and every function and method of Starlark's
// own, in a program.
func TestBuiltinsCovered(t *testing.T) {
	user, kernel := must(t, usedByUser), must(t, usedByKernel)
	used := maps.Clone(user)
	maps.Copy(used, kernel)
	all := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^### `(\\w+)`").FindAllStringSubmatch(page(t), -1) {
		all["builtin "+m[1]] = true
	}
	for _, f := range infer.Builtins() {
		name := "builtin " + f.Name
		all[name] = true
		if f.Kernel && !kernel[name] && absentHere[name] == "" && f.Name != shownElsewhere {
			t.Errorf("no program for the kernel has %s", name)
		}
	}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), starlark.NewList(nil),
		starlark.NewDict(0), starlark.NewSet(0)} {
		for _, name := range v.AttrNames() {
			all["method "+name] = true
		}
	}
	checkUsed(t, all, used)
}

// TestKernelBuiltinsCovered finds the builtins that semantics.md names for kernel halves in programs for the kernel.
func TestKernelBuiltinsCovered(t *testing.T) {
	text, _ := docs.Page("semantics")
	sentence := regexp.MustCompile(`(?s)The builtins (.*?)\s+are for both`).FindString(text)
	all := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(sentence, -1) {
		for _, name := range strings.Fields(strings.Trim(code, "`")) {
			all["builtin "+name] = true
		}
	}
	if len(all) < 25 {
		t.Errorf("the page names %d builtins only: %q", len(all), sentence)
	}
	checkUsed(t, all, must(t, usedByKernel))
}

// page is the reference of builtins.
func page(t *testing.T) string {
	text, ok := docs.Page("builtins")
	if !ok {
		t.Fatal("there is no page of builtins")
	}
	return text
}

func checkUsed(t *testing.T, all, used map[string]bool) {
	t.Helper()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		switch reason := absentHere[name]; {
		case used[name] && reason != "":
			t.Errorf("programs have %s, which is said to be absent: %s", name, reason)
		case !used[name] && reason == "":
			t.Errorf("no program has %s", name)
		}
	}
}

func must(t *testing.T, used func() (map[string]bool, error)) map[string]bool {
	t.Helper()
	of, err := used()
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// grammar are the operators and forms.
func grammar() (out []string) {
	for tok := syntax.PLUS; tok <= syntax.NOT; tok++ {
		switch {
		case tok >= syntax.PLUS_EQ && tok <= syntax.GTGT_EQ:
			out = append(out, "assign "+tok.String())
		case isBinary(tok):
			out = append(out, "op "+tok.String())
		}
	}
	return append(out, "op not in", "unary +", "unary -", "unary ~", "unary not", "form list", "form dict",
		"form tuple", "form list comprehension", "form dict comprehension",
		"form slice", "form index", "form field", "form conditional", "form lambda", "form *args", "form **kwargs",
		"form argument by name", "form def", "form default",
		"form def *args", "form def **kwargs", "form keyword-only", "form if", "form for", "form break",
		"form continue", "form pass", "form return", "form unpacking")
}

func isBinary(tok syntax.Token) bool {
	_, err := new(syntax.FileOptions).ParseExpr("", "a "+tok.String()+" b", 0)
	return err == nil && tok != syntax.DOT && tok != syntax.COMMA
}

// usedByUser and usedByKernel are what the functions of programs have, by the generators.
var (
	usedByUser   = sync.OnceValues(func() (map[string]bool, error) { return usedBy(diff.GenerateUser) })
	usedByKernel = sync.OnceValues(func() (map[string]bool, error) { return usedBy(diff.Generate) })
)

func usedBy(generate func(uint64, string) *diff.Program) (map[string]bool, error) {
	used := map[string]bool{}
	for seed := uint64(1); seed <= programsToCover; seed++ {
		f, err := (&syntax.FileOptions{Set: true}).Parse("f.star", generate(seed, "f").Script(), 0)
		if err != nil {
			return nil, err
		}
		for _, s := range f.Stmts {
			if def, ok := s.(*syntax.DefStmt); ok {
				noteAll(used, def)
				continue
			}
			syntax.Walk(s, func(n syntax.Node) bool { // containers and constants
				if id, ok := n.(*syntax.Ident); ok {
					used["builtin "+id.Name] = true
				}
				return true
			})
		}
	}
	return used, nil
}

// noteAll notes what a tree has. Names behind a dot and of arguments are none of a builtin.
func noteAll(used map[string]bool, tree syntax.Node) {
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		note(used, n)
		switch n := n.(type) {
		case *syntax.DotExpr:
			noteAll(used, n.X)
			return false
		case *syntax.BinaryExpr:
			if n.Op == syntax.EQ {
				noteAll(used, n.Y)
				return false
			}
		}
		return true
	})
}

func note(used map[string]bool, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		used["op "+n.Op.String()] = true
	case *syntax.UnaryExpr:
		if n.X != nil {
			used["unary "+n.Op.String()] = true
		}
	case *syntax.AssignStmt:
		used["assign "+n.Op.String()] = true
		if _, several := n.LHS.(*syntax.TupleExpr); several {
			used["form unpacking"] = true
		}
	case *syntax.Ident:
		used["builtin "+n.Name] = true
	case *syntax.DotExpr:
		used["form field"], used["method "+n.Name.Name] = true, true
	case *syntax.Comprehension:
		used[map[bool]string{true: "form dict comprehension", false: "form list comprehension"}[n.Curly]] = true
	case *syntax.CallExpr:
		noteArgs(used, n.Args)
	case *syntax.DefStmt:
		used["form def"] = true
		noteParams(used, n.Params)
	case *syntax.LambdaExpr:
		used["form lambda"] = true
		noteParams(used, n.Params)
	case *syntax.BranchStmt:
		used["form "+n.Token.String()] = true
	default:
		used[fmt.Sprintf("form %s", forms[fmt.Sprintf("%T", n)])] = true
	}
}

var forms = map[string]string{
	"*syntax.ListExpr": "list", "*syntax.DictExpr": "dict", "*syntax.TupleExpr": "tuple", "*syntax.SliceExpr": "slice",
	"*syntax.IndexExpr": "index",
	"*syntax.CondExpr":  "conditional", "*syntax.IfStmt": "if", "*syntax.ForStmt": "for",
	"*syntax.ReturnStmt": "return",
}

func noteArgs(used map[string]bool, args []syntax.Expr) {
	for _, a := range args {
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			used["form *args"] = used["form *args"] || a.Op == syntax.STAR
			used["form **kwargs"] = used["form **kwargs"] || a.Op == syntax.STARSTAR
		case *syntax.BinaryExpr:
			used["form argument by name"] = used["form argument by name"] || a.Op == syntax.EQ
		}
	}
}

func noteParams(used map[string]bool, params []syntax.Expr) {
	for i, p := range params {
		switch p := p.(type) {
		case *syntax.UnaryExpr:
			switch {
			case p.Op == syntax.STARSTAR:
				used["form def **kwargs"] = true
			case p.X != nil:
				used["form def *args"] = true
			case i < len(params)-1:
				used["form keyword-only"] = true
			}
		case *syntax.BinaryExpr:
			used["form default"] = true
		}
	}
}
