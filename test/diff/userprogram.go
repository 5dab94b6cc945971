package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A random program of C whose functions are traced.

// A UserProgram is a program of C whose functions and static probes are called with values that it reads: a byte says
// which, the values follow, and a byte is the answer.
type UserProgram struct {
	// Source is the program's text, and Calls are the functions in it that can be called.
	Source string
	Calls  []UserCall
}

// A UserCall is one of its functions, or a static probe in one.
type UserCall struct {
	// Name is the function's, or that of the static probe.
	Name string
	// Static: it is a static probe.
	Static bool
	params []userPart
	result *userPart // nil: none
}

// A userType is a type of C, with the words that it is passed in.
type userType struct {
	name  string
	words []userWord
	abi   string
	text  bool
}

// A userWord is a part of a value that is one word for scripts.
type userWord struct {
	bytes  int
	signed bool
	float  bool
}

// A userPart is a parameter or a result. from is the number of the first of its values among those of an input.
type userPart struct {
	userType
	from int
	// form is how a static probe finds it, constant its value where that is known before.
	form     userForm
	constant int64
}

func integer(name string, bytes int, signed bool) userType {
	return userType{name: name, words: []userWord{{bytes, signed, false}}}
}

var userInts = []userType{
	integer("signed char", 1, true), integer("unsigned char", 1, false), integer("short", 2, true),
	integer("unsigned short", 2, false), integer("int", 4, true), integer("unsigned", 4, false),
	integer("long", 8, true), integer("unsigned long", 8, false),
}

func words(text string) (out []userWord) {
	for _, c := range text {
		switch c {
		case 'f':
			out = append(out, userWord{8, false, true})
		default:
			out = append(out, userWord{int(c - '0'), true, false})
		}
	}
	return out
}

// userTypes are those besides ints: of structs each word has its bytes, or is an f.
var userTypes = []userType{
	{"enum small", []userWord{{4, false, false}}, "an enum", false},
	{"enum negative", []userWord{{4, true, false}}, "an enum with a sign", false},
	{"void *", []userWord{{8, false, false}}, "a pointer", false},
	{"char *", []userWord{{8, false, false}}, "a string", true},
	{"float", []userWord{{4, false, true}}, "a float", false},
	{"double", []userWord{{8, false, true}}, "a double", false},
	{"struct s_ll", words("88"), "a struct of two words", false},
	{"struct s_i", words("4"), "a struct of less than a word", false},
	{"struct s_ii", words("8"), "a struct of two ints in a word", false},
	{"struct s_iii", words("84"), "a struct of a word and a part", false},
	{"struct s_ssil", words("88"), "a struct of two words", false},
	{"struct s_c2", words("2"), "a struct of less than a word", false},
	{"struct s_dd", words("ff"), "a struct of floats", false},
	{"struct s_ld", words("8f"), "a struct of an int and a float", false},
	{"struct s_dl", words("f8"), "a struct of an int and a float", false},
	{"struct s_lll", words("888"), "a struct in memory", false},
	{"struct s_ldl", words("8f8"), "a struct in memory", false},
}

const userHead = `#include <unistd.h>
enum small { no, yes }; enum negative { under = -1, over = 1 };
struct s_ll { long a, b; }; struct s_i { int a; }; struct s_ii { int a, b; }; struct s_iii { int a, b, c; };
struct s_ssil { short a, b; int c; long d; }; struct s_c2 { char a[2]; }; struct s_dd { double a, b; };
struct s_ld { long a; double b; }; struct s_dl { double a; long b; }; struct s_lll { long a, b, c; };
struct s_ldl { long a; double b; long c; };
static void take(void *to, long n)
{
	for (char *at = to; n > 0; ) {
		long got = read(0, at, n);
		if (got <= 0)
			_exit(0);
		at += got;
		n -= got;
	}
}
static char *take_text(char *to)
{
	unsigned char n;
	take(&n, 1);
	if (n == 255)
		return (char *)8;
	take(to, n);
	to[n] = 0;
	return to;
}
#define PROBED __attribute__((noinline, noipa))
#define NOTE(name, args) \
	"990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n" \
	".asciz \"diff\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif\n"
static volatile long slots[64];
static unsigned long frames[32];
static unsigned char known;
static inline __attribute__((always_inline)) void note(void *self)
{
	frames[0] = (unsigned long)self;
	known = 1;
	for (void **at = __builtin_frame_address(0); at && known < 32; at = at[0])
		frames[known++] = (unsigned long)at[1];
}
PROBED void chosen(int k);
PROBED void down(int k, int deep)
{
	if (deep > 0)
		down(k, deep - 1);
	else
		chosen(k);
	__asm__ volatile("");
}
void begin(int k, int deep);
#ifdef __x86_64__
__asm__(".globl begin\nbegin: push %rbp\nxor %ebp, %ebp\ncall down\npop %rbp\nret\n");
#else
__asm__(".globl begin\nbegin: stp x29, x30, [sp, -16]!\nmov x29, 0\nbl down\nldp x29, x30, [sp], 16\nret\n");
#endif
`

// NewUserProgram makes a program of n functions, and of so many static probes.
func NewUserProgram(seed uint64, n, static int) *UserProgram {
	g := &gen{r: rand.New(rand.NewPCG(seed, 0xca11))}
	p := &UserProgram{}
	for i := range n {
		p.Calls = append(p.Calls, g.userCall(i))
	}
	for i := range static {
		p.Calls = append(p.Calls, g.staticProbe(n+i))
	}
	var b, main strings.Builder
	b.WriteString(userHead)
	for i := range p.Calls {
		p.Calls[i].write(&b, &main, i)
	}
	fmt.Fprintf(&b, "void chosen(int k)\n{\n\t\tswitch (k) {\n%s\t\t}\n\t__asm__ volatile(\"\");\n}\n"+userMain,
		main.String())
	p.Source = b.String()
	return p
}

const userMain = `int main(void)
{
	for (unsigned char k[2];;) {
		take(k, 2);
		known = 0;
		begin(k[0], k[1]);
		if (write(1, k, 1) != 1 || write(1, &known, 1) != 1 || write(1, frames, 8 * known) != 8 * known)
			return 1;
	}
}
`

// mostWords bounds the words of a call.
const mostWords = 14

func (g *gen) userCall(i int) UserCall {
	c := UserCall{Name: fmt.Sprintf("f%d", i)}
	from := 0
	for range 1 + g.r.IntN(9) {
		t := g.userType()
		if from+len(t.words) > mostWords {
			break
		}
		c.params = append(c.params, userPart{userType: t, from: from})
		from += len(t.words)
	}
	t := g.userType()
	if len(t.words) <= 2 && !g.one(8) {
		c.result = &userPart{userType: t, from: from}
	}
	return c
}

func (g *gen) userType() userType {
	if g.one(2) {
		return pick(g, userInts)
	}
	return pick(g, userTypes)
}

// write writes the function and the part of main that calls it.
func (c *UserCall) write(b, main *strings.Builder, number int) {
	var params, args []string
	fmt.Fprintf(main, "\t\tcase %d:\n", number)
	given := func(p *userPart, name string) {
		if p.text {
			fmt.Fprintf(b, "static char *%s, %s_room[256];\n", name, name)
			fmt.Fprintf(main, "\t\t\t%s = take_text(%s_room);\n", name, name)
			return
		}
		fmt.Fprintf(b, "static %s %s;\n", p.name, name)
		fmt.Fprintf(main, "\t\t\ttake(&%s, sizeof %s);\n", name, name)
	}
	for i := range c.params {
		name := fmt.Sprintf("%s_a%d", c.Name, i)
		given(&c.params[i], name)
		params, args = append(params, fmt.Sprintf("%s a%d", c.params[i].name, i)), append(args, name)
	}
	result, body := "void", ""
	if c.result != nil {
		given(c.result, c.Name+"_r")
		result, body = c.result.name, "return "+c.Name+"_r;"
	}
	if c.Static {
		body = c.staticBody(b)
	}
	fmt.Fprintf(b, "PROBED %s %s(%s)\n{\n\tnote(%[2]s);\n\t%[4]s\n}\n", result, c.Name, strings.Join(params, ", "),
		body)
	fmt.Fprintf(main, "\t\t\t%s(%s);\n\t\t\tbreak;\n", c.Name, strings.Join(args, ", "))
}

// field is what scripts see of a word at a path.
func (p *userPart) field(word int, path string) Field {
	w := p.words[word]
	f := Field{Path: path, From: p.from + word, Bits: 8 * w.bytes, Signed: w.signed, Far: w.float, ABI: p.abi,
		Constant: p.form == formConstant}
	switch {
	case p.text:
		f.Path, f.Bits = "cstr("+path+")", 0
	case p.name == "void *":
		f.Address = true
	}
	return f
}

// fields are the words of the arguments; prefixes are tried in turns.
func (c *UserCall) fields(prefixes ...string) (out []Field) {
	for _, p := range c.params {
		for i := range p.words {
			n := len(out)
			f := p.field(i, fmt.Sprintf("%s[%d]", prefixes[n%len(prefixes)], n))
			if c.Static && !p.text {
				f.Alias = fmt.Sprintf("e.args.arg%d", n)
			}
			out = append(out, f)
		}
	}
	regs := 0
	for _, p := range c.params { // how many registers of six are taken, as far as it concerns ints
		ints := slices.ContainsFunc(p.words, func(w userWord) bool { return !w.float })
		if len(p.words) == 1 && ints {
			if regs++; regs > 6 && p.abi == "" {
				out[p.from].ABI = "an int on the stack"
			}
		}
	}
	return out
}

// resultFields are those of the result, one for each of its words.
func (c *UserCall) resultFields() (out []Field) {
	if c.result == nil {
		return []Field{{Path: "e.ret", Void: true, ABI: "no result"}}
	}
	if len(c.result.words) == 1 {
		return []Field{c.resultField(0, "e.ret")}
	}
	for i := range c.result.words {
		out = append(out, c.resultField(i, fmt.Sprintf("e.ret[%d]", i)))
	}
	return out
}

func (c *UserCall) resultField(word int, path string) Field {
	f := c.result.field(word, path)
	if f.ABI == "" {
		f.ABI = "a result"
	} else {
		f.ABI += " as a result"
	}
	return f
}

// Sites are the points at which a call in a binary is seen.
func (c *UserCall) Sites(binary string) []Site {
	if c.Static {
		return []Site{{Point: "usdt:" + binary + ":diff:" + c.Name, Fields: c.fields("e.args")}}
	}
	at := binary + ":" + c.Name
	begin, end := []KnownStack{{"e.ustack", 0}}, []KnownStack{{"e.ustack", 1}} // at the end the caller is the leaf
	return []Site{
		{Point: "uprobe:" + at, Fields: c.fields("e.args"), Stacks: begin},
		{Point: "uretprobe:" + at, Fields: c.resultFields(), Stacks: end},
		{Point: "ufunc:" + at, Fields: append(c.fields("e.args", "e.start.args"), c.resultFields()...),
			Stacks: append(end, KnownStack{"e.start.ustack", 0}),
			Start:  &Site{Fields: c.fields("e.args"), Stacks: begin}},
	}
}

// Inputs are n inputs of the call.
func (c *UserCall) Inputs(seed uint64, n int) []Input {
	parts := c.params
	if c.result != nil {
		parts = append(slices.Clip(parts), *c.result)
	}
	var fields []Field
	for _, p := range parts {
		for i := range p.words {
			fields = append(fields, p.field(i, ""))
		}
	}
	inputs := InputsOf(fields, seed, n)
	for i := range inputs {
		for _, p := range parts {
			w := &inputs[i].Words[p.from]
			switch {
			case p.name == "void *":
				*w = *w&(1<<47-1) | 1<<20
			case p.form == formConstant:
				*w = uint64(p.constant)
			}
		}
	}
	return inputs
}

// Bytes is what the program reads for an input of a call.
func (c *UserCall) Bytes(number int, in *Input) []byte {
	out := []byte{byte(number), byte(in.Number % 7)}
	parts := c.params
	if c.result != nil {
		parts = append(slices.Clip(parts), *c.result)
	}
	for _, p := range parts {
		if p.text {
			if t := in.Texts[p.from]; t.Fault {
				out = append(out, 255)
			} else {
				out = append(append(out, byte(len(t.S))), t.S...)
			}
			continue
		}
		for i, w := range p.words {
			v := in.Words[p.from+i]
			if p.form == formHigh {
				v <<= 8
			}
			for j := range p.sent(i) {
				_ = w
				out = append(out, byte(v>>(8*j)))
			}
		}
	}
	return out
}

// sent is how many bytes of a word the program reads.
func (p *userPart) sent(word int) int {
	if p.form == formHigh {
		return 2
	}
	return p.words[word].bytes
}
