package abi

// The registers of amd64 and arm64 by their names and order.

// A Convention is how the functions of an architecture are called.
type Convention struct {
	// Ints and Floats hold arguments, Results and FloatResults what is returned.
	Ints, Floats          []string
	Results, FloatResults []string
	// Address is the register by which the caller says where a result in memory
	// goes; "": it is the first argument.
	Address string
	// Base is where the first argument on the stack lies at the entry, in bytes
	// from the stack pointer: behind the return address, where that is on the stack.
	Base int
	// classify says how a value is passed.
	classify func(*Value) class
	// exhausts: what does not fit into the registers that are left closes them for
	// all that follow (AAPCS64 C.13); else smaller ones may still take them.
	exhausts bool
	// evens: what is aligned to 16 bytes begins in an even register (AAPCS64 C.10).
	evens bool
}

var conventions = map[string]*Convention{
	"amd64": {
		Ints:         []string{"di", "si", "dx", "cx", "r8", "r9"},
		Floats:       []string{"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"},
		Results:      []string{"ax", "dx"},
		FloatResults: []string{"xmm0", "xmm1"},
		Base:         8,
		classify:     classifyAMD64,
	},
	"arm64": {
		Ints:         []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
		Floats:       []string{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"},
		Results:      []string{"x0", "x1"},
		FloatResults: []string{"v0", "v1", "v2", "v3"},
		Address:      "x8",
		classify:     classifyARM64,
		exhausts:     true,
		evens:        true,
	},
}

// Of gives the convention of an architecture by its GOARCH; nil for one that is
// not known.
func Of(arch string) *Convention { return conventions[arch] }

// Word gives the place of the n-th argument of which nothing is known: a word
// among words.
func (c *Convention) Word(n int) Place {
	if n < len(c.Ints) {
		return Place{Where: Register, Name: c.Ints[n], Bytes: 8}
	}
	return Place{Where: Stack, Off: c.Base + 8*(n-len(c.Ints)), Bytes: 8}
}
