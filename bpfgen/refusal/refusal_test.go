package refusal_test

import (
	"errors"
	"slices"
	"testing"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

func at(line int32) plan.Pos {
	file := "t.star"
	return syntax.MakePosition(&file, line, 1)
}

// What ends a walk says whether user space is a way out, and only refusals are caught.
func TestAttempt(t *testing.T) {
	for _, c := range []struct {
		name          string
		walk          func()
		refused       bool
		final, silent bool
		says          string
	}{
		{name: "a walk to its end", walk: func() {}},
		{name: "what the kernel cannot run", walk: func() { refusal.Refuse(at(3), "%d floats", 2) }, refused: true,
			says: "t.star:3:1: 2 floats"},
		{name: "a mistake", walk: func() { refusal.Wrong(at(4), "no field %s", "x") }, refused: true, final: true,
			says: "t.star:4:1: no field x"},
		{name: "what follows a mistake", walk: refusal.AfterMistake, refused: true, final: true, silent: true},
	} {
		r := refusal.Attempt(c.walk)
		switch {
		case (r != nil) != c.refused:
			t.Errorf("%s: refused is %t", c.name, r != nil)
		case r != nil && (r.Final != c.final || r.Silent != c.silent || r.None):
			t.Errorf("%s: %+v", c.name, r)
		case r != nil && !r.Silent && r.Error() != c.says:
			t.Errorf("%s: it says %q, want %q", c.name, r.Error(), c.says)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic that is no refusal was caught")
		}
	}()
	refusal.Attempt(func() { panic("a bug") })
}

// Messages come in the order of their places, each once, and are one error that unwraps to each of them.
func TestDiags(t *testing.T) {
	var d refusal.Diags
	for _, line := range []int32{7, 2, 7, 5} {
		d.Add(at(line), "line %d", line)
	}
	d = d.Sorted()
	if got, want := d.Error(), "t.star:2:1: line 2\nt.star:5:1: line 5\nt.star:7:1: line 7"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !errors.Is(d, d[1]) {
		t.Error("an error of the list is not found in it")
	}
	if pos, msg := d[1].Place(); pos.Line != 5 || msg != "line 5" {
		t.Errorf("the second is %q at %v", msg, pos)
	}
}

// Points in turn say one of two things of one place: each is said once, in the order in which they came up.
func TestDiagsInTurn(t *testing.T) {
	var d refusal.Diags
	for range 3 {
		d.Add(at(4), "an argument")
		d.Add(at(4), "a field")
		d.Add(at(2), "another place")
	}
	want := "t.star:2:1: another place\nt.star:4:1: an argument\nt.star:4:1: a field"
	if got := d.Sorted().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNear(t *testing.T) {
	for name, want := range map[string]string{"pidd": " (did you mean pid?)", "zzzzzz": ""} {
		if got := refusal.Near(name, []string{"comm", "pid"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What a whole kernel is without is said once, with how many points need it; other causes stay apart.
func TestLacksAreSaidOnce(t *testing.T) {
	lack := func(line int32, point, what string) refusal.Diag {
		return refusal.Diag{Pos: at(line), Msg: point + ": this kernel has no " + what, Lacks: what}
	}
	for _, one := range []struct {
		say  refusal.Diags
		want []string
	}{
		{refusal.Diags{lack(1, "kprobe:a", "kprobes")}, []string{"kprobe:a: this kernel has no kprobes"}},
		{refusal.Diags{lack(2, "kprobe:b", "kprobes"), lack(1, "kprobe:a", "kprobes")},
			[]string{"kprobe:a: this kernel has no kprobes; another point of the script needs that, too"}},
		{refusal.Diags{lack(1, "kprobe:a", "kprobes"), {Pos: at(2), Msg: "other"}, lack(3, "usdt:c", "uprobes"),
			lack(4, "kprobe:d", "kprobes"), lack(4, "kprobe:e", "kprobes"), {Pos: at(5), Msg: "other"}},
			[]string{"kprobe:a: this kernel has no kprobes; 2 more points of the script need that, too", "other",
				"usdt:c: this kernel has no uprobes", "other"}},
		{refusal.Diags{lack(1, "kprobe:a", "kprobes"), lack(1, "kprobe:a", "kprobes")},
			[]string{"kprobe:a: this kernel has no kprobes"}},
	} {
		var got []string
		for _, d := range one.say.Sorted() {
			got = append(got, d.Msg)
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%v\ngives %q,\nwant  %q", one.say, got, one.want)
		}
	}
}
