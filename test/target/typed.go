package target

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Programs of random functions whose arguments have names and types.

// A leaf is a part of a value: how the program writes it behind the value's name, and how a script does; show is the
// function of the program that prints it.
type leaf struct{ own, seen, show string }

// A typed is a type with the leaves of its values. In value, # stands for a random number of 7 bits.
type typed struct {
	name, value string
	leaves      []leaf
}

// headTypedC begins a program of C or C++.
const headTypedC = `#include <stdbool.h>
#include <stdio.h>
static void number(long long v) { printf("%lld", v); }
static void number_u(unsigned long long v) { printf("%llu", v); }
static void text(const char *s) { printf("\"%s\"", s); }
static void chars(const char *s, int n) { printf("\"%.*s\"", n, s); }
static void at(const char *s, int n) { printf("%lld", (long long)s); }
static void truth(bool b) { printf(b ? "True" : "False"); }
enum color { LOST = -2, RED = 5, BLUE };
struct inner { short s; unsigned char c; signed char neg; };
struct node {
	int id; unsigned flag : 1, weight : 12; signed int small : 3; const char *name; struct inner in; struct node *next;
	long nums[3]; char tag[8]; enum color color; bool on; union { long raw; unsigned char half; }; struct { int anon; };
	unsigned short grid[2][3];
};
struct pair { int a, b; long c; };
struct tiny { signed char a; short b; };
struct bits { unsigned x : 5; int y : 7; long z; };
struct big { long v[4]; const char *label; int e; };
struct holds { struct tiny t; struct inner in[2]; bool on; };
static struct node last = { .id = -1, .name = "the last", .tag = "12345678", .color = LOST };
`

// nodeLeaves are those of a struct node behind a pointer.
var nodeLeaves = []leaf{
	{"->id", ".id", "number"}, {"->flag", ".flag", "number_u"}, {"->weight", ".weight", "number_u"},
	{"->small", ".small", "number"}, {"->name", ".name", "text"}, {"->in.s", ".in_.s", "number"},
	{"->in.c", ".in_.c", "number_u"}, {"->in.neg", ".in_.neg", "number"}, {"->next->id", ".next.id", "number"},
	{"->next->name", ".next.name", "text"}, {"->nums[2]", ".nums[2]", "number"}, {"->tag, 8", ".tag", "chars"},
	{"->color", ".color", "number"}, {"->next->color", ".next.color", "number"}, {"->on", ".on", "truth"},
	{"->raw", ".raw", "number"}, {"->half", ".half", "number_u"}, {"->anon", ".anon", "number"},
	{"->grid[1][2]", ".grid[1][2]", "number_u"}, {"->next->tag, 8", ".next.tag", "chars"},
}

// typesC are those of the arguments and results of C.
var typesC = []typed{
	{"struct node *", "&(struct node){-#, 1, 30#, -2, \"a name\", {-3#, 2#, -#}, &last, {1, -2#, -#}, \"tag #\", " +
		"BLUE, true, {-#}, {#}, {{1, 2, 3}, {4, 5, 6#}}}", nodeLeaves},
	{"struct pair", "{-#, #, -70000#}",
		[]leaf{{".a", ".a", "number"}, {".b", ".b", "number"}, {".c", ".c", "number"}}},
	{"struct tiny", "{-#, -1#}", []leaf{{".a", ".a", "number"}, {".b", ".b", "number"}}},
	{"struct bits", "{#, -#, -#}", []leaf{{".x", ".x", "number_u"}, {".y", ".y", "number"}, {".z", ".z", "number"}}},
	{"struct big", "{{1, -2, #, -#}, \"label #\", -#}", []leaf{{".v[3]", ".v[3]", "number"},
		{".label", ".label", "text"}, {".e", ".e", "number"}}},
	{"struct holds", "{{-#, #}, {{1, 2, 3}, {-4#, 5, -#}}, true}", []leaf{{".t.a", ".t.a", "number"},
		{".in[1].neg", ".in_[1].neg", "number"}, {".in[1].s", ".in_[1].s", "number"}, {".on", ".on", "truth"}}},
	{"const char *", "\"text #\"", []leaf{{"", "", "text"}}},
	{"enum color", "LOST", []leaf{{"", "", "number"}}},
	{"bool", "true", []leaf{{"", "", "truth"}}},
	{"signed char", "-#", []leaf{{"", "", "number"}}}, {"unsigned char", "1#", []leaf{{"", "", "number_u"}}},
	{"short", "-1#", []leaf{{"", "", "number"}}}, {"unsigned short", "3#", []leaf{{"", "", "number_u"}}},
	{"int", "-1000#", []leaf{{"", "", "number"}}}, {"unsigned", "30000#", []leaf{{"", "", "number_u"}}},
	{"long", "-10000000#", []leaf{{"", "", "number"}}}, {"unsigned long", "10000000#", []leaf{{"", "", "number_u"}}},
	{"double", "2.5", nil}, {"long *", "(long[]){-#, #}", []leaf{{"[1]", "[1]", "number"}}},
}

// filled is a value with numbers for the marks.
func (t typed) filled(r *rand.Rand) string {
	var out strings.Builder
	for i, piece := range strings.Split(t.value, "#") {
		if i > 0 {
			fmt.Fprint(&out, 1+r.IntN(99)%15) // so that it fits wherever it stands
		}
		out.WriteString(piece)
	}
	return out.String()
}

// some picks leaves of a value of a name, and gives what the program does with them, and what a script sees.
func (t typed) some(r *rand.Rand, own, seen string) (prints, sees []string) {
	for range min(3, len(t.leaves)) {
		l := t.leaves[r.IntN(len(t.leaves))]
		prints, sees = append(prints, fmt.Sprintf("%s(%s%s);", l.show, own, l.own)), append(sees, seen+l.seen)
	}
	return prints, sees
}

// asResult is the type as that of a result, of which a word is a number.
func (t typed) asResult() typed {
	switch t.name {
	case "bool":
		t.leaves = nil
	case "const char *":
		t.leaves = []leaf{{", 99", "", "at"}}
	}
	return t
}

// TypedC is a program of n random functions of C.
func TypedC(seed uint64, n int) Calls {
	r := rand.New(rand.NewPCG(seed, 14))
	var source, main, script strings.Builder
	var functions []Function
	source.WriteString(headTypedC)
	for i := range n {
		var params, args, prints, sees []string
		for j := range 1 + r.IntN(8) {
			t, name := typesC[r.IntN(len(typesC))], fmt.Sprintf("a%d", j)
			params, args = append(params, t.name+" "+name), append(args, fmt.Sprintf("v%d_%d", i, j))
			print, see := t.some(r, name, "e.args."+name)
			prints, sees = append(prints, print...), append(sees, see...)
			fmt.Fprintf(&main, "\t%s v%d_%d = %s;\n", t.name, i, j, t.filled(r))
		}
		result := typesC[r.IntN(len(typesC))]
		print, see := result.asResult().some(r, "r", "e.ret")
		functions = append(functions, Function{i, lineAfter(&source) + 1, sees, see})
		prints, sees = append(prints, print...), append(slices.Clone(sees), see...)
		fmt.Fprintf(&source, "__attribute__((noinline)) %s f%d(%s%s r) {\n\tprintf(\"f%d\");\n", result.name, i,
			strings.Join(params, ", ")+", ", result.name, i)
		for _, p := range prints {
			source.WriteString("\tprintf(\" \"); " + p + "\n")
		}
		source.WriteString("\tprintf(\"\\n\");\n\treturn r;\n}\n")
		fmt.Fprintf(&main, "\t%s r%d = %s;\n\tf%d(%s, r%d);\n", result.name, i, result.filled(r), i,
			strings.Join(args, ", "), i)
		script.WriteString(typedProbe(i, sees))
	}
	source.WriteString("int main(void) {\n" + main.String() + "\treturn 0;\n}\n")
	return Calls{source.String(), script.String(), functions}
}

// lineAfter is the number of the line that follows a text.
func lineAfter(text *strings.Builder) int { return 1 + strings.Count(text.String(), "\n") }

// typedProbe prints what a script sees, each value as a program shows it.
func typedProbe(i int, sees []string) string {
	return fmt.Sprintf("probe(\"ufunc:BIN:PREFIXf%d\", lambda e: print(\"f%d\", %s))\n", i, i,
		strings.Join(asShown(sees), ", "))
}

// asShown are what a script sees as texts like those that programs print.
func asShown(sees []string) (words []string) {
	for _, s := range sees {
		words = append(words, "json.encode("+s+") if type("+s+") == \"string\" else str("+s+")")
	}
	return words
}

// ThreeWays is a script that prints what it sees of each function in three ways, parted by bars: "f3" and "f3 ret" of
// its calls, "l3" of its first line, and "r3" of its end. BIN is the program, and FILE its source.
func (c *Calls) ThreeWays() string {
	var script strings.Builder
	for _, f := range c.Functions {
		args, ret := asShown(f.Arguments), asShown(f.Result)
		for _, way := range []struct {
			point, name string
			sees        []string
		}{
			{fmt.Sprintf("ufunc:BIN:PREFIXf%d", f.Number), "f%d", args},
			{fmt.Sprintf("ufunc:BIN:PREFIXf%d", f.Number), "f%d ret", ret},
			{fmt.Sprintf("uprobe:BIN:FILE:%d", f.Line), "l%d", args},
			{fmt.Sprintf("uprobe:BIN:PREFIXf%d", f.Number), "u%d", args},
			{fmt.Sprintf("uretprobe:BIN:PREFIXf%d", f.Number), "r%d", ret},
		} {
			sees := strings.Join(way.sees, ", ")
			if way.name == "l%d" {
				sees = strings.ReplaceAll(sees, "e.args.", "e.vars.")
			}
			fmt.Fprintf(&script, "probe(%q, lambda e: print(%q + \"|\" + \"|\".join([%s])))\n", way.point,
				fmt.Sprintf(way.name, f.Number), sees)
		}
	}
	return script.String()
}

// headTypedGo begins a program of Go.
const headTypedGo = `package main

import (
	"fmt"
	"strings"
)

type inner struct {
	A uint8
	B int64
}

type node struct {
	ID    int32
	Name  string
	In    inner
	Next  *node
	Nums  [3]int16
	Tags  []string
	On    bool
	Rest  map[string]int
	Ratio float64
	More  uint16
}

type pair struct {
	A int8
	B string
	C uint32
}

var last = &node{ID: -1, Name: "the last", Tags: []string{"x", "a longer tag"}}

func show(n int, parts ...any) {
	var words []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			words = append(words, fmt.Sprintf("%q", p))
		case bool:
			words = append(words, map[bool]string{true: "True", false: "False"}[p])
		default:
			words = append(words, fmt.Sprint(p))
		}
	}
	fmt.Println(fmt.Sprintf("f%d", n), strings.Join(words, " "))
}

`

// typesGo are those of Go.
var typesGo = []typed{
	{"*node", "&node{-#, \"a nàme #\", inner{#, -70000#}, last, [3]int16{1, -2, -#}, []string{\"one\", \"two #\"}, " +
		"true, nil, 2.5, 1#}", []leaf{{".ID", ".ID", ""}, {".Name", ".Name", ""}, {".In.A", ".In.A", ""},
		{".In.B", ".In.B", ""}, {".Next.Name", ".Next.Name", ""}, {".Next.Tags[1]", ".Next.Tags.array[1]", ""},
		{".Nums[2]", ".Nums[2]", ""}, {".Tags[1]", ".Tags.array[1]", ""}, {".On", ".On", ""}, {".More", ".More", ""}}},
	{"node", "node{-#, \"by value\", inner{#, -#}, last, [3]int16{1, -2, -#}, nil, true, nil, 1, 2#}",
		[]leaf{{".ID", ".ID", ""}, {".Name", ".Name", ""}, {".In.B", ".In.B", ""}, {".Next.ID", ".Next.ID", ""},
			{".Nums[1]", ".Nums[1]", ""}, {".On", ".On", ""}, {".More", ".More", ""}}},
	{"pair", "pair{-#, \"text #\", 7#}", []leaf{{".A", ".A", ""}, {".B", ".B", ""}, {".C", ".C", ""}}},
	{"string", "\"a string #\"", []leaf{{"", "", ""}}}, {"bool", "true", []leaf{{"", "", ""}}},
	{"[]int32", "[]int32{1, -2#}", []leaf{{"[1]", ".array[1]", ""}}},
	{"int8", "-#", []leaf{{"", "", ""}}}, {"uint16", "6#", []leaf{{"", "", ""}}},
	{"int", "-7000#", []leaf{{"", "", ""}}},
	{"uint64", "7000#", []leaf{{"", "", ""}}}, {"float64", "1.5", nil},
	{"[1]int32", "[1]int32{-#}", []leaf{{"[0]", "[0]", ""}}},
}

// TypedGo is a program of n random functions of Go, of two results each.
func TypedGo(seed uint64, n int) Calls {
	r := rand.New(rand.NewPCG(seed, 15))
	var source, main, script strings.Builder
	var functions []Function
	source.WriteString(headTypedGo)
	for i := range n {
		var params, args, prints, sees []string
		for j := range 1 + r.IntN(8) {
			t, name := typesGo[r.IntN(len(typesGo))], fmt.Sprintf("a%d", j)
			params, args = append(params, name+" "+t.name), append(args, t.filled(r))
			print, see := t.some(r, name, "e.args."+name)
			prints, sees = append(prints, print...), append(sees, see...)
		}
		functions = append(functions, Function{i, lineAfter(&source) + 2, sees, nil})
		sees = slices.Clone(sees)
		var results, values []string
		for j, name := range []string{"r", "o"} {
			t := typesGo[r.IntN(len(typesGo))]
			results, values = append(results, t.name), append(values, name+" "+t.name)
			args = append(args, t.filled(r))
			print, see := t.asResult().some(r, name, fmt.Sprintf("e.ret[%d]", j))
			prints, sees = append(prints, print...), append(sees, see...)
			functions[i].Result = append(functions[i].Result, see...)
		}
		for j := range prints { // as "(a0.ID);"
			prints[j] = strings.TrimSuffix(prints[j], ";")
		}
		fmt.Fprintf(&source, "//go:noinline\nfunc f%d(%s) (%s) {\n\tshow(%d, %s)\n\treturn r, o\n}\n\n", i,
			strings.Join(append(params, values...), ", "), strings.Join(results, ", "), i, strings.Join(prints, ", "))
		fmt.Fprintf(&main, "\tf%d(%s)\n", i, strings.Join(args, ", "))
		script.WriteString(typedProbe(i, sees))
	}
	return Calls{source.String() + "func main() {\n" + main.String() + "}\n", script.String(), functions}
}
