package diff

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// textsOf are the builtins that give text for an int.
var textsOf = []string{
	"errno($)", "signal($)", "syscall_name($)", "inet($)", `names($, "O_")`, `names($, "AF_")`, `names($, "tcp_state")`,
	`names($, "mode")`, `strftime("%Y-%m-%d", $)`,
}

// ofInts are the builtins that take an int of which only some numbers or bits mean something.
var ofInts = append(textsOf[:len(textsOf):len(textsOf)],
	"ntohs($)", "ntohl($)", "int32($)", "uint32($)",
	`cast("u8", $)`, `cast("s16", $)`, `cast("u64", $)`,
	`syscall_name($) == "poll"`, `syscall_name($) == "syscall_-1"`, `syscall_name($) == "syscall_?"`,
	`syscall_name($).startswith("po")`, `syscall_name($) in ("poll", "read")`)

// keepings are functions that give what an expression is: at once, and from a table, of which it is a value or a part.
var keepings = []string{
	"def F(e):\n    return OF\n",
	"F_T = table()\ndef F(e):\n    F_T[0] = OF\n    return F_T[0]\n",
	"F_T = table()\ndef F(e):\n    F_T[0] = (OF, 1)\n    return F_T[0]\n",
}

// edges are numbers about the ends of each width.
func edges() (list []uint64) {
	for _, bits := range []int{0, 8, 15, 16, 31, 32, 33, 62, 63} {
		v := uint64(1) << bits
		list = append(list, v-2, v-1, v, v+1, -v-1, -v, 1-v)
	}
	return append(list, 1<<32+15, 1<<63+2, ^uint64(14))
}

// mayBeAbsent are ints that are not there at some events, in which $ stands for a field: what gives text for an int
// gives None of None, and FAULT of what cannot be read.
var mayBeAbsent = []string{"($ if e.args.flag else None)", "(None if e.args.flag else $)", "(F_O.get(e.args.u8 & 1))",
	"($ if e.args.flag else FAULT)", "((None if e.args.u8 > 7 else $) if e.args.flag else FAULT)"}

// maybe are programs with all that labels give of ints that may be absent, the numbers of the others going on.
func maybe(from int) (inKernel, inUser []*Program) {
	for _, of := range textsOf {
		for _, field := range []string{"u8", "s32", "u64", "s64"} {
			for _, x := range mayBeAbsent {
				name := fmt.Sprintf("f%d", from+len(inKernel))
				x := strings.ReplaceAll(x, "$", "e.args."+field)
				text := "F_O = table()\ndef F(e):\n    if e.args.u8 == 255:\n        F_O[1] = e.args." + field +
					"\n    return OF\n"
				for list, x := range map[*[]*Program]string{&inKernel: x, &inUser: "[" + x + "][0]"} {
					of := strings.ReplaceAll(of, "$", x)
					*list = append(*list, &Program{Name: name,
						Text: strings.NewReplacer("F_O", name+"_O", "F(", name+"(", "OF", strings.ReplaceAll(of, "F_O",
							name+"_O")).Replace(text)})
				}
			}
		}
	}
	return inKernel, inUser
}

// TestWideInts gives builtins of ints all that a field can hold, whatever its width and sign: both halves say the same
// of it. User space gets the number in a list, so that nothing of the call is done in the kernel.
//
// > The low 32 bits of an int are the address, as for ntohl.
func TestWideInts(t *testing.T) {
	need.Loading(t)
	var inKernel, inUser []*Program
	for _, of := range ofInts {
		for i, field := range []string{"u8", "u16", "s16", "u32", "s32", "u64", "s64"} {
			for _, text := range append(keepings[:1:1], keepings[1+i%2]) {
				name := fmt.Sprintf("f%d", len(inKernel))
				probes := map[*[]*Program]string{&inKernel: "e.args." + field, &inUser: "[e.args." + field + "][0]"}
				for list, x := range probes {
					of := strings.ReplaceAll(of, "$", x)
					*list = append(*list, &Program{Name: name,
						Text: strings.NewReplacer("F", name, "OF", of).Replace(text)})
				}
			}
		}
	}
	moreKernel, moreUser := maybe(len(inKernel))
	inKernel, inUser = append(inKernel, moreKernel...), append(inUser, moreUser...)
	c := &checker{facts: facts(t)}
	u, err := compileFor(scriptOf(inKernel), c.facts, StrMax, options())
	if err != nil {
		t.Fatal(err)
	}
	kernelHalf := loaded(t, u)
	h, res, u, err := c.inUser(inUser)
	if err != nil {
		t.Fatalf("in user space: %v", err)
	}
	userHalf := loaded(t, u)
	for i, p := range inKernel {
		fn, err := h.Specialise(res.Halves[i], userHalf.event)
		if err != nil {
			t.Fatal(err)
		}
		half := &placed{m: userHalf, host: h, fn: fn, probe: i}
		for _, v := range edges() {
			sameOf(t, p.Text, kernelHalf, half, i, v)
		}
	}
}

// sameOf runs the function with the number i in both halves where all ints of the event are v.
func sameOf(t *testing.T, text string, kernelHalf *machine, half *placed, i int, v uint64) {
	in := Inputs(1, 1)[0]
	for w := range 8 {
		in.Words[w] = v & (math.MaxUint64 >> (64 - Fields[w].Bits))
	}
	k, err := kernelHalf.run(i, in)
	if err != nil {
		t.Fatal(err)
	}
	user, err := half.run(in)
	if err != nil || k.value == nil || !same(k, user) {
		t.Errorf("of %#x\n%sthe kernel gives %s, user space %s, %v", v, text, shown(k), shown(user), err)
	}
}
