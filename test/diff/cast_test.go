package diff

import (
	"fmt"
	"math/big"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/test/need"
)

// castOperands are what is cast; constants fold.
var castOperands = []string{
	"e.args.u8", "e.args.u32", "e.args.u64", "e.args.s8", "e.args.s32", "e.args.s64", "e.args.flag",
	"-128", "-1", "300", "4294967295", "9223372036854775808", "18446744073709551616",
}

// TestCast compares cast() to ints of all widths with C's conversion.
func TestCast(t *testing.T) {
	need.Loading(t)
	f, inputs := facts(t), Inputs(6, 6)
	for _, bits := range []int{8, 16, 32, 64} {
		for _, sign := range []string{"u", "s"} {
			typ := fmt.Sprintf("%s%d", sign, bits)
			src := "def f(e):\n    return (cast(\"" + typ + "\", e.args.p) == cast(\"" + typ +
				"\", cast(\"u64\", e.args.p)),"
			for _, x := range castOperands {
				src += "\n        cast(\"" + typ + "\", " + x + "),"
			}
			u, err := compile(scriptOf([]*Program{{Name: "f", Text: src + ")\n"}}), f, StrMax, false)
			if err != nil {
				t.Fatal(err)
			}
			m, err := load(u)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range inputs {
				out, err := m.run(0, in)
				if err != nil || out.value == nil {
					t.Fatalf("%s: %v, %v", typ, out, err)
				}
				compareCasts(t, typ, bits, sign == "s", in, out.value.(starlark.Tuple))
			}
			m.close()
		}
	}
}

func compareCasts(t *testing.T, typ string, bits int, signed bool, in Input, got starlark.Tuple) {
	t.Helper()
	if got[0] != starlark.True {
		t.Errorf("cast of a pointer to %s is not that of its address", typ)
	}
	for i, x := range castOperands {
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "cast", x,
			starlark.StringDict{"e": eventOf(in, StrMax)})
		if err != nil {
			t.Fatal(err)
		}
		n := new(big.Int)
		if w, ok := v.(starlark.Int); ok {
			n = w.BigInt()
		} else if v == starlark.True {
			n.SetInt64(1)
		}
		n.Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
		if signed && n.Bit(bits-1) == 1 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
		}
		if eq, err := starlark.Equal(got[i+1], starlark.MakeBigInt(n)); !eq || err != nil {
			t.Errorf("cast(%q, %s) of %s is %s, want %s", typ, x, v, got[i+1], n)
		}
	}
}
