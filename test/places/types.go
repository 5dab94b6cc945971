package places

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random types of C.

// A leaf is a part of a value that has no parts: what is to be written behind the value's name in C.
type leaf struct {
	path string
	kind kind
}

type kind int

const (
	whole kind = iota // -1 has all bits
	truth             // a _Bool
	real              // all bytes
	wide              // a long double of amd64: 10 bytes
)

// A ctype is a type of C.
type ctype struct {
	name   string
	leaves []leaf
	empty  bool
}

var plain = []struct {
	name string
	kind kind
}{
	{"char", whole}, {"signed char", whole}, {"unsigned char", whole}, {"short", whole}, {"unsigned short", whole},
	{"int", whole}, {"unsigned", whole}, {"long", whole}, {"unsigned long", whole}, {"long long", whole},
	{"pointer_t", whole}, {"text_t", whole}, {"enum small", whole}, {"enum negative", whole}, {"word_t", whole},
	{"_Bool", truth}, {"float", real}, {"double", real}, {"float", real}, {"double", real},
}

// rare are those that not all compilers pass as the ABI says, and that BTF has no types for.
var rare = []struct {
	name string
	kind kind
}{
	{"long double", wide}, {"__int128", whole}, {"unsigned __int128", whole}, {"_Complex float", real},
	{"_Complex double", real},
}

// odd are those of gcc for amd64 alone.
var odd = []struct {
	name string
	kind kind
}{
	{"_Complex int", real}, {"_Complex long", real}, {"_Complex char", real}, {"_Decimal32", real},
	{"_Decimal64", real},
	{"_Decimal128", real}, {"_Atomic int", whole}, {"_Atomic short", whole}, {"enum unsigned_long", whole},
}

// aligned are those that the source aligns, and vectors of the machine.
var aligned = []struct {
	name string
	kind kind
}{{"aligned_t", whole}, {"floats_t", real}, {"ints_t", real}, {"half_t", real}}

type generator struct {
	*rand.Rand
	rare, wide, odd, aligned bool
	types                    strings.Builder
	n                        int
}

func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// typ is a random type: a plain one, or a struct or a union of some.
func (g *generator) typ(depth int) ctype {
	if depth > 0 && g.one(2) {
		return g.composite(depth)
	}
	p := plain[g.IntN(len(plain))]
	if g.rare && g.one(6) {
		p = rare[g.IntN(len(rare))]
	}
	if g.wide && g.one(6) {
		p = rare[1+g.IntN(2)]
	}
	if g.odd && g.one(6) {
		p = odd[g.IntN(len(odd))]
	}
	if g.aligned && g.one(9) {
		p = aligned[g.IntN(len(aligned))]
	}
	return ctype{name: p.name, leaves: []leaf{{kind: p.kind}}}
}

// alignment is that of a type or a member, seldom one. It is none of 8 bytes, by which clang, but not gcc, takes back
// what the name of a type says.
func (g *generator) alignment() string {
	if !g.aligned || !g.one(8) {
		return ""
	}
	return fmt.Sprintf(" __attribute__((aligned(%d)))", 16<<g.IntN(2))
}

func (g *generator) composite(depth int) ctype {
	g.n++
	word := "struct"
	if g.one(5) {
		word = "union"
	}
	t := ctype{name: fmt.Sprintf("%s t%d", word, g.n)}
	attribute, packed := "", word == "struct" && g.one(8)
	if packed {
		attribute = " __attribute__((packed))"
	}
	if packed { // gcc and clang do not agree about structs of bit-fields in it
		depth = 1
	}
	body := g.members(&t, depth, packed, word == "union")
	t.empty = len(t.leaves) == 0
	fmt.Fprintf(&g.types, "%s {%s }%s%s;\n", t.name, body, attribute, g.alignment())
	return t
}

// mostLeaves bounds a type.
const mostLeaves = 12

// unaligned is typ without types by whose names they are aligned: these cannot be in arrays, and gcc and clang do not
// agree about them in packed structs.
func (g *generator) unaligned(depth int) ctype {
	for {
		if t := g.typ(depth); t.name != aligned[0].name {
			return t
		}
	}
}

// members makes those of t. None is a bit-field with bits and without a name, nor one without bits in a union: gcc
// takes these for ints of the value, clang does not, and neither debug information nor BTF knows of them.
func (g *generator) members(t *ctype, depth int, packed, union bool) string {
	var body strings.Builder
	add := func(name string, of ctype) {
		for _, l := range of.leaves {
			t.leaves = append(t.leaves, leaf{name + l.path, l.kind})
		}
	}
	of := g.typ
	if packed {
		of = g.unaligned
	}
	same := of(depth - 1)                         // of all members: so that there are arrays of floats
	if packed && (g.rare || g.wide || g.one(2)) { // what follows is not aligned: else nothing tells that it is packed
		body.WriteString(" char first;")
		t.leaves = append(t.leaves, leaf{".first", whole})
	}
	for i := range 1 + g.IntN(4) {
		if len(t.leaves) > mostLeaves {
			break
		}
		name := fmt.Sprintf("m%d", i)
		switch n := g.IntN(22); {
		case n < 4:
			body.WriteString(g.bits(t, name))
		case n < 5:
			fmt.Fprintf(&body, " int %s : 3;", name)
			t.leaves = append(t.leaves, leaf{"." + name, whole})
		case n < 7 && !union: // closes the unit of a bit-field before it, and has no name
			fmt.Fprintf(&body, " %s : 0;", []string{"char", "short", "int", "long"}[g.IntN(4)])
		case n < 9 && depth > 0:
			in := of(depth - 1)
			fmt.Fprintf(&body, " struct { %s a, b; } %s; union { %s x%d; char y%d; };", in.name, name, in.name, i, i)
			add("."+name+".a", in)
			add("."+name+".b", in)
			add(fmt.Sprintf(".x%d", i), in)
			add(fmt.Sprintf(".y%d", i), ctype{leaves: []leaf{{}}})
		case n < 12:
			in, repeat := g.unaligned(depth-1), 1+g.IntN(4)
			fmt.Fprintf(&body, " %s %s[%d]%s;", in.name, name, repeat, g.alignment())
			for j := range repeat {
				add(fmt.Sprintf(".%s[%d]", name, j), in)
			}
		default:
			in := same
			if g.one(2) {
				in = of(depth - 1)
			}
			fmt.Fprintf(&body, " %s %s%s;", in.name, name, g.alignment())
			add("."+name, in)
		}
	}
	return body.String()
}

// bits is a bit-field. One of all bits of its type is a member like others to clang's debug information.
func (g *generator) bits(t *ctype, name string) string {
	of := []struct {
		name string
		bits int
		kind kind
	}{{"int", 32, whole}, {"unsigned", 32, whole}, {"unsigned char", 8, whole}, {"short", 16, whole},
		{"unsigned long", 64, whole}, {"_Bool", 1, truth}}[g.IntN(6)]
	t.leaves = append(t.leaves, leaf{"." + name, of.kind})
	return fmt.Sprintf(" %s %s : %d;", of.name, name, 1+g.IntN(max(1, of.bits-1)))
}

// set assigns all bits of a leaf.
func (l leaf) set(of string) string {
	at := of + l.path
	switch l.kind {
	case truth:
		return at + " = 1;"
	case real:
		return fmt.Sprintf("memset(&%s, 255, sizeof %s);", at, at)
	case wide:
		return fmt.Sprintf("memset(&%s, 255, LONG_DOUBLE);", at)
	}
	return fmt.Sprintf("%s = (typeof(%s + 0))-1;", at, at)
}
