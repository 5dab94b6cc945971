package fold_test

import (
	"math"
	"math/big"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// both are values of all kinds that both sides have.
var both = []struct {
	c plan.Value
	v starlark.Value
}{
	{plan.None{}, starlark.None}, {plan.Bool(true), starlark.True}, {plan.Bool(false), starlark.False},
	number(0), number(1), number(-1), number(7), number(-7), number(63), number(64), number(511), number(512),
	number(1 << 40), huge(1), huge(-1),
	{plan.Float(0.5), starlark.Float(0.5)}, {plan.Float(-7), starlark.Float(-7)}, {plan.Float(0), starlark.Float(0)},
	float(math.Copysign(0, -1)), float(math.Inf(1)), float(math.Inf(-1)), float(math.NaN()), float(1 << 40),
	{plan.String(""), starlark.String("")}, {plan.String("a"), starlark.String("a")},
	{plan.String("ab"), starlark.String("ab")}, {plan.Bytes("a"), starlark.Bytes("a")},
	{plan.Bytes(""), starlark.Bytes("")},
	{plan.Tuple{}, starlark.Tuple{}}, {plan.Tuple{plan.String("a")}, starlark.Tuple{starlark.String("a")}},
	{plan.Tuple{plan.MakeInt(1), plan.Float(1)}, starlark.Tuple{starlark.MakeInt(1), starlark.Float(1)}},
	{plan.Tuple{plan.MakeInt(1), plan.MakeInt(1)}, starlark.Tuple{starlark.MakeInt(1), starlark.MakeInt(1)}},
	recordOf(nil), recordOf([]string{"a"}, "x"), recordOf([]string{"b"}, "x"), recordOf([]string{"a", "b"}, "x", "y"),
	recordOf([]string{"b", "a"}, "y", "x"), recordOf([]string{"b", "a"}, "x", "y"),
	{plan.Tuple{plan.Record{}}, starlark.Tuple{value.NewRecord(nil, nil)}},
	{plan.Tuple{plan.String("x")}, starlark.Tuple{starlark.String("x")}},
}

type pair = struct {
	c plan.Value
	v starlark.Value
}

// recordOf is a record of strings.
func recordOf(names []string, texts ...string) pair {
	c, vals := plan.Record{}, []starlark.Value{}
	for i, name := range names {
		c = append(c, plan.RecordField{Name: name, Value: plan.String(texts[i])})
		vals = append(vals, starlark.String(texts[i]))
	}
	return pair{c, value.NewRecord(names, vals)}
}

func float(f float64) pair { return pair{plan.Float(f), starlark.Float(f)} }

func number(n int64) pair { return pair{plan.MakeInt(n), starlark.MakeInt64(n)} }

func huge(sign int64) pair {
	n := new(big.Int).Mul(big.NewInt(sign), new(big.Int).Lsh(big.NewInt(3), 70))
	return pair{plan.Int{Big: n}, starlark.MakeBigInt(n)}
}

var operators = []syntax.Token{syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT,
	syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT, syntax.LT, syntax.LE, syntax.GT, syntax.GE,
	syntax.EQL, syntax.NEQ, syntax.IN, syntax.NOT_IN}

// interpreted is x op y as the interpreter computes it.
func interpreted(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	switch op {
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.EQL, syntax.NEQ:
		is, err := starlark.Compare(op, x, y)
		return starlark.Bool(is), err
	}
	return starlark.Binary(op, x, y)
}

// TestBinary compares each operator between values of all kinds with the interpreter.
func TestBinary(t *testing.T) {
	folded := 0
	for _, op := range operators {
		for _, x := range both {
			for _, y := range both {
				want, err := interpreted(op, x.v, y.v)
				got, ok := fold.Binary(op, x.c, y.c)
				if ok {
					folded++
					same(t, got, want, err, "%v %s %v", x.v, op, y.v)
				}
				xi, ok1 := x.c.(plan.Int)
				yi, ok2 := y.c.(plan.Int)
				if ok1 && ok2 && fold.Partial(op) && fold.Fails(op, yi.Big) != (err != nil) && !large(op, xi, yi) {
					t.Errorf("%v %s %v: Fails says %t, the interpreter: %v", x.v, op, y.v, fold.Fails(op, yi.Big), err)
				}
				if !fold.Works(op, x.v.Type(), y.v.Type()) && err == nil && plain(x.v) && plain(y.v) {
					t.Errorf("%v %s %v: Works says that there is no such operator", x.v, op, y.v)
				}
			}
		}
	}
	if folded < 1000 {
		t.Errorf("only %d operations were folded", folded)
	}
}

// large is a shift to the right by 512 and more, which the interpreter does and a kernel half does not.
func large(op syntax.Token, x, y plan.Int) bool { return op == syntax.GTGT && y.Big.Sign() > 0 }

// plain values are those about whose types Works is asked.
func plain(v starlark.Value) bool { return v != starlark.None && v.Type() != "bytes" }

// same checks that got is what the interpreter gives.
func same(t *testing.T, got plan.Value, want starlark.Value, err error, format string, args ...any) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf(format+": folds to %v, which is an error: %v", append(args, got, err)...)
	case fold.TypeName(got) != want.Type() || !equal(got, want):
		t.Errorf(format+": folds to %v, want %v", append(args, got, want)...)
	}
}

func equal(got plan.Value, want starlark.Value) bool {
	switch want := want.(type) {
	case starlark.Int:
		return got.(plan.Int).Big.Cmp(want.BigInt()) == 0
	case starlark.Bool:
		return got == plan.Value(plan.Bool(want))
	case starlark.String:
		return got == plan.Value(plan.String(want))
	case starlark.Float:
		return fold.Same(got, plan.Float(want))
	}
	return false
}

// TestSame tells constants apart that are equal, but are not one.
func TestSame(t *testing.T) {
	for i, x := range both {
		for j, y := range both {
			one := fold.Same(x.c, y.c)
			if eq, err := starlark.Equal(x.v, y.v); one && (!eq || err != nil || i != j) {
				t.Errorf("%v and %v are said to be one constant", x.v, y.v)
			}
		}
	}
}

// TestUnary compares the operators of one operand, and the truth, with the interpreter.
func TestUnary(t *testing.T) {
	for _, x := range both {
		if fold.Truth(x.c) != bool(x.v.Truth()) {
			t.Errorf("the truth of %v is %t", x.v, fold.Truth(x.c))
		}
		for _, op := range []syntax.Token{syntax.MINUS, syntax.PLUS, syntax.TILDE, syntax.NOT} {
			if got, ok := fold.Unary(op, x.c); ok {
				var want starlark.Value = !x.v.Truth()
				var err error
				if op != syntax.NOT {
					want, err = starlark.Unary(op, x.v)
				}
				same(t, got, want, err, "%s %v", op, x.v)
			}
		}
	}
}

// TestCall compares the builtins and the methods of strings that fold with the interpreter.
func TestCall(t *testing.T) {
	thread := &starlark.Thread{}
	for name, fn := range map[string]fold.Function{
		"min": fold.Min, "max": fold.Max, "bool": fold.Bool, "int": fold.Int, "abs": fold.Abs, "len": fold.Len,
		"str": nil,
	} {
		for _, x := range both {
			for _, y := range both {
				for _, n := range []int{1, 2} {
					c, ok := fn.Call([]plan.Value{x.c, y.c}[:n])
					if !ok {
						continue
					}
					args := starlark.Tuple{x.v, y.v}[:n]
					want, err := starlark.Call(thread, starlark.Universe[name], args, nil)
					same(t, c, want, err, "%s%v", name, args)
				}
			}
		}
	}
	for _, name := range []string{"startswith", "endswith", "strip", "lstrip", "rstrip", "upper", "xstrip"} {
		for _, recv := range []string{"", " a b ", "ab", "xxabx"} {
			for _, arg := range both {
				got, ok := fold.Method(plan.String(recv), name, []plan.Value{arg.c})
				if !ok {
					continue
				}
				fn, err := starlark.String(recv).Attr(name)
				if fn == nil || err != nil {
					t.Errorf("strings have no %s", name)
					continue
				}
				want, err := starlark.Call(thread, fn, starlark.Tuple{arg.v}, nil)
				same(t, got, want, err, "%q.%s(%v)", recv, name, arg.v)
			}
		}
	}
}

// TestRange compares the numbers of ranges, and how many they are, with the interpreter.
func TestRange(t *testing.T) {
	at := []int64{0, 1, -1, 5, -5, 64, 1 << 62, -1 << 62, 1<<63 - 1, -1 << 63}
	for _, from := range at {
		for _, to := range at {
			for _, step := range at {
				if step == 0 {
					continue
				}
				n := fold.Steps(from, to, step)
				if want := countSteps(from, to, step); n != want {
					t.Errorf("range(%d, %d, %d) has %d steps, want %d", from, to, step, n, want)
				}
				list, ok := fold.Range(from, to, step, 64)
				if ok != (n <= 64) || ok && int64(len(list)) != n {
					t.Errorf("range(%d, %d, %d) of %d steps gives %v", from, to, step, n, list)
				}
				for i, c := range list {
					want := new(big.Int).Add(big.NewInt(from), new(big.Int).Mul(big.NewInt(int64(i)), big.NewInt(step)))
					if c.(plan.Int).Big.Cmp(want) != 0 {
						t.Errorf("range(%d, %d, %d)[%d] is %v, want %v", from, to, step, i, c, want)
					}
				}
			}
		}
	}
}

// countSteps is the number of steps, computed with numbers of any size.
func countSteps(from, to, step int64) int64 {
	d := new(big.Int).Sub(big.NewInt(to), big.NewInt(from))
	by := big.NewInt(step)
	if d.Sign() == 0 || d.Sign() != by.Sign() {
		return 0
	}
	d.Abs(d).Sub(d, big.NewInt(1)).Div(d, by.Abs(by)).Add(d, big.NewInt(1))
	if !d.IsInt64() {
		return 1<<63 - 1
	}
	return d.Int64()
}
