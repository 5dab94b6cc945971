package value

import (
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

// A tuple that was cut is the elements that were read, and printed with a mark, whatever a script does with it.
func TestCutTuple(t *testing.T) {
	cut, whole := CutTuple(ints(1, 2)), starlark.Tuple(ints(1, 2))
	env := starlark.StringDict{"cut": cut, "whole": whole, "sep": starlark.String("-"),
		"texts": CutTuple([]starlark.Value{starlark.String("a"), starlark.String("b")}),
		"add":   operator(syntax.PLUS), "times": operator(syntax.STAR), "percent": operator(syntax.PERCENT),
		"str": OnBytes("str"), "join": starlark.NewBuiltin("join", func(th *starlark.Thread, b *starlark.Builtin,
			args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return join(th, b, "-", args, kwargs)
		}), "record": starlark.NewBuiltin("record", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
			_ []starlark.Tuple) (starlark.Value, error) {
			return NewRecord([]string{"r"}, args), nil
		})}
	for expr, want := range map[string]string{
		"cut": "(1, 2, …)", "cut == whole": "True", "len(cut)": "2", "[x for x in cut]": "[1, 2]", "cut[-1]": "2",
		"cut[1:]": "(2, …)", "cut[:1]": "(1,)", "cut[2:]": "(…,)", "cut[::-1]": "(2, 1)", "list(cut)": "[1, 2]",
		"{cut: 1}": "{(1, 2, …): 1}", "{cut: 1}[whole]": "1", "[cut, whole]": "[(1, 2, …), (1, 2)]",
		"record(cut)": "record(r = (1, 2, …))", `"…" in cut`: "False", "cut < (1, 3)": "True",
		"str(cut)": "(1, 2, …)", "add(cut, whole)": "(1, 2, 1, 2)",
		"add(whole, cut)": "(1, 2, 1, 2, …)", "add(cut, ())": "(1, 2, …)",
		"times(cut, 2)": "(1, 2, 1, 2, …)", "times(2, cut)": "(1, 2, 1, 2, …)", "times(cut, 0)": "()",
		"times(cut, -1)": "()", `percent("%s %s", cut)`: "1 2", `percent("%s", (cut,))`: "(1, 2, …)",
		"join(texts)": "a-b…", "join(texts) == 'a-b'": "True", "(lambda *a: a)(*cut)": "(1, 2)",
	} {
		v, err := starlark.EvalOptions(&syntax.FileOptions{Set: true}, new(starlark.Thread), "t.star", expr, env)
		if err != nil || Text(v) != want {
			t.Errorf("%s: %v, %v, want %s", expr, v, err, want)
		}
	}
	if v, err := Texts(cut); err != nil || v.String() != `(1, 2, "…")` {
		t.Errorf("encoders get %v, %v", v, err)
	}
}

func ints(list ...int) (out []starlark.Value) {
	for _, i := range list {
		out = append(out, starlark.MakeInt(i))
	}
	return out
}

func operator(op syntax.Token) *starlark.Builtin {
	return starlark.NewBuiltin(op.String(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return Operate(op, args[0], args[1])
	})
}

// It is another key than the whole one in user space, too, also with an int that is shown as it was written.
func TestCutTupleKeys(t *testing.T) {
	huge := starlark.MakeUint64(1 << 63)
	table := NewTable(&plan.Container{Kind: plan.Table, Name: "t"})
	keys := []starlark.Value{starlark.Tuple{huge}, CutTuple([]starlark.Value{huge}), starlark.Tuple{},
		CutTuple(nil), starlark.Tuple{starlark.Tuple{}, starlark.Tuple{}},
		starlark.Tuple{starlark.Tuple{}, CutTuple(nil)}}
	for i, k := range keys {
		if err := table.SetKey(k, starlark.MakeInt(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, kv := range table.Items() {
		v, found, err := table.Get(kv[0])
		if err != nil || !found || v != starlark.MakeInt(i) || Text(kv[0]) != Text(keys[i]) {
			t.Errorf("t[%s] is %v, %v, %v; want %d", Text(kv[0]), v, found, err, i)
		}
	}
	if n := len(table.Items()); n != len(keys) {
		t.Errorf("%d entries, want %d", n, len(keys))
	}
}

// A list of the event knows that it is one, and so do its parts, and what is put together of it. A tuple that a script
// makes of its elements is none.
func TestIsList(t *testing.T) {
	env := starlark.StringDict{"l": List(ints(1, 2)), "cut": CutTuple(ints(1)), "none": List(nil),
		"whole": starlark.Tuple(ints(1, 2)), "add": operator(syntax.PLUS), "times": operator(syntax.STAR)}
	for expr, want := range map[string]bool{
		"l": true, "cut": true, "none": true, "l[1:]": true, "l[:1]": true, "l[2:]": true, "l[:0]": true,
		"cut[:0]": true, "add(l, whole)": true, "add(whole, l)": true, "add(none, whole)": true, "times(l, 2)": true,
		"times(0, l)": true, "whole": false, "whole[:1]": false, "tuple(l)": false, "l[::-1]": false, "(l,)": false,
		"(lambda *a: a)(*l)": false, "add(whole, whole)": false,
	} {
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, new(starlark.Thread), "t.star", expr, env)
		if err != nil || IsList(v.(starlark.Tuple)) != want {
			t.Errorf("%s: %v, %v is a list: %v", expr, v, err, !want)
		}
	}
	if same, err := starlark.Equal(env["l"], env["whole"]); !same || err != nil {
		t.Errorf("l == whole is %v, %v", same, err)
	}
}
