package accept

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// A rustValue is a value of a random type: how Rust writes the type and the value, and what a script finds at which
// paths.
type rustValue struct {
	typ, value string
	leaves     []rustLeaf
	// word: as a result it is a number.
	word bool
}

// A rustLeaf is a part of a value: what leads to it, and what is printed of it.
type rustLeaf struct{ path, text string }

// A rustCalls makes types and functions.
type rustCalls struct {
	r     *rand.Rand
	types strings.Builder
	n     int
}

// below gives the leaves of a value behind a path.
func (v rustValue) below(path string) (out []rustLeaf) {
	for _, l := range v.leaves {
		out = append(out, rustLeaf{path + l.path, l.text})
	}
	return out
}

// number is an int of a random type, or a bool.
func (g *rustCalls) number() rustValue {
	switch g.r.Intn(10) {
	case 0:
		text := []string{"false", "true"}[g.r.Intn(2)]
		shown := strings.ToUpper(text[:1]) + text[1:]
		return rustValue{typ: "bool", value: text, leaves: []rustLeaf{{"", shown}}, word: true}
	case 1:
		c := 'a' + rune(g.r.Intn(26))
		return rustValue{typ: "char", value: "'" + string(c) + "'", leaves: []rustLeaf{{"", strconv.Itoa(int(c))}}}
	}
	bits := []int{8, 16, 32, 64}[g.r.Intn(4)]
	n := int64(g.r.Uint64() >> (65 - bits))
	typ := fmt.Sprint("u", bits)
	if g.r.Intn(2) == 0 {
		typ, n = fmt.Sprint("i", bits), -n/2-1
	}
	return rustValue{typ: typ, value: fmt.Sprint(n, typ), leaves: []rustLeaf{{"", fmt.Sprint(n)}}}
}

// float is one, which no program in the kernel can read in a register.
func (g *rustCalls) float() rustValue {
	return rustValue{typ: []string{"f32", "f64"}[g.r.Intn(2)], value: "1.5"}
}

// text is a string.
func (g *rustCalls) text() rustValue {
	s := fmt.Sprint("s", g.r.Intn(1000))
	leaves := []rustLeaf{{"", s}}
	if g.r.Intn(2) == 0 {
		return rustValue{typ: "&'static str", value: strconv.Quote(s), leaves: leaves}
	}
	return rustValue{typ: "String", value: strconv.Quote(s) + ".to_string()", leaves: leaves}
}

// list is an array, a Vec or a slice.
func (g *rustCalls) list() rustValue {
	n := 2 + g.r.Intn(4)
	var list []string
	for range n {
		list = append(list, strconv.Itoa(g.r.Intn(250)))
	}
	text, leaves := strings.Join(list, ", "), []rustLeaf{{"", "(" + strings.Join(list, ", ") + ")"}}
	elem := []string{"u8", "u16", "i32", "u64"}[g.r.Intn(4)]
	switch g.r.Intn(3) {
	case 0:
		return rustValue{typ: fmt.Sprintf("[%s; %d]", elem, n), value: "[" + text + "]", leaves: leaves, word: true}
	case 1:
		return rustValue{typ: "Vec<" + elem + ">", value: "vec![" + text + "]", leaves: leaves}
	}
	return rustValue{typ: "&'static [" + elem + "]", value: "&[" + text + "]", leaves: leaves}
}

// option is an Option of something that is a value as a whole.
func (g *rustCalls) option() rustValue {
	in := g.number()
	if g.r.Intn(3) == 0 {
		in = g.text()
	}
	v := rustValue{typ: "Option<" + in.typ + ">", value: "Some(" + in.value + ")", leaves: in.leaves}
	if g.r.Intn(3) == 0 {
		v.value, v.leaves = "None", []rustLeaf{{"", "None"}}
	}
	return v
}

// result is a Result.
func (g *rustCalls) result() rustValue {
	ok, err := g.number(), g.number()
	if g.r.Intn(2) == 0 {
		err = g.text()
	}
	v := rustValue{typ: "Result<" + ok.typ + ", " + err.typ + ">"}
	if g.r.Intn(2) == 0 {
		v.value = "Ok(" + ok.value + ")"
		v.leaves = append(ok.below(".Ok"), rustLeaf{".Err", "None"}, rustLeaf{".variant", "Ok"})
		return v
	}
	v.value = "Err(" + err.value + ")"
	v.leaves = append(err.below(".Err"), rustLeaf{".Ok", "None"}, rustLeaf{".variant", "Err"})
	return v
}

// composite is a struct, as in C or not, a tuple, or an enum.
func (g *rustCalls) composite(depth int) rustValue {
	g.n++
	name := fmt.Sprint("T", g.n)
	switch g.r.Intn(3) {
	case 0:
		return g.tuple(depth)
	case 1:
		return g.enum(name)
	}
	repr := []string{"", "#[repr(C)] "}[g.r.Intn(2)]
	v := rustValue{typ: name}
	var fields, values []string
	for i := range 1 + g.r.Intn(3) {
		in := g.value(depth + 1)
		fields, values = append(fields, fmt.Sprintf("f%d: %s", i, in.typ)),
			append(values, fmt.Sprintf("f%d: %s", i, in.value))
		v.leaves = append(v.leaves, in.below(fmt.Sprint(".f", i))...)
	}
	fmt.Fprintf(&g.types, "%spub struct %s { %s }\n", repr, name, strings.Join(fields, ", "))
	v.value = name + " { " + strings.Join(values, ", ") + " }"
	return v
}

func (g *rustCalls) tuple(depth int) rustValue {
	v := rustValue{}
	var fields, values []string
	for i := range 2 + g.r.Intn(2) {
		in := g.value(depth + 1)
		fields, values = append(fields, in.typ), append(values, in.value)
		v.leaves = append(v.leaves, in.below(fmt.Sprintf("[%d]", i))...)
	}
	v.typ, v.value = "("+strings.Join(fields, ", ")+")", "("+strings.Join(values, ", ")+")"
	return v
}

func (g *rustCalls) enum(name string) rustValue {
	a, b := g.number(), g.number()
	if g.r.Intn(3) == 0 {
		b = g.text()
	}
	repr := []string{"", "#[repr(C)] ", "#[repr(u8)] "}[g.r.Intn(3)]
	fmt.Fprintf(&g.types, "%spub enum %s { A, B(%s), C(%s) }\n", repr, name, a.typ, b.typ)
	v := rustValue{typ: name, value: name + "::A"}
	content := map[string]rustValue{"B": a, "C": b}
	chosen := []string{"A", "B", "C"}[g.r.Intn(3)]
	v.leaves = []rustLeaf{{".variant", chosen}}
	for _, is := range []string{"B", "C"} {
		if is != chosen {
			v.leaves = append(v.leaves, rustLeaf{"." + is, "None"})
			continue
		}
		v.value = name + "::" + is + "(" + content[is].value + ")"
		v.leaves = append(v.leaves, content[is].below("."+is)...)
	}
	return v
}

// value is one of any type.
func (g *rustCalls) value(depth int) rustValue {
	kind := g.r.Intn(12)
	switch {
	case kind == 0:
		return g.float()
	case kind == 1:
		return g.text()
	case kind == 2:
		return g.list()
	case kind == 3:
		return g.option()
	case kind == 4:
		return g.result()
	case kind < 8 && depth < 2:
		return g.composite(depth)
	}
	return g.number()
}

// Arguments and results of random functions of Rust, compared with what they are. What is not known is FAULT, and
// nothing else differs.
//
// > Structs, enums and tuples by value are known, too, where a type of the function is one that C cannot have, as
// > `String`, `&str`, `Option` or a tuple, or C would pass all of them in the same places.
func TestCallsOfRust(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	functions, seed := setting.Int(t, "RUST_FUNCTIONS", 20), setting.Int(t, "RUST_SEED", 1)
	g := &rustCalls{r: rand.New(rand.NewSource(int64(seed)))}
	var source, calls, text strings.Builder
	want := map[string]string{}
	for f := range functions {
		var params, args, used []string
		result := g.value(0)
		check := func(probe, key string, leaves []rustLeaf) {
			var paths, texts []string
			for _, l := range leaves {
				paths, texts = append(paths, `"|"`, l.path), append(texts, l.text)
			}
			if len(paths) > 0 {
				fmt.Fprintf(&text, "probe(\"%s:BIN:*::f%d_\", lambda e: print(%q, %s))\n", probe, f, key,
					strings.Join(paths, ", "))
				want[key] = strings.Join(texts, " | ")
			}
		}
		for p := range 1 + g.r.Intn(5) {
			v := g.value(0)
			params = append(params, fmt.Sprintf("p%d: %s", p, v.typ))
			used = append(used, fmt.Sprintf("std::hint::black_box(&p%d); ", p))
			args = append(args, v.value)
			check("uprobe", fmt.Sprintf("f%d.p%d", f, p), v.below(fmt.Sprint("e.args.p", p)))
		}
		if !result.word {
			check("ufunc", fmt.Sprintf("f%d.ret", f), result.below("e.ret"))
		}
		fmt.Fprintf(&source, "#[inline(never)] pub fn f%d_(%s) -> %s { %s%s }\n", f, strings.Join(params, ", "),
			result.typ, strings.Join(used, ""), result.value)
		fmt.Fprintf(&calls, "std::hint::black_box(f%d_(%s));\n", f, strings.Join(args, ", "))
	}
	program := "#![allow(dead_code, unused_variables)]\n" + g.types.String() + source.String() + "fn main() {\n" +
		calls.String() + "}\n"
	binary := need.Built(t, "rustc -g -C opt-level=0", "calls.rs", program)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(text.String(), "BIN", binary)), "-c", binary).ok(t)
	same, unknown := 0, 0
	for _, line := range lines(e.stdout) {
		key, rest, _ := strings.Cut(line, " | ")
		got, leaves := strings.Split(rest, " | "), strings.Split(want[key], " | ")
		for i := range leaves {
			switch {
			case i < len(got) && got[i] == leaves[i]:
				same++
			case i < len(got) && strings.Contains(got[i], "<"):
				unknown++
			default:
				t.Errorf("%s: got %s, want %s", key, rest, want[key])
			}
		}
		delete(want, key)
	}
	for key := range want {
		t.Errorf("%s: not seen", key)
	}
	t.Logf("%d same, %d not known", same, unknown)
	if same < 3*unknown || same == 0 {
		t.Errorf("%d values are known, and %d are not", same, unknown)
	}
	if t.Failed() {
		t.Log(program)
	}
}
