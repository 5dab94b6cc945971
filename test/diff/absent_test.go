package diff

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/need"
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

// > Conversions of FAULT are FAULT: those of `cast`, `container_of`, `cstr`, `mem`, `path`, `int32`, `uint32`, `ntohs`
// > and `ntohl`.
// > `container_of` of a null pointer is FAULT, too.
// > `errno(n)` of a number that does not fit in 63 bits is None, too, unless these bits are an error's.
func TestAbsent(t *testing.T) {
	need.Loading(t)
	in := Inputs(1, 1)[0]
	in.P, in.Words[0], in.Words[3], in.Words[7] = Nowhere, 100, ^uint64(13), 1<<63+1<<40
	spelled := strings.NewReplacer("$", "e.args.p.s64", "@", `cast("struct node", e.args.u8 - 100)`)
	wants := map[string]string{}
	for text, want := range absent {
		wants[spelled.Replace(text)] = want
	}
	(&checker{facts: facts(t)}).expect(t, wants, in)
}

// > What the kernel reads for a user half never ends an event.
// > Where an argument of `cstr`, `mem` or `cast` cannot be computed, that is an error of the handler if it comes to
// > that place.
func TestUnreached(t *testing.T) {
	need.Loading(t)
	in := Inputs(1, 1)[0]
	in.P, in.Words[3] = Nowhere, 0
	(&checker{facts: facts(t)}).expect(t, map[string]string{
		`cstr(e.args.p.u64 + 8) if e.args.u64 != 0 else "0"`:                        "0",
		`mem(e.args.p.u64 // e.args.u64, 4) if e.args.u64 != 0 else b"0"`:           "0",
		`cast("u64", e.args.p.s64 << e.args.p.s8) if e.args.u64 != 0 else 0`:        "0",
		`cast("struct node", e.args.u8 // e.args.u64).s8 if e.args.u64 != 0 else 0`: "0",
		`cast("u8", e.args.u8 % e.args.u64) if e.args.u64 != 0 else 0`:              "0",
	}, in)
}

// expect evaluates expressions in both halves.
func (c *checker) expect(t *testing.T, wants map[string]string, in Input) {
	t.Helper()
	var programs []*Program
	var texts []string
	for text := range wants {
		name := fmt.Sprintf("f%d", len(programs))
		programs = append(programs, &Program{Name: name, Text: "def " + name + "(e):\n    return " + text + "\n"})
		texts = append(texts, text)
	}
	u, err := compileFor(scriptOf(programs), c.facts, StrMax, options())
	if err != nil {
		t.Fatal(err)
	}
	kernelHalf := loaded(t, u)
	h, res, u, err := c.inUser(programs)
	if err != nil {
		t.Fatalf("in user space: %v", err)
	}
	userHalf := loaded(t, u)
	for i, text := range texts {
		if got, err := kernelHalf.run(i, in); err != nil || shown(got) != wants[text] {
			t.Errorf("%s: the kernel gives %s, %v, want %s", text, got, err, wants[text])
		}
		fn, err := h.Specialise(res.Halves[i], userHalf.event)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (&placed{m: userHalf, host: h, fn: fn, probe: i}).run(in); err != nil ||
			shown(got) != wants[text] {
			t.Errorf("%s: user space gives %s, %v, want %s", text, got, err, wants[text])
		}
	}
}

func loaded(t *testing.T, u *bpfgen.Unit) *machine {
	m, err := load(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	return m
}

// shown is a value as it is printed, or the error.
func shown(o outcome) string {
	switch v := o.value.(type) {
	case nil:
		return o.what
	case starlark.String:
		return string(v)
	case value.Bytes:
		return string(v)
	}
	return value.Text(o.value)
}
