package script

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// chain gives e.a.b for an expression that is one, else "".
func chain(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name
	case *syntax.DotExpr:
		if x := chain(e.X); x != "" {
			return x + "." + e.Name.Name
		}
	}
	return ""
}

// halve makes a user half as the compiler does: chains of the given names are
// slots, calls of the given functions are specialised, x.nested functions keep.
func halve(f *plan.Func, slots map[string]int, calls map[string]*plan.UserHalf) *plan.UserHalf {
	h := &plan.UserHalf{Fn: f, Slots: map[syntax.Expr]int{}, Drop: map[syntax.Expr]bool{},
		Calls: map[*syntax.CallExpr]*plan.UserHalf{}, Nested: map[syntax.Node]bool{}}
	root := funcNode(f)
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LambdaExpr, *syntax.DefStmt:
			if n != root {
				h.Nested[n] = true
			}
		case *syntax.CallExpr:
			if callee := calls[chain(n.Fn)]; callee != nil {
				h.Calls[n] = callee
				h.Drop[n.Args[1]] = true
			}
		case *syntax.AssignStmt:
			if chain(n.RHS) == "e.args" {
				h.Drop[n.RHS] = true
			}
		case syntax.Expr:
			if i, ok := slots[chain(n)]; ok {
				h.Slots[n] = i
				return false
			}
		}
		return true
	})
	return h
}

// fieldsEvent is an event with 64-bit int fields.
func fieldsEvent(n int) (*value.Event, func(vals ...uint64)) {
	rec := &wire.Record{}
	for i := range n {
		rec.Fields = append(rec.Fields, wire.Field{Type: wire.Type{Kind: wire.Int, Off: wire.HeaderSize + 8*i, Size: 8,
			Signed: true, TagOff: -1}})
	}
	ev := value.NewEvent(&value.Decoder{})
	return ev, func(vals ...uint64) {
		buf := make([]byte, wire.HeaderSize)
		for _, v := range vals {
			buf = binary.NativeEndian.AppendUint64(buf, v)
		}
		ev.Set(rec, buf)
	}
}

const userScript = `
total_ = {"n": 0}
saved = []

def show(x, e, scale = 10):
    a = e.args
    total_["n"] += a.size
    print(x, e.pid, a.size * scale, undefined_yet if e.pid < 0 else "")

def handler(e, unit = 2, *rest, label = "L"):
    show(9, e)
    saved.append(lambda: (e.pid, label))
    for i in range(e.pid):
        saved.append(lambda: show(i, e))
    return {k: v for k, v in [(label, e.pid * unit)]}

def bad(e):
    x = e.pid
    return 1 // x

if False:
    undefined_yet = 1
probe("k:f", handler)
probe("k:f", lambda e, m = 3: e.pid * m)
probe("k:f", bad)
`

func TestSpecialise(t *testing.T) {
	h, rt := runTest(t, userScript)
	p := h.Plan()
	handler := p.Probes[0].Handler
	show := handler.Names["show"].(*plan.Func)
	slots := map[string]int{"e.pid": 0, "a.size": 1}
	callee := halve(show, slots, nil)
	half := halve(handler, slots, map[string]*plan.UserHalf{"show": callee})
	ev, set := fieldsEvent(2)
	fn, err := h.Specialise(half, ev)
	if err != nil {
		t.Fatal(err)
	}
	if fn.Name() != "handler" || fn.(*starlark.Function).Position().Line != 10 {
		t.Errorf("the copy is %s at %s", fn.Name(), fn.(*starlark.Function).Position())
	}
	set(1, 100)
	v, err := h.Call(fn, ev)
	if err != nil {
		t.Fatal(err)
	}
	if v.String() != `{"L": 2}` {
		t.Errorf("gave %s", v)
	}
	set(2, 200)
	if _, err := h.Call(fn, ev); err != nil {
		t.Fatal(err)
	}
	checkKept(t, h, rt, set)
}

// checkKept calls what the handler left behind, after the event has moved on.
func checkKept(t *testing.T, h *Host, rt *testRuntime, set func(...uint64)) {
	t.Helper()
	set(77, 77)
	var got []string
	for elem := range starlark.Elements(h.globals["saved"].(*starlark.List)) {
		v, err := h.Call(elem.(starlark.Callable))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.String())
	}
	if s := strings.Join(got, " "); s != `(1, "L") None (2, "L") None None` {
		t.Errorf("kept %s", s)
	}
	want := "9 1 1000 \n9 2 2000 \n0 1 1000 \n1 2 2000 \n1 2 2000 \n"
	if rt.out.String() != want {
		t.Errorf("printed %q, want %q", rt.out.String(), want)
	}
	if n := h.globals["total_"].String(); n != `{"n": 800}` {
		t.Errorf("counted %s", n)
	}
}

func TestSpecialiseLambda(t *testing.T) {
	h, _ := runTest(t, userScript)
	f := h.Plan().Probes[1].Handler
	ev, set := fieldsEvent(1)
	fn, err := h.Specialise(halve(f, map[string]int{"e.pid": 0}, nil), ev)
	if err != nil {
		t.Fatal(err)
	}
	set(7)
	if v, err := h.Call(fn, ev); err != nil || v.String() != "21" {
		t.Errorf("gave %v %v", v, err)
	}
	if fn.Name() != "lambda" || fn.(*starlark.Function).Position() != f.Pos {
		t.Errorf("the copy is %s at %s", fn.Name(), fn.(*starlark.Function).Position())
	}
}

// TestSpecialisePositions checks that errors point into the user's script.
func TestSpecialisePositions(t *testing.T) {
	h, _ := runTest(t, userScript)
	ev, set := fieldsEvent(2)
	call := func(f *plan.Func, slots map[string]int) string {
		fn, err := h.Specialise(halve(f, slots, nil), ev)
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.Call(fn, starlark.None, starlark.None)
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("error %v", err)
		}
		return e.Error()
	}
	p := h.Plan()
	set(0, 1)
	fn, err := h.Specialise(halve(p.Probes[2].Handler, map[string]int{"e.pid": 0}, nil), ev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Call(fn, ev); err == nil || err.Error() != "test.star:19:14: division by zero" {
		t.Errorf("error %v", err)
	}
	set(^uint64(0), 1)
	show := p.Probes[0].Handler.Names["show"].(*plan.Func)
	if got := call(show, map[string]int{"e.pid": 0,
		"a.size": 1}); got != "test.star:8:37: undefined_yet has no value yet: it is assigned further down" {
		t.Errorf("error %s", got)
	}
}

// BenchmarkHandler is the user half of `lambda e: printf(…)` with four fields.
func BenchmarkHandler(b *testing.B) {
	h, rt, _ := newTest()
	src := "probe('k:f', lambda e: printf('%d %d %d %d\\n', e.a, e.b, e.c, e.d))\n"
	if err := errors.Join(h.ParseText("x.star", []byte(src)), h.Run(nil)); err != nil {
		b.Fatal(err)
	}
	ev, set := fieldsEvent(4)
	fn, err := h.Specialise(halve(h.Plan().Probes[0].Handler, map[string]int{"e.a": 0, "e.b": 1, "e.c": 2, "e.d": 3},
		nil), ev)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		set(1, 2, 3, 4)
		if _, err := h.Call(fn, ev); err != nil {
			b.Fatal(err)
		}
		rt.out.Reset()
	}
}
