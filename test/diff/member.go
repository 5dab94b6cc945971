package diff

import "encoding/binary"

// The struct that pointers of random programs lead to.

// A Member is a field of the struct that pointers lead to: BTF, the bytes of inputs, the reference and the generator
// all have it from here.
type Member struct {
	// Name is the member's in the struct.
	Name string
	Off  int // in bytes; in a struct within the struct from its beginning
	// Kind is how it lies in memory.
	Kind MemberKind
	Bits int // of an int, of an element
	// Type is that of its value in programs.
	Type Type
	Len  int      // elements of an array, bytes of a char array
	Bit  int      // MemberBits: the first bit behind Off
	In   []Member // MemberStruct
}

// MemberKind is how a member lies in memory.
type MemberKind uint8

// The kinds of members.
const (
	MemberInt MemberKind = iota // or a float
	MemberBits
	MemberBool
	MemberArray  // of ints or floats
	MemberChars  // char[Len]
	MemberText   // char *
	MemberTexts  // char **, two strings and NULL
	MemberPtr    // to the same struct
	MemberStruct // within
)

// NodeSize is the size of the struct.
const NodeSize = 160

// Members are those of the struct node.
var Members = []Member{
	{Name: "s8", Off: 0, Bits: 8, Type: signed},
	{Name: "u8", Off: 1, Bits: 8, Type: unsigned},
	{Name: "s16", Off: 2, Bits: 16, Type: signed},
	{Name: "u32", Off: 4, Bits: 32, Type: unsigned},
	{Name: "s64", Off: 8, Bits: 64, Type: signed},
	{Name: "u64", Off: 16, Bits: 64, Type: unsigned},
	{Name: "flag", Off: 24, Kind: MemberBool, Bits: 8, Type: boolean},
	{Name: "low", Off: 28, Kind: MemberBits, Bits: 3, Bit: 0, Type: unsigned},
	{Name: "mid", Off: 28, Kind: MemberBits, Bits: 7, Bit: 3, Type: signed},
	{Name: "high", Off: 28, Kind: MemberBits, Bits: 22, Bit: 10, Type: unsigned},
	{Name: "wide", Off: 32, Kind: MemberBits, Bits: 41, Bit: 5, Type: unsigned},
	{Name: "sign", Off: 32, Kind: MemberBits, Bits: 18, Bit: 46, Type: signed},
	{Name: "ints", Off: 40, Kind: MemberArray, Bits: 32, Len: 3, Type: signed},
	{Name: "words", Off: 52, Kind: MemberArray, Bits: 16, Len: 2, Type: unsigned},
	{Name: "name", Off: 56, Kind: MemberChars, Len: 8, Type: text},
	{Name: "str", Off: 64, Kind: MemberText, Type: text},
	{Name: "argv", Off: 72, Kind: MemberTexts},
	{Name: "next", Off: 80, Kind: MemberPtr, Type: pointer},
	{Name: "real", Off: 112, Bits: 64, Type: floating},
	{Name: "half", Off: 120, Bits: 32, Type: narrow},
	{Name: "reals", Off: 128, Kind: MemberArray, Bits: 64, Len: 2, Type: floating},
	{Name: "halves", Off: 144, Kind: MemberArray, Bits: 32, Len: 3, Type: narrow},
	{Name: "inner", Off: 88, Kind: MemberStruct, Len: 24, In: []Member{
		{Name: "a", Off: 0, Bits: 32, Type: signed},
		{Name: "b", Off: 8, Bits: 64, Type: unsigned},
		{Name: "also", Off: 8, Bits: 8, Type: signed},    // of a union with b
		{Name: "bits", Off: 8, Bits: 64, Type: floating}, // and another one
		{Name: "link", Off: 16, Kind: MemberPtr, Type: pointer},
	}},
}

// The nodes of an input: the first lie in memory of the kernel, the others in that of the process.
const (
	KernelNodes = 3
	Nodes       = 5
	// Where a pointer leads, besides the number of a node.
	Null    = -1
	Nowhere = -2
)

// A Node is what a pointer leads to.
type Node struct {
	Raw [NodeSize]byte // pointers are put in when it is known where things lie
	// Next is where the pointer to the next struct leads: the number of a node, Null or Nowhere.
	Next int
	Link int // of the inner struct
	// Str is what the char * leads to.
	Str Text
	// Argv are the strings of the char **.
	Argv [2]Text
	Long []Text // instead of Argv
}

// node makes a random one.
func (g *gen) node() Node {
	n := Node{Str: g.text(), Argv: [2]Text{g.text(), g.text()}}
	for i := range n.Argv { // a list with a string that cannot be read is marked as cut
		n.Argv[i].Fault = false
	}
	for i := range n.Raw {
		n.Raw[i] = byte(g.word())
	}
	name := n.Raw[56:64] // often with an end
	if !g.one(4) {
		copy(name, pick(g, texts)+"\x00")
	}
	n.Raw[24] &= 1
	for _, m := range Members {
		for i := range max(1, m.Len) {
			if m.Type.Kind == Float {
				word := binary.NativeEndian.AppendUint64(nil, g.floatWord(m.Bits))
				copy(n.Raw[m.Off+i*m.Bits/8:], word[:m.Bits/8])
			}
		}
	}
	n.Next, n.Link = g.place(Nodes), g.place(Nodes)
	return n
}

// place is where a pointer leads.
func (g *gen) place(nodes int) int {
	switch g.r.IntN(16) {
	case 0, 1:
		return Null
	case 2:
		return Nowhere
	}
	return g.r.IntN(nodes)
}
