package script

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// Warnings where a list that was cut (argv) could change what `in`, == or a builtin gives.
//
// A list that was cut is the elements that were read. What is made of these alone, and would be something else of the
// whole list, is told once for each place of the script: that x is not among them, that they are equal to another
// list, their sum.

// cutTeller takes what is told of a place.
type cutTeller struct {
	told map[plan.Pos]bool
	warn func(plan.Pos, string)
}

// tellerKey is where a thread has its cutTeller.
const tellerKey = "cut lists"

// tellCuts says who is told on a thread. Tools of the library are known to be right with lists that were cut.
func tellCuts(th *starlark.Thread, warn func(plan.Pos, string)) {
	if warn != nil {
		th.SetLocal(tellerKey, &cutTeller{map[plan.Pos]bool{}, warn})
	}
}

// tellCut tells that the script's call of a builtin, named as people know it, is about the n elements that were read.
func tellCut(th *starlark.Thread, name string, n int) {
	t, ok := th.Local(tellerKey).(*cutTeller)
	if !ok || th.CallStackDepth() < 2 {
		return
	}
	at := th.CallFrame(1).Pos
	if t.told[at] || plan.OfLibrary(at) {
		return
	}
	t.told[at] = true
	t.warn(at, fmt.Sprintf("the list has more elements than the %d that were read, and %s is about these", n, name))
}

// aboutAll are the builtins of which the elements that were not read could change the result.
var aboutAll = []string{"all", "any", "max", "min", "sorted", "sum"}

// tellAbout tells of a builtin that was given a list that was cut, unless the elements that were read decide what it
// gives.
func tellAbout(th *starlark.Thread, name string, args starlark.Tuple, gives starlark.Value) {
	decided := name == "any" && gives == starlark.True || name == "all" && gives == starlark.False
	if decided || !slices.Contains(aboutAll, name) {
		return
	}
	for _, v := range args {
		if n, ok := value.CutLen(v); ok {
			tellCut(th, name, n)
		}
	}
}

// comparison is x op y for in, not in, == and !=.
func comparison(name string, op syntax.Token) *starlark.Builtin {
	f := equal
	if op == syntax.IN || op == syntax.NOT_IN {
		f = isIn
	}
	return starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return f(th, op, args[0], args[1])
	})
}

// isIn tells of an x that is not among the elements that were read.
func isIn(th *starlark.Thread, op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	found, err := starlark.Binary(syntax.IN, x, y)
	if err != nil {
		return nil, err
	}
	if n, ok := value.CutLen(y); ok && !bool(found.Truth()) {
		tellCut(th, op.String(), n)
	}
	if op == syntax.NOT_IN {
		return !found.Truth(), nil
	}
	return found, nil
}

// equal tells of lists that differ in no element that was read of both.
func equal(th *starlark.Thread, op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	same, err := starlark.Compare(op, x, y)
	if err != nil {
		return nil, err
	}
	for _, v := range []starlark.Value{x, y} {
		if n, ok := value.CutLen(v); ok && beginAlike(x, y) {
			tellCut(th, op.String(), n)
		}
	}
	return starlark.Bool(same), nil
}

// beginAlike reports whether two tuples are the same as far as both go, and one that goes on is so where the other was
// cut.
func beginAlike(x, y starlark.Value) bool {
	a, isTuple := x.(starlark.Tuple)
	b, too := y.(starlark.Tuple)
	if !isTuple || !too {
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if _, cut := value.CutLen(a); len(a) < len(b) && !cut {
		return false
	}
	same, err := starlark.Equal(a, b[:len(a)])
	return err == nil && same
}

// compared is what stands for a comparison of which the operands could be lists that were cut; nil for x itself. Names
// make no such list: they are compared by the call, which takes its time, only in runs in which there was one.
func compared(x *syntax.BinaryExpr) syntax.Expr {
	name := map[syntax.Token]string{syntax.IN: inName, syntax.NOT_IN: notInName, syntax.EQL: equalName,
		syntax.NEQ: unequalName}[x.Op]
	membership := x.Op == syntax.IN || x.Op == syntax.NOT_IN
	if name == "" || isWhole(x.Y) || !membership && isWhole(x.X) {
		return nil
	}
	call := callOf(name, x.OpPos, x.X, x.Y)
	if !isThere(x.X) || !isThere(x.Y) {
		return call
	}
	return &syntax.CondExpr{If: x.OpPos, Cond: &syntax.Ident{NamePos: x.OpPos, Name: anyCutName}, True: call,
		ElsePos: x.OpPos, False: &syntax.BinaryExpr{X: x.X, OpPos: x.OpPos, Op: x.Op, Y: x.Y}}
}

// isThere reports whether x is a name or a literal: it can be evaluated twice, and makes no list.
func isThere(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return isThere(x.X)
	case *syntax.Ident, *syntax.Literal:
		return true
	}
	return false
}

// anyCut is true in a run in which there was a list that was cut.
type anyCut struct{ starlark.NoneType }

// Truth is asked at each comparison.
func (anyCut) Truth() starlark.Bool { return starlark.Bool(value.AnyCutList()) }

// isWhole reports whether x is no tuple that was cut, or is compared with none by ==, whatever the names in it are.
func isWhole(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		return isWhole(x.X)
	case *syntax.Literal, *syntax.ListExpr, *syntax.DictExpr, *syntax.Comprehension:
		return true
	case *syntax.Ident:
		return x.Name == "None" || x.Name == "True" || x.Name == "False"
	}
	return isNumber(x)
}
