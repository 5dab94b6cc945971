package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The inputs of random programs: ints, texts and their classes.

// StrMax is the limit of captured strings that the scripts are compiled with, in bytes. It is small so that inputs
// reach it.
const StrMax = 32

// A Field is an argument of the event.
type Field struct {
	// Name is the one by which the event of this package's own tracepoint has it.
	Name string
	Bits int // 0: a string
	// Signed: it is an int with a sign.
	Signed bool
	// Bool: it is a bool.
	Bool bool
	Ptr  bool // to a node
	// Path is how scripts name it at a site, Alias another name. ABI says what it is an example of, where its width and
	// sign do not.
	Path, Alias, ABI string
	From             int // which of the values of the input it is, at a site
	// Far: it lies where the kernel's programs cannot read, so it is FAULT. Void: there is none. Address: it points to
	// anything. Constant: it is known when the script is compiled.
	Far, Void, Address, Constant bool
}

// Fields are the arguments of the event in their order. A raw tracepoint has at most twelve.
var Fields = []Field{
	{Name: "u8", Bits: 8}, {Name: "u16", Bits: 16}, {Name: "u32", Bits: 32}, {Name: "u64", Bits: 64},
	{Name: "s8", Bits: 8, Signed: true}, {Name: "s16", Bits: 16, Signed: true}, {Name: "s32", Bits: 32, Signed: true},
	{Name: "s64", Bits: 64, Signed: true}, {Name: "p", Bits: 64, Ptr: true},
	{Name: "flag", Bits: 8, Bool: true}, {Name: "s"}, {Name: "t"},
}

// MostFields is how many a site has at most.
const MostFields = 32

// A Text is a string argument.
type Text struct {
	// S is what is there.
	S     string
	Fault bool // the pointer leads nowhere
}

// An Input is what one event carries.
type Input struct {
	Number int                // among those of a seed
	Words  [MostFields]uint64 // by the index in Fields
	// Texts are the strings, by the index in Fields, too.
	Texts [MostFields]Text
	Leads bool // u64 is the address of s
	P     int  // where p leads: the number of a node, Null or Nowhere
	// Nodes are what pointers can lead to.
	Nodes  [Nodes]Node
	fields []Field  // nil: Fields
	frames []uint64 // at the beginning of a function of a program, the leaf first
}

// Inputs makes n inputs of a seed.
func Inputs(seed uint64, n int) []Input {
	out := InputsOf(Fields, seed, n)
	classes := textClasses
	for i := range min(len(out), len(classes)) { // each class at least once, beside others
		out[i].Texts[10+i%2] = Text{S: classes[i].S, Fault: classes[i].Fault}
	}
	return out
}

// InputsOf makes n inputs for a list of fields.
func InputsOf(fields []Field, seed uint64, n int) []Input {
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x19))}
	out := make([]Input, n)
	for i := range out {
		out[i].Number = i
		for j, f := range fields {
			switch {
			case f.Far || f.Void:
			case f.Bits == 0:
				out[i].Texts[j] = g.text()
			case f.Ptr:
				out[i].P = g.place(KernelNodes)
			case f.Bool:
				out[i].Words[j] = uint64(g.r.IntN(2))
			default:
				out[i].Words[j] = g.word() & (math.MaxUint64 >> (64 - f.Bits))
			}
		}
		if len(fields) == len(Fields) && g.one(4) { // equal ones meet more often than by chance
			out[i].Words[3] = out[i].Words[7]
			out[i].Texts[11] = out[i].Texts[10]
		}
		for j := range out[i].Nodes {
			out[i].Nodes[j] = g.node()
		}
	}
	return out
}

// textClasses are the kinds of strings that a run must meet: of StrMax bytes, more, cut within a character, and so on.
var textClasses = []Text{
	{Fault: true}, {}, {S: "0123456789abcdefghijklmnopqrstuv"}, {S: "0123456789abcdefghijklmnopqrstuvw"},
	{S: "0123456789abcdefghijklmnopqrstué"},
	{S: "0123456789abcdefghijklmnopqrstu"}, {S: "ab\xff\x80"}, {S: "a\x01\n…"},
}

func (g *gen) word() uint64 {
	switch g.r.IntN(5) {
	case 0:
		return 0
	case 1:
		return pick(g, []uint64{1, math.MaxUint64, 2, 1 << 63, 1<<63 - 1, 1<<63 + 1, 1 << 31, 1<<31 - 1, 1<<32 - 1,
			1 << 32, 127, 128, 255, 0x8000})
	case 2:
		return uint64(g.r.IntN(64))
	case 3:
		return -uint64(g.r.IntN(64))
	}
	return g.r.Uint64() >> g.r.IntN(64)
}

// text is also at the limit and beyond it, and beyond it with the bytes of another that just fits.
func (g *gen) text() Text {
	switch g.r.IntN(16) {
	case 3, 4:
		const limits = "0123456789abcdefghijklmnopqrst…v"
		return Text{S: limits[:StrMax] + pick(g, []string{"", "", "x", "\xff"})}
	case 0:
		return Text{Fault: true}
	case 1:
		b := make([]byte, g.r.IntN(2*StrMax))
		for i := range b {
			b[i] = "ab/c\x01\x7f\x80\xff"[g.r.IntN(8)]
		}
		return Text{S: string(b)}
	case 2:
		return Text{S: pick(g, texts) + pick(g, texts)}
	}
	return Text{S: pick(g, texts)}
}

// String gives the input as a script would see it.
func (in Input) String() string {
	s, fields := "", in.fields
	if fields == nil {
		fields = Fields
	}
	for i, f := range fields {
		if f.Path != "" {
			i, f.Name = f.From, f.Path
		}
		switch {
		case f.Bits == 0 && in.Texts[i].Fault:
			s += f.Name + "=FAULT "
		case f.Bits == 0:
			s += fmt.Sprintf("%s=%q ", f.Name, in.Texts[i].S)
		case f.Ptr:
			s += fmt.Sprintf("p=%d %+v ", in.P, in.Nodes)
		case f.Signed:
			s += fmt.Sprintf("%s=%d ", f.Name, int64(in.Words[i]<<(64-f.Bits))>>(64-f.Bits))
		default:
			s += fmt.Sprintf("%s=%d ", f.Name, in.Words[i])
		}
	}
	return s
}
