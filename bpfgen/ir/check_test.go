package ir

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"ok", "b0:\n v1 = const 1\n ret v1", ""},
		{"unreachable", "b0:\n ret\nb1:\n v2 = add v1, 1\n jump b2\nb2:\n v1 = const 1\n jump b1", ""},
		{"loop", "b0:\n v1 = const 1\n jump b1(v1)\nb1(v2):\n v3 = add v2, 1\n br ult v3, 9 -> b1(v3), b2\nb2:\n" +
			" ret v3", ""},
		{"no terminator", "b0:\n v1 = const 1", "b0: no terminator"},
		{"entry params", "b0(v1):\n ret v1", "the entry has parameters"},
		{"edge to entry", "b0:\n jump b0", "leads to the entry"},
		{"edge values", "b0:\n jump b1\nb1(v1):\n ret", "0 values for 1 parameters"},
		{"use before", "b0:\n v2 = add v1, 1\n v1 = const 1\n ret", "v1: used where it is not defined"},
		{"own operand", "b0:\n v1 = add v1, 1\n ret", "v1: used where it is not defined"},
		{"one way only", "b0:\n v1 = const 1\n br eq v1, 0 -> b1, b2\nb1:\n v2 = const 2\n jump b2\nb2:\n ret v2",
			"b2: v2: used where"},
		{"edge arg", "b0:\n jump b1(v1)\nb1(v2):\n v1 = const 1\n ret", "b0: v1: used where"},
		{"operands", "b0:\n v1 = const 1\n v2 = neg v1, v1\n ret", "2 operands, want 1"},
		{"no result", "b0:\n v1 = const 1\n zero v1, 12\n ret", "out of range"},
		{"wide immediate", "b0:\n v1 = const 1\n v2 = add v1, 4294967296\n ret", "does not fit 32 bits"},
		{"wide branch", "b0:\n v1 = const 1\n br eq v1, 4294967296 -> b1, b1\nb1:\n ret", "does not fit 32 bits"},
		{"divide by 0", "b0:\n v1 = const 1\n v2 = udiv v1, 0\n ret", "division by the immediate 0"},
		{"offset", "b0:\n v1 = ctx\n v2 = load8 v1 +32768\n ret", "out of range"},
		{"call", "b0:\n v1 = ctx\n v2 = call 1 v1, v1, v1, v1, v1, v1\n ret", "more than 5"},
		{"slot", "slot s0 8\nb0:\n v1 = slot s0 +9\n ret", "out of range"},
		{"map", "b0:\n v1 = map\n ret", "name or immediate"},
	} {
		f, err := Parse("func \"f\" {\n" + tt.body + "\n}\n")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		err = f.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestCheckBackLinks(t *testing.T) {
	f := NewFunc("f")
	b := f.Blocks[0]
	v := b.Const(Pos{}, 1)
	b.Ret(Pos{}, v)
	other := f.NewBlock()
	other.Ret(Pos{}, nil)
	v.Block = other
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "another block") {
		t.Errorf("moved value: %v", err)
	}
	v.Block = b
	other.Values = append(other.Values, v)
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "defined twice") {
		t.Errorf("shared value: %v", err)
	}
	other.Values = []*Value{f.NewValue(OpNeg, Pos{}, nil)}
	other.Values[0].Block = other
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("nil operand: %v", err)
	}
}

func TestDominators(t *testing.T) {
	f, err := Parse(`func "f" {
b0:
  v1 = ctx
  br eq v1, 0 -> b1, b2 likely
b1:
  jump b3
b2:
  jump b3
b3:
  br eq v1, 1 -> b3, b4
b4:
  ret
b5:
  jump b4
}
`)
	if err != nil {
		t.Fatal(err)
	}
	order := f.Order()
	var names []string
	for _, b := range order {
		names = append(names, b.String())
	}
	if got := strings.Join(names, " "); got != "b0 b2 b1 b3 b4" {
		t.Errorf("order %s", got)
	}
	dom := f.Dominators(order)
	b := f.Blocks
	for _, tt := range []struct {
		a, b *Block
		want bool
	}{{b[0], b[4], true}, {b[1], b[3], false}, {b[3], b[4], true}, {b[4], b[3], false}, {b[2], b[2], true}} {
		if got := dom.Dominates(tt.a, tt.b); got != tt.want {
			t.Errorf("Dominates(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
	if dom.Idom(b[3]) != b[0] || dom.Reached(b[5]) {
		t.Error("idom of b3 or reach of b5")
	}
}
