package value

import (
	"runtime"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/plan"
)

func TestCut(t *testing.T) {
	s := Cut([]byte("/usr/share/do"))
	if s != "/usr/share/do" || len(s) != 13 || !IsCut(string(s)) || Printed(string(s)) != "/usr/share/do…" {
		t.Errorf("%q, cut %v, prints as %q", s, IsCut(string(s)), Printed(string(s)))
	}
	for _, c := range []struct{ part, want string }{
		{string(s[5:]), "share/do…"}, {string(s[:5]), "/usr/"}, {string(s[:0]), ""},
		{strings.Clone(string(s)), "/usr/share/do"},
		{strings.Split(string(s), "/")[3], "do…"}, {strings.TrimPrefix(string(s), "/usr"), "/share/do…"},
		{string(s[12:]), "o…"},
	} {
		if got := Printed(c.part); got != c.want {
			t.Errorf("%q prints as %q, want %q", c.part, got, c.want)
		}
	}
	if empty := Cut(nil); empty != "" || Printed(string(empty)) != "…" {
		t.Errorf("an empty one prints as %q", Printed(string(empty)))
	}
}

// Strings that are gone leave nothing, neither in the table nor for the next string at their address.
func TestCutStringsGo(t *testing.T) {
	kept := Cut([]byte("kept"))
	for round := range 50 {
		for range 2000 {
			Cut([]byte("0123456789abcdef0123456789abcdef"))
		}
		runtime.GC()
		for range 2000 {
			if s := strings.Repeat("x", 33+round%8); Printed(s) != s {
				t.Fatalf("%q prints as %q", s, Printed(s))
			}
		}
	}
	if n := cutStrings.Load(); n > 20000 {
		t.Errorf("%d places are known of 100000 strings, all but a few of which are gone", n)
	}
	if Printed(string(kept)) != "kept…" {
		t.Errorf("what is kept prints as %q", Printed(string(kept)))
	}
}

func TestAssembled(t *testing.T) {
	a, b := Cut([]byte("abc")), Cut([]byte("abcd"))
	plus, err := Operate(syntax.PLUS, a, starlark.String("-"))
	if err != nil {
		t.Fatal(err)
	}
	plus, err = Operate(syntax.PLUS, plus, b)
	if err != nil || plus != starlark.String("abc-abcd") || Text(plus) != "abc…-abcd…" {
		t.Errorf("+: %v prints as %q (%v)", plus, Text(plus), err)
	}
	percent, err := Operate(syntax.PERCENT, starlark.String("%s %s|%s %d"),
		starlark.Tuple{starlark.String("abc"), a, b, starlark.MakeInt(3)})
	if err != nil || Text(percent) != "abc abc…|abcd… 3" {
		t.Errorf("%%: prints as %q (%v)", Text(percent), err)
	}
	if list := joined(", ", []string{string(a), "x", string(b)}); list != "abc, x, abcd" ||
		Text(list) != "abc…, x, abcd…" {
		t.Errorf("join: %q prints as %q", list, Text(list))
	}
	d := starlark.NewDict(1)
	_ = d.SetKey(a, starlark.Tuple{b})
	if got := Text(NewRecord([]string{"d"}, []starlark.Value{d})); got != `record(d = {"abc…": ("abcd…",)})` {
		t.Errorf("a record prints as %s", got)
	}
}

// A cut string is another key than the whole string of the same bytes, as in the kernel, also within a tuple.
func TestCutKeys(t *testing.T) {
	table := NewTable(&plan.Container{Kind: plan.Table, Name: "t"})
	count := NewAgg(&plan.Container{Kind: plan.Count, Name: "n"})
	whole, cut := starlark.String("abc"), Cut([]byte("abc"))
	if whole != cut {
		t.Fatal("they are not equal")
	}
	keys := []starlark.Value{whole, cut, starlark.Tuple{whole, cut}, starlark.Tuple{cut, whole}}
	for i, k := range keys {
		if err := table.SetKey(k, starlark.MakeInt(i)); err != nil {
			t.Fatal(err)
		}
		if err := count.add(k, 0, Number{Bits: 1}, int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	again := []starlark.Value{starlark.String("abc"), Cut([]byte("abc")), starlark.Tuple{whole, Cut([]byte("abc"))},
		starlark.Tuple{Cut([]byte("abc")), whole}}
	for i, k := range again {
		v, found, err := table.Get(k)
		if err != nil || !found || v != starlark.MakeInt(i) {
			t.Errorf("t[%s] is %v, %v, %v; want %d", Text(k), v, found, err, i)
		}
		states, err := count.one(k)
		if err != nil || len(states) != 1 || states[0].Count != int64(i+1) {
			t.Errorf("n[%s] is %v, %v; want %d", Text(k), states, err, i+1)
		}
	}
	for _, kv := range table.Items() {
		if _, wrapped := kv[0].(cutKey); wrapped {
			t.Errorf("items() gives %v", kv[0])
		}
	}
}

// What stands in the place of bytes behind which a string was cut is cut: nothing that methods make of all parts of a
// string loses the mark.
func TestCutsOutliveParts(t *testing.T) {
	a := newAssembly(0)
	for _, part := range []starlark.String{Cut([]byte("abca")), "|", Cut([]byte("bc")), "b"} {
		a.add(string(part))
	}
	s := a.string()
	want := Printed(string(s))
	for from := range s {
		for to := from + 1; to <= len(s); to++ {
			old := starlark.String(strings.Clone(string(s[from:to])))
			got, within := Text(called(t, s, "replace", old, old)), strings.TrimSuffix(Printed(string(s[from:to])), "…")
			if got != want && !(within != string(old) && strings.Contains(got, string(old)+"…")) {
				t.Errorf("replace(%q, %q): %s, want %s", old, old, got, want)
			}
			for _, method := range []string{"partition", "rpartition"} {
				var parts []string
				for _, part := range called(t, s, method, old).(starlark.Tuple) {
					parts = append(parts, Printed(string(part.(starlark.String))))
				}
				if got := strings.Join(parts, ""); strings.ReplaceAll(got, "……", "…") != want {
					t.Errorf("%s(%q): %q, want %s", method, old, parts, want)
				}
			}
		}
	}
	if got := Text(called(t, s, "replace", starlark.String("ca"), starlark.String(""))); got != "ab…|bc…b" {
		t.Errorf("replace by nothing: %s", got)
	}
}

// called is a method of a string, called.
func called(t *testing.T, s starlark.String, method string, args ...starlark.Value) starlark.Value {
	t.Helper()
	f, err := WithMethods(s).(starlark.HasAttrs).Attr(method)
	if err != nil {
		t.Fatal(err)
	}
	v, err := starlark.Call(&starlark.Thread{}, f, args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
