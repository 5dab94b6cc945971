package ir

import (
	"strings"
	"testing"
)

// everything has each form of the text at least once.
const everything = `func "count \"x\"" {
  slot s0 16
  slot s1 8
  scratch 128
b0:
  v1 = ctx @a.star:1:2
  v2 = load32 v1 +8 @"a b.star":3:4
  v3 = const -9223372036854775808
  v5 = slot s1 +4
  v6 = map "c0"
  v7 = mapvalue "sites" +8
  v8 = call 1 v6, v5
  v9 = call 5
  store8 v5, v3 -2
  atomicadd64 v7, v9 +0 @a.star:5:6
  v10 = add v9, -5
  v11 = sub v9, v10
  v12 = neg v11
  v13 = cmp slt v11, v12
  v14 = sext v13, 32
  v15 = cmpxchg64 v7, v14, v12 +0
  zero v5, 8
  copy v5, v7, 8
  countsite 3
  v16 = scratch +8
  v17 = load64 v16 +0
  br slt v17, -1 -> b1(v17, v3) likely, b2 @a.star:7:8
b1(v4 @a.star:9:9, v20):
  br set v4, v20 -> b2, b3
b2:
  jump b1(v1, v1)
b3:
  ret v4
b9:
  ret
}
`

func TestTextForm(t *testing.T) {
	f, err := Parse(everything)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.String(); got != everything {
		t.Errorf("got:\n%s", got)
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	if f.CheckMachine() == nil {
		t.Error("CheckMachine found no macro op")
	}
	if p, q := f.Blocks[0].Values[0].Pos, f.Blocks[0].Term.Pos; p.Filename() != "a.star" || p.Line != 1 || q.Col != 8 {
		t.Errorf("positions: %v %v", p, q)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"b0:\n ret v1\n", "used but not defined: v1"},
		{"b0:\n jump b7\n", "used but not defined: b7"},
		{"b0:\n v1 = const 1\n v1 = const 2\n ret", "line 4: second definition of v1"},
		{"b0:\n ret\nb0:\n ret", "line 4: second definition of b0"},
		{"b0:\n v1 = bogus 1\n ret", `line 3: unknown instruction "bogus"`},
		{"b0:\n v1 = const 1 2\n ret", `line 3: unexpected "2"`},
		{"b0:\n v1 = const 99999999999999999999\n ret", "line 3: bad number"},
		{"b0:\n v1 = slot s4 +0\n ret", "line 3: no slot s4"},
		{"b0:\n v1 = store8 v2, v3 +0\n ret", "line 3: store8 has no result"},
		{"b0:\n ret\n ret", "line 4: instruction after the end"},
		{"b0:\n v99999999 = const 1\n", "line 3: unknown instruction"},
		{"slot s0 4\nb0:\n ret", "line 2: the size of a slot"},
		{"b0:\n v1 = const 1 @x:1\n ret", "line 3: position without"},
		{"b0:\n br eq v1, 1 -> b1 likely, b2 likely\n", "line 3: both ways likely"},
		{"b0:\n v1 = \"\n", "line 3: bad string"},
		{"", "a function without blocks"},
	} {
		_, err := Parse("func \"f\" {\n" + tt.body + "\n}\n")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.body, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Fuzz(func(t *testing.T, text string) {
		fn, err := Parse(text)
		if err != nil {
			return
		}
		first := fn.String()
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, first)
		}
		if second := again.String(); second != first {
			t.Fatalf("first:\n%s\nsecond:\n%s", first, second)
		}
		one, two := fn.Check(), again.Check()
		if (one == nil) != (two == nil) {
			t.Fatalf("Check: %v, then %v", one, two)
		}
	})
}
