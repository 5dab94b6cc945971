package infer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Names of functions and points (e.func, e.probe) as numbers in kernel halves: comparisons and tests of these, and how
// many names can be told apart.
//
// Names of functions and points are numbers in kernel halves. One text has one
// number in all units that share containers, whatever kind of point gives it:
//
//	0 … 1<<32-1    a system call, by its number
//	from 1<<32 on  the same with "syscall:" before it
//	below 0        the others, in the order in which they were met: see numberedName
//
// A program that serves several functions gets two of them as its cookie: that
// of e.func in the upper half, that of e.probe in the lower one.

func newNameTable(earlier *Types) *nameTable {
	t := &nameTable{numbers: map[string]int64{}}
	if earlier != nil {
		for _, s := range earlier.names {
			t.number(s)
		}
	}
	return t
}

// number is the number of a name, a new one if need be.
func (t *nameTable) number(s string) int64 {
	if n, ok := tree.SyscallNumber(s); ok {
		return n
	}
	n, ok := t.numbers[s]
	if !ok {
		t.list = append(t.list, s)
		n = -int64(len(t.list))
		t.numbers[s] = n
	}
	return n
}

// first numbers the texts with which a cell begins that has names, of type t.
func (n *nameTable) first(t types.Type, begins plan.Value) {
	switch v := begins.(type) {
	case plan.String:
		if t.IsName() {
			n.number(string(v))
		}
	case plan.Tuple:
		for i := range min(len(v), len(t.Elems)) {
			n.first(t.Elems[i], v[i])
		}
	case plan.Record:
		for _, field := range v {
			if i := slices.Index(t.Names, field.Name); i >= 0 {
				n.first(t.Elems[i], field.Value)
			}
		}
	}
}

// nameConst is a name as its number.
func (u *unit) nameConst(s string, pos plan.Pos) *tree.Expr {
	e := intExpr(u.nameTable.number(s), pos)
	e.Type = types.Name
	return e
}

// fitting gives v as a container keeps it whose type is have so far: the name of
// a function or point by its number where they differ.
func (b tables) fitting(v val, have types.Type, pos plan.Pos) val {
	switch {
	case v.comp:
		elems := make([]val, len(v.elems))
		for i, e := range v.elems {
			t := types.Type{}
			if len(have.Elems) == len(v.elems) {
				t = have.Elems[i]
			}
			elems[i] = b.fitting(e, t, pos)
		}
		v.elems = elems
		return v
	case v.obj != nil:
		return v
	}
	if s, ok := v.constStr(); ok && have.Label == types.Name.Label {
		return exprVal(b.u.nameConst(s, pos))
	}
	if _, isFloat := v.c.(plan.Float); isFloat {
		return exprVal(narrow(b.rv(v, pos), have))
	}
	t := v.typ()
	if t.IsName() && isOtherText(have) || hasNameBeside(t, have) {
		return exprVal(nameTexts{b.u}.textual(b.rv(v, pos), have))
	}
	if t.IsName() && (have.Label == types.Name.Label || !isSyscallLabel(t.Label)) {
		return exprVal(asName(b.rv(v, pos)))
	}
	return v
}

// named gives the constant strings of e by the numbers of names where those of t are names.
func (u *unit) named(e *tree.Expr, t types.Type) *tree.Expr {
	switch {
	case e.Op == tree.OpConst && e.Type.Kind == types.Str && t.IsName():
		return u.nameConst(e.Str, e.Pos)
	case e.Op != tree.OpTuple && e.Op != tree.OpRecord || len(e.Args) != len(t.Elems):
		return e
	}
	out := *e
	out.Args = slices.Clone(e.Args)
	out.Type.Elems = slices.Clone(e.Type.Elems)
	for i, a := range e.Args {
		out.Args[i] = u.named(a, t.Elems[i])
		out.Type.Elems[i] = out.Args[i].Type
	}
	return &out
}

// beside is e as it can be one of several values of which t is the type so far: a constant string by its number where
// the others are names, and a name by its text where they are other strings.
func beside(u *unit, e *tree.Expr, t types.Type) *tree.Expr {
	return nameTexts{u}.textual(u.named(e, t), t)
}

// A nameTest asks for a property of a name.
type nameTest struct {
	holds func(string) bool
	// glob matches the same, for the numbers of calls that have no name.
	glob string
}

// testName is the test of v, a name that is known by its number: of one of those
// that it can be. false: v is no such name.
func (b operators) testName(v val, test nameTest, pos plan.Pos) (cond, bool) {
	label := v.typ().Label
	kind, _, _ := strings.Cut(label, ":")
	if v.obj != nil || !isSyscallLabel(label) && (kind == "" || label != b.pr.labelOf(kind)) {
		return cond{}, false
	}
	e := b.present(v, "a name", pos)
	switch {
	case isSyscallLabel(label):
		if list := b.u.calls[v.expr]; list != nil {
			return testKnown(e, list, strings.TrimPrefix(label, "syscall_") == "point", test, pos), true
		}
		return b.testSyscall(e, strings.TrimPrefix(label, "syscall_") == "point", test, pos), true
	case label == b.pr.labelOf(kind):
		return b.testOwn(e, kind, test, pos), true
	}
	return cond{}, false // of one from a container, or of one of several, the text is asked
}

// partOfName is x in y where y is a name that is known by its number.
func (b operators) partOfName(x, y val, pos plan.Pos) (cond, bool) {
	part, ok := x.constStr()
	if !ok || y.obj != nil || !y.typ().IsName() {
		return cond{}, false
	}
	return b.testName(y, nameTest{func(s string) bool { return strings.Contains(s, part) }, "*" + part + "*"}, pos)
}

// edgeOfName is startswith or endswith of a name that is known by its number.
func (b operators) edgeOfName(m *method, args []arg, pos plan.Pos) (val, bool) {
	if m.recv.obj != nil || !m.recv.typ().IsName() || m.name != "startswith" && m.name != "endswith" {
		return val{}, false
	}
	out, is := known(false), true
	for _, part := range edges(m, args, pos) {
		test := nameTest{func(s string) bool { return strings.HasPrefix(s, part) }, part + "*"}
		if m.name == "endswith" {
			test = nameTest{func(s string) bool { return strings.HasSuffix(s, part) }, "*" + part}
		}
		var c cond
		if c, is = b.testName(m.recv, test, pos); !is {
			break
		}
		out, _ = connected(tree.OpLOr, out, c, pos)
	}
	return condVal(out), is
}

// testOwn is a test of e.func or e.probe of the handler's own points.
func (b operators) testOwn(e *tree.Expr, kind string, test nameTest, pos plan.Pos) cond {
	yes, no := []int64{}, 0
	for p := range b.pr.points {
		text := p.Name
		if kind == "func" {
			text = p.Func
		}
		if test.holds(text) {
			yes = append(yes, b.u.nameTable.number(text))
		} else {
			no++
		}
	}
	if no == 0 {
		return known(true)
	}
	return oneOfNumbers(e, yes, pos)
}

// testKnown is a test of one of some system calls, each of which has a name.
func testKnown(e *tree.Expr, list []kernel.Syscall, point bool, test nameTest, pos plan.Pos) cond {
	yes, no := []int64{}, 0
	for _, sc := range list {
		text := sc.Name
		if point {
			text = "syscall:" + text
		}
		if test.holds(text) {
			yes = append(yes, int64(kernel.NameNumber(sc.Nr)))
		} else {
			no++
		}
	}
	if no == 0 {
		return known(true)
	}
	return oneOfNumbers(&tree.Expr{Op: tree.OpConvert, Type: types.U32, Args: []*tree.Expr{e}, Pos: pos}, yes, pos)
}

// testSyscall is a test of a system call, whose number may have no name.
func (b operators) testSyscall(e *tree.Expr, point bool, test nameTest, pos plan.Pos) cond {
	prefix := ""
	if point {
		prefix = "syscall:"
	}
	others, ok := ofNameless(prefix+"syscall_", test)
	if !ok {
		refuse(pos, "whether this is so depends on the numbers of calls that have no name, such as syscall_1000: "+
			"compare with whole names")
	}
	var differ []int64
	for _, sc := range slices.Concat(kernel.Syscalls(), kernel.OtherSyscalls()) {
		if test.holds(prefix+sc.Name) != others && kernel.NameNumber(sc.Nr) == sc.Nr {
			differ = append(differ, int64(sc.Nr))
		}
	}
	e = &tree.Expr{Op: tree.OpConvert, Type: types.U32, Args: []*tree.Expr{e}, Pos: pos}
	c := oneOfNumbers(e, differ, pos)
	if others {
		c = negate(c, pos)
	}
	return c
}

// ofNameless says what a test gives for prefix and any number. false: it depends
// on the number.
func ofNameless(prefix string, test nameTest) (holds, ok bool) {
	if !strings.ContainsAny(test.glob, "0123456789-?[]{}\\") {
		return test.holds(prefix + "7"), true
	}
	first := test.glob[0]
	return false, first != prefix[0] && !strings.ContainsRune(`*?[{\`, rune(first))
}

// maxRuns bounds the comparisons of a test of a name.
const maxRuns = 1000

// oneOfNumbers tests whether e is one of numbers. A run of numbers without a gap is tested by its two ends.
func oneOfNumbers(e *tree.Expr, numbers []int64, pos plan.Pos) cond {
	if e.Op == tree.OpConst {
		return known(slices.Contains(numbers, e.Int))
	}
	out, runs := known(false), runsOf(numbers)
	if len(runs) > maxRuns {
		refuse(pos, "this holds for %d groups of names; a kernel half tests %d", len(runs), maxRuns)
	}
	test := func(op tree.Op, n int64) *tree.Expr {
		c := intExpr(n, pos)
		return &tree.Expr{Op: op, Type: types.Boolean, Args: []*tree.Expr{e, c}, Pos: pos}
	}
	for _, r := range runs {
		c := test(tree.OpEq, r.first)
		if r.last > r.first {
			c = logic(tree.OpLAnd, test(tree.OpGe, r.first), test(tree.OpLe, r.last), pos)
		}
		out, _ = connected(tree.OpLOr, out, cond{expr: c}, pos)
	}
	return out
}

// sameName compares two names that are kept in different ways.
func sameName(l, r *tree.Expr) (_, _ *tree.Expr, ok bool) {
	if !l.Type.IsName() || !r.Type.IsName() {
		return l, r, false
	}
	if l.Type.Label != r.Type.Label {
		l, r = asName(l), asName(r)
	}
	return l, r, true
}

// equalNumber is whether e, which may be None or FAULT, is the number n.
func equalNumber(e *tree.Expr, n int64, pos plan.Pos) cond {
	c := intExpr(n, pos)
	eq := operation(tree.OpEq, types.Boolean, assume(e), c, pos)
	return cond{expr: tagsEqual(e, c, eq, pos)}
}

// mustFitCookie refuses more names than there is room for in a cookie.
func mustFitCookie(n int64, pos plan.Pos) int64 {
	if n < math.MinInt32 || n > math.MaxInt32 {
		refuse(pos, "%s names are more than a kernel half can tell apart", strconv.FormatInt(n, 10))
	}
	return n
}
