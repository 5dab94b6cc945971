package target

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Programs of random functions of C, C++ and Go that print their words.

// A Calls is a program of random functions, each of which prints the words that it was called with and what it returns:
// "f3 [-1, <float>, 70000] 5". Source is its text. Script has probes that print the same, of what they see. BIN in it
// is the program.
type Calls struct {
	Source, Script string
	// Functions are those whose parts are read by their names, as TypedC has them.
	Functions []Function
}

// A Function is one of such a program.
type Function struct {
	// Number is that of its name, and Line that of its first statement.
	Number, Line int
	// Arguments are what a script reads of these, and Result what it reads of the result.
	Arguments, Result []string
}

// A part is a parameter or a result: its type, a value of it, and how the function prints its words.
type part struct {
	typ, value string
	words      []string // statements that print one word each
}

// volatileC keeps the compiler from knowing values, so that it makes no functions of its own for them.
const headC = `#include <stdio.h>
#include <string.h>
static void whole(long long v) { printf("%lld", v); }
static void whole_u(unsigned long long v) { printf("%llu", v); }
static void word(const void *p, int off, int size) {
	long long v = 0; char b; short s; int i;
	const char *at = (const char *)p + off;
	switch (size) {
	case 1: memcpy(&b, at, 1); v = (signed char)b; break;
	case 2: memcpy(&s, at, 2); v = s; break;
	case 4: memcpy(&i, at, 4); v = i; break;
	default: memcpy(&v, at, size); v = v << (64 - 8 * size) >> (64 - 8 * size);
	}
	printf("%lld", v);
}
static void real(void) { printf("<float>"); }
`

// A shape is a struct, or a union, without padding, with the sizes of its words; f: of floats only.
type shape struct {
	name, members, value string
	words                []string
	memory               bool // more than 16 bytes, or packed
}

var shapes = []shape{
	{"s_ll", "long a, b;", "{-5, 6000000000}", []string{"8", "8"}, false},
	{"s_ii", "int a, b;", "{-5, 6}", []string{"8"}, false},
	{"s_i", "int a;", "{-77}", []string{"4"}, false},
	{"s_iii", "int a, b, c;", "{-5, 6, -7}", []string{"8", "4"}, false},
	{"s_ssil", "short a, b; int c; long d;", "{-5, 6, -7, 8}", []string{"8", "8"}, false},
	{"s_c2", "char a[2];", "{-5, 6}", []string{"2"}, false},
	{"s_c3", "char a[3];", "{-5, 6, -7}", []string{"3"}, false},
	{"s_c5", "char a[5];", "{5, 6, -7, 8, -9}", []string{"5"}, false},
	{"s_sc14", "short a[7];", "{5, 6, -7, 8, -9, 10, -11}", []string{"8", "6"}, false},
	{"s_dd", "double a, b;", "{1.5, 2.5}", []string{"f", "f"}, false},
	{"s_ff", "float a, b;", "{1.5f, 2.5f}", []string{"f"}, false},
	{"s_ld", "long a; double b;", "{-5, 2.5}", []string{"8", "f"}, false},
	{"s_dl", "double a; long b;", "{1.5, -6}", []string{"f", "8"}, false},
	{"s_if", "int a; float b;", "{-5, 2.5f}", []string{"8"}, false},
	{"s_ffd", "float a, b; double c;", "{1.5f, 2.5f, 3.5}", []string{"f", "f"}, false},
	{"s_lll", "long a, b, c;", "{-5, 6, -7}", []string{"8", "8", "8"}, true},
	{"s_ldl", "long a; double b; long c;", "{-5, 2.5, -7}", []string{"8", "f", "8"}, true},
	{"s_i8", "int a[8];", "{1, -2, 3, -4, 5, -6, 7, -8}", []string{"8", "8", "8", "8"}, true},
	{"s_packed", "char a; int b; short c; char d;", "{1, -2, 3, -4}", []string{"8"}, true},
	{"s_packed7", "char a; int b; short c;", "{-1, 2, -3}", []string{"7"}, true},
	{"s_packed12", "long a; int b;", "{-5, 6}", []string{"8", "4"}, false}, // packed, and aligned all the same
	{"s_closed", "int a : 32; int : 0; int b : 32; short c : 16; short : 0; short d;", "{-5, 6, -7, 8}",
		[]string{"8", "4"}, false},
	{"s_closed_f", "float a; int : 0; float b; long : 0; long c : 64;", "{1.5f, 2.5f, -6}", []string{"f", "8"}, false},
	{"u_ld", "union { long a; double b; };", "{-5}", []string{"8"}, false},
}

// String declares it.
func (s shape) String() string {
	attribute := ""
	if strings.HasPrefix(s.name, "s_packed") {
		attribute = "__attribute__((packed))"
	}
	return fmt.Sprintf("struct %s { %s } %s;\n", s.name, s.members, attribute)
}

// classes are those of C++: as their members, or by the address of a copy, a word that is where the parameter is. That
// they are has reasons apart: copying, ending, members, bases, virtual functions, what is deleted.
var classes = []shape{
	{"k_sums", "long a, b; long sum() const { return a + b; }", "{-5, 6}", []string{"8", "8"}, false},
	{"k_base", "int a;", "{-5}", []string{"4"}, false},
	{"k_based : k_base", "int b;", "{{-5}, 6}", []string{"8"}, false},
	{"k_made", "long a; double b; k_made(long a, double b) : a(a), b(b) {}", "{-5, 2.5}", []string{"8", "f"}, false},
	{"k_defaults", "int a, b; k_defaults(int a) : a(a), b(7) {} k_defaults(const k_defaults &) = default; " +
		"~k_defaults() = default;", "{-5}", []string{"8"}, false},
	{"k_copies", "int a; k_copies(int a) : a(a) {} k_copies(const k_copies &o) : a(o.a) {}", "{-5}", address, true},
	{"k_ends", "int a; ~k_ends() { asm volatile(\"\"); }", "{-5}", address, true},
	{"k_holds", "k_ends a; int b;", "{{-5}, 6}", address, true},
	{"k_from : k_ends", "int b;", "{{-5}, 6}", address, true},
	{"k_virtual", "int a = 5; virtual int f() { return a; }", "{}", address, true},
}

// address is the word of what is passed by it.
var address = []string{"at"}

// whole numbers of C, with the function that prints them.
var wholes = []struct{ typ, print string }{
	{"signed char", "whole"}, {"unsigned char", "whole_u"}, {"short", "whole"}, {"unsigned short", "whole_u"},
	{"int", "whole"},
	{"unsigned", "whole_u"}, {"long", "whole"}, {"unsigned long", "whole_u"}, {"long long", "whole"},
}

// partC is a random part of a function of C; ints: a whole number only.
func partC(r *rand.Rand, variable string, ints bool, known []shape) (p part, memory bool) {
	switch n := r.IntN(10); {
	case ints || n < 5:
		w := wholes[r.IntN(len(wholes))]
		value := r.Int64() >> r.IntN(63)
		return part{w.typ, fmt.Sprintf("(%s)%dLL", w.typ, value), []string{w.print + "(" + variable + ");"}}, false
	case n < 6:
		return part{"void *", fmt.Sprintf("(void *)%#x", r.Int64N(1<<47)), []string{"whole((long)" + variable + ");"}},
			false
	case n < 7:
		return part{[]string{"float", "double", "long double"}[r.IntN(3)], "2.5", []string{"real();"}}, false
	}
	s := known[r.IntN(len(known))]
	name, _, _ := strings.Cut(s.name, " ")
	p = part{typ: "struct " + name, value: s.value}
	for i, w := range s.words {
		switch w {
		case "f":
			p.words = append(p.words, "real();")
		case "at":
			p.words = append(p.words, "whole((long)&"+variable+");")
		default:
			p.words = append(p.words, fmt.Sprintf("word(&%s, %d, %s);", variable, 8*i, w))
		}
	}
	return p, s.memory
}

// RandomC is a program of n random functions of C, or C++. ints: their parameters are whole numbers, so that each is a
// word whose place needs no types.
func RandomC(seed uint64, n int, ints bool) Calls { return random(seed, n, ints, shapes) }

// RandomCpp is one of C++, with classes.
func RandomCpp(seed uint64, n int) Calls {
	return random(seed, n, false, append(slices.Clip(shapes), classes...))
}

func random(seed uint64, n int, ints bool, known []shape) Calls {
	r := rand.New(rand.NewPCG(seed, 12))
	var source, main, script strings.Builder
	source.WriteString(headC)
	for _, s := range known {
		source.WriteString(s.String())
	}
	for i := range n {
		var params, words, args []string
		for j := range r.IntN(11) {
			name := fmt.Sprintf("a%d", j)
			p, _ := partC(r, name, ints, known)
			params, args, words = append(params, p.typ+" "+name), append(args, fmt.Sprintf("v%d_%d", i, j)),
				append(words, p.words...)
			fmt.Fprintf(&source, "static volatile int on%d_%d = 1; static %s v%d_%d = %s;\n", i, j, p.typ, i, j,
				p.value)
		}
		result, memory := partC(r, "r", ints, known)
		fmt.Fprintf(&source, "static %s r%d = %s;\n__attribute__((noinline)) %s f%d(%s) {\n\tprintf(\"f%d [\");\n",
			result.typ, i, result.value, result.typ, i, strings.Join(params, ", "), i)
		source.WriteString("\t" + strings.Join(words, " printf(\", \"); ") + " printf(\"] \");\n")
		fmt.Fprintf(&source, "\t%s r = r%d;\n\t%s printf(\"\\n\");\n\treturn r;\n}\n", result.typ, i,
			returned(result, memory))
		fmt.Fprintf(&main, "\tf%d(%s);\n", i, strings.Join(args, ", "))
		ret := "e.ret"
		if memory || strings.HasPrefix(result.typ, "struct") {
			ret = `"struct"`
		}
		script.WriteString(probeOf(i, len(words), ret))
	}
	return Calls{Source: source.String() + "int main(void) {\n" + main.String() + "\treturn 0;\n}\n",
		Script: script.String()}
}

// returned prints a result that is no struct: RandomTyped has these.
func returned(p part, memory bool) string {
	if memory || strings.HasPrefix(p.typ, "struct") {
		return `printf("struct");`
	}
	return p.words[0]
}

// probeOf prints what f of number i is called with and returns.
func probeOf(i, words int, ret string) string {
	var args []string
	for j := range words {
		args = append(args, fmt.Sprintf("e.args[%d]", j))
	}
	return fmt.Sprintf("probe(\"ufunc:BIN:PREFIXf%d\", lambda e: print(\"f%d\", [%s], %s))\n", i, i,
		strings.Join(args, ", "), ret)
}

// headGo begins a program of Go.
const headGo = `package main

import (
	"fmt"
	"strings"
	"unsafe"
)

type mixed struct {
	A int32
	B float64
	C uint8
}

type small struct {
	_ struct{}
	A [1]int16
	B int8
}

type large struct {
	A int8
	B [3]int16
	C small
	D int64
}

type both struct {
	S string
	F float32
	L []byte
}

func list(words []any) string {
	return strings.Join(strings.Fields(fmt.Sprintln(words...)), ", ")
}

func show(n int, words, results []any) {
	fmt.Printf("f%d [%s] (%s)\n", n, list(words), list(results))
}

func address(p unsafe.Pointer) uintptr { return uintptr(p) }

const real = "<float>"

var (
	text  = "some text"
	bytes = []byte(text)
)

`

// RandomGo is a program of n random functions of Go: with values that fit into registers, values that do not, and
// smaller ones behind these, which may still.
func RandomGo(seed uint64, n int) Calls {
	r := rand.New(rand.NewPCG(seed, 13))
	var source, main, script strings.Builder
	source.WriteString(headGo)
	for i := range n {
		var params, args, words []string
		for j := range r.IntN(14) {
			name := fmt.Sprintf("a%d", j)
			typ, value, print := partGo(r, name)
			params, args, words = append(params, name+" "+typ), append(args, value), append(words, print...)
		}
		typ, value, _ := partGo(r, "r")
		other, otherValue, _ := partGo(r, "o")
		shown, seen := resultsGo(typ, other)
		fmt.Fprintf(&source, "//go:noinline\nfunc f%d(%s) (%s, %s) {\n\tvar r %s = %s\n\tvar o %s = %s\n"+
			"\tshow(%d, []any{%s}, []any{%s})\n\treturn r, o\n}\n\n",
			i, strings.Join(params, ", "), typ, other, typ, value, other, otherValue, i, strings.Join(words, ", "),
			shown)
		fmt.Fprintf(&main, "\tf%d(%s)\n", i, strings.Join(args, ", "))
		script.WriteString(probeOf(i, len(words), seen))
	}
	return Calls{Source: source.String() + "func main() {\n" + main.String() + "}\n", Script: script.String()}
}

// resultsGo are two results of some types: what the program prints of them, and the expression of startrace.
func resultsGo(types ...string) (shown, seen string) {
	var print, see []string
	for i, typ := range types {
		variable := []string{"r", "o"}[i]
		of := fmt.Sprintf("e.ret[%d]", i)
		switch {
		case strings.HasPrefix(typ, "float"):
			variable = "real"
		case typ == "string":
			variable = `fmt.Sprintf("%q", strings.ReplaceAll(` + variable + `, " ", "_"))`
			of += `.replace(" ", "_")`
		case typ == "bool":
			variable = `map[bool]string{true: "True", false: "False"}[` + variable + `]`
		case typ == "*string":
			variable = "address(unsafe.Pointer(" + variable + "))"
		case !strings.Contains("int int8 int16 int32 uint8 uint16 uint32 uint64", typ):
			variable, of = `"\"a_struct\""`, `"a_struct"`
		}
		print, see = append(print, variable), append(see, of)
	}
	return strings.Join(print, ", "), "(" + strings.Join(see, ", ") + ")"
}

var wholesGo = []struct {
	typ  string
	bits int
	sign bool
}{{"int8", 8, true}, {"uint8", 8, false}, {"int16", 16, true}, {"uint16", 16, false}, {"int32", 32, true},
	{"uint32", 32, false}, {"int", 64, true}, {"uint64", 64, false}}

// partGo is a random part of a function of Go.
func partGo(r *rand.Rand, name string) (typ, value string, words []string) {
	of := func(words ...string) []string {
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "$", name)
		}
		return words
	}
	switch r.IntN(18) {
	case 0:
		return "float64", "2.5", []string{"real"}
	case 1:
		return "float32", "2.5", []string{"real"}
	case 2:
		return "string", "text", of("address(unsafe.Pointer(unsafe.StringData($)))", "len($)")
	case 3:
		return "mixed", "mixed{-7, 1.5, 200}", of("$.A", "real", "$.C")
	case 4:
		return "*string", "&text", of("address(unsafe.Pointer($))")
	case 5:
		return "[]byte", "bytes", of("address(unsafe.Pointer(unsafe.SliceData($)))", "len($)", "cap($)")
	case 6:
		return "complex64", "complex(1, 2)", []string{"real", "real"}
	case 7:
		return "struct{}", "struct{}{}", nil
	case 8:
		return "[1]int32", "[1]int32{-9}", of("$[0]")
	case 9:
		return "[3]int16", "[3]int16{-1, 2, -3}", of("$[0]", "$[1]", "$[2]")
	case 10:
		return "small", "small{A: [1]int16{-300}, B: -4}", of("$.A[0]", "$.B")
	case 11:
		return "large", "large{-1, [3]int16{-2, 3, -4}, small{A: [1]int16{-300}, B: -4}, -1 << 40}",
			of("$.A", "$.B[0]", "$.B[1]", "$.B[2]", "$.C.A[0]", "$.C.B", "$.D")
	case 12:
		return "both", "both{text, 2.5, bytes}", of("address(unsafe.Pointer(unsafe.StringData($.S)))", "len($.S)",
			"real",
			"address(unsafe.Pointer(unsafe.SliceData($.L)))", "len($.L)", "cap($.L)")
	case 13:
		return "bool", "len(text) > 3", []string{"map[bool]int{true: 1}[" + name + "]"}
	}
	w := wholesGo[r.IntN(len(wholesGo))]
	v := r.Uint64() >> (64 - w.bits) >> r.IntN(w.bits)
	if w.sign {
		return w.typ, fmt.Sprint(-int64(v >> 1)), []string{name}
	}
	return w.typ, fmt.Sprint(v), []string{name}
}
