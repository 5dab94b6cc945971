package diff

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// absent are conversions of what is not there, or is an address and no number, and what they give, whichever half makes
// them: $ stands for what cannot be read, @ for a null pointer.
var absent = map[string]string{
	`cast("s32", $)`:                              "<fault>",
	`cast("u64", $)`:                              "<fault>",
	`cast("u8", FAULT)`:                           "<fault>",
	`cast("u8", e.args.p.flag)`:                   "<fault>",
	`cast("struct node", $)`:                      "<fault>",
	`cast("struct node", $).s8`:                   "<fault>",
	`cast("struct node", FAULT)`:                  "<fault>",
	`cast("s8", cast("s32", $))`:                  "<fault>",
	`container_of($, "struct node", "inner")`:     "<fault>",
	`container_of(FAULT, "struct node", "inner")`: "<fault>",
	`container_of(@, "struct node", "inner")`:     "<fault>",
	`mem($, 4)`:                                   "<fault>",
	`mem(FAULT, 4)`:                               "<fault>",
	`cstr($)`:                                     "<fault>",
	`cstr(FAULT)`:                                 "<fault>",
	`int32($)`:                                    "<fault>",
	`uint32($)`:                                   "<fault>",
	`ntohs($)`:                                    "<fault>",
	`ntohl(cast("u16", $))`:                       "<fault>",
	`int32(FAULT)`:                                "<fault>",
	`errno($)`:                                    "<fault>",
	"FAULT":                                       "<fault>",
	`path(FAULT)`:                                 "<fault>",
	`errno(FAULT)`:                                "<fault>",
	`errno(None)`:                                 "None",
	`errno(@)`:                                    "None",
	`errno(e.args.p.next)`:                        "<fault>",
	`errno(18446744073709551602)`:                 "EFAULT",
	`errno(e.args.u64)`:                           "EFAULT",
	`errno(cast("u64", e.args.s64))`:              "None",
	`errno(cast("struct node", e.args.s64))`:      "None",
	`errno(cast("struct node", e.args.u64))`:      "EFAULT",
	`errno(cast("struct node", e.args.u8))`:       "None",
	`signal($)`:                                   "<fault>",
	`signal(@)`:                                   "None",
	`syscall_name($)`:                             "<fault>",
	`ksym($)`:                                     "<fault>",
	`ksym(@)`:                                     "None",
	`ksym(FAULT)`:                                 "<fault>",
	`dev_name($)`:                                 "<fault>",
	`dev_name(@)`:                                 "None",
	`names($, "O_")`:                              "<fault>",
	`names(@, "O_")`:                              "None",
	`inet($)`:                                     "<fault>",
	`inet(@)`:                                     "None",
	`inet(FAULT)`:                                 "<fault>",
	`inet(None)`:                                  "None",
	`mac(mem($, 6))`:                              "<fault>",
	`strftime("%T", $)`:                           "<fault>",
	`strftime("%T", @)`:                           "None",
}

// > * Conversions of FAULT are FAULT: those of `cast`, `container_of`, `cstr`, `mem`, `path`, `int32`, `uint32`, `ntohs` and `ntohl`. So is `container_of` of
// >   a null pointer.
// > So is `errno(n)` of a number that does not fit in 63 bits, unless these bits are an error's.
func TestAbsent(t *testing.T) {
	needBPF(t)
	in := Inputs(1, 1)[0]
	in.P, in.Words[0], in.Words[3], in.Words[7] = Nowhere, 100, ^uint64(13), 1<<63+1<<40
	c := &checker{facts: facts(t)}
	var programs []*Program
	var want []string
	for text, gives := range absent {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "$", "e.args.p.s64"), "@", `cast("struct node", e.args.u8 - 100)`)
		programs = append(programs, &Program{Name: "f" + string(rune('a'+len(want)/26)) + string(rune('a'+len(want)%26)), Text: "X"})
		programs[len(want)].Text = "def " + programs[len(want)].Name + "(e):\n    return " + text + "\n"
		want = append(want, gives)
	}
	for i, p := range programs {
		c.expect(t, p, in, want[i])
	}
}

// expect runs a program in both halves.
func (c *checker) expect(t *testing.T, p *Program, in Input, want string) {
	t.Helper()
	text := strings.TrimSpace(p.Text)
	u, err := compileFor(scriptOf([]*Program{p}), c.facts, StrMax, options())
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	m, err := load(u)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if got, err := m.run(0, in); err != nil || shown(got) != want {
		t.Errorf("%s: the kernel gives %s, %v, want %s", text, got, err, want)
	}
	h, res, u, err := c.inUser([]*Program{p})
	if err != nil {
		t.Errorf("%s in user space: %v", text, err)
		return
	}
	user, err := load(u)
	if err != nil {
		t.Fatal(err)
	}
	defer user.close()
	fn, err := h.Specialise(res.Halves[0], user.event)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (&placed{m: user, host: h, fn: fn}).run(in); err != nil || shown(got) != want {
		t.Errorf("%s: user space gives %s, %v, want %s", text, got, err, want)
	}
}

func shown(o outcome) string {
	if o.value == nil {
		return o.what
	}
	if s, ok := o.value.(starlark.String); ok {
		return string(s)
	}
	if b, ok := o.value.(value.Bytes); ok {
		return string(b)
	}
	return value.Text(o.value)
}

// > * What the kernel reads for a user half never ends an event: where an argument of `cstr`, `mem` or `cast` cannot be computed, that is an error of the
// >   handler if it comes to that place.
func TestUnreached(t *testing.T) {
	needBPF(t)
	in := Inputs(1, 1)[0]
	in.P, in.Words[3] = Nowhere, 0
	c := &checker{facts: facts(t)}
	for _, x := range []string{
		`cstr(e.args.p.u64 + 8) if e.args.u64 != 0 else "0"`, `mem(e.args.p.u64 // e.args.u64, 4) if e.args.u64 != 0 else b"0"`,
		`cast("u64", e.args.p.s64 << e.args.p.s8) if e.args.u64 != 0 else e.args.u64`,
		`cast("struct node", e.args.u8 // e.args.u64).s8 if e.args.u64 != 0 else e.args.u64`,
		`cast("u8", e.args.u8 % e.args.u64) if e.args.u64 != 0 else e.args.u64`,
	} {
		c.expect(t, &Program{Name: "f", Text: "def f(e):\n    return " + x + "\n"}, in, "0")
	}
}
