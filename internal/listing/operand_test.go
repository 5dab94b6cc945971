package listing

import (
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/usdt"
)

// A list says of an argument of a static probe where places have another one, or none.
func TestArgumentsOfSeveralPlaces(t *testing.T) {
	arg := func(size int, signed bool, text string) usdt.Operand {
		return usdt.Operand{Kind: usdt.InRegister, Size: size, Signed: signed, Text: text}
	}
	first := usdt.Place{Addr: 0x40, Args: []usdt.Operand{arg(4, true, "-4@%eax")}}
	same := usdt.Place{Addr: 0x44, Args: []usdt.Operand{arg(4, true, "-4@%edi")}}
	other := usdt.Place{Addr: 0x48, Args: []usdt.Operand{arg(8, true, "-8@%rsi"), arg(4, false, "4@%ecx")}}
	for _, test := range []struct {
		places []usdt.Place
		where  string
		want   []string
	}{
		{[]usdt.Place{first}, "address 0x40", []string{"e.args.arg0 s32 -4@%eax"}},
		{[]usdt.Place{first, same}, "address 0x40 and 1 more place", []string{"e.args.arg0 s32 -4@%eax"}},
		{[]usdt.Place{first, same, other, other}, "address 0x40 and 3 more places",
			[]string{"e.args.arg0 s32 -4@%eax, and s64 at another one (-8@%rsi)",
				"e.args.arg1 u32 4@%ecx: at 2 of 4 places"}},
		{[]usdt.Place{other, first}, "address 0x48 and 1 more place",
			[]string{"e.args.arg0 s64 -8@%rsi, and s32 at another one (-4@%eax)",
				"e.args.arg1 u32 4@%ecx: at 1 of 2 places"}},
		{[]usdt.Place{{Addr: 0x40}, {Addr: 0x44}}, "address 0x40 and 1 more place", nil},
	} {
		var p Point
		staticProbe(usdt.StaticProbe{Provider: "shop", Name: "sold", Places: test.places})(&p)
		var got []string
		for _, f := range p.Fields {
			got = append(got, f.Name+" "+f.C+" "+f.Note)
		}
		if p.Where != test.where || !slices.Equal(got, test.want) {
			t.Errorf("got %s, %q, want %s, %q", p.Where, got, test.where, test.want)
		}
	}
}
