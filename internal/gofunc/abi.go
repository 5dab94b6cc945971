package gofunc

// Where functions of Go have arguments and results, by registers or on the stack.

// An ABI says where arguments and results are, by the names that struct
// pt_regs has for registers. Source: Go's src/cmd/compile/abi-internal.md; it
// is not promised, but has not changed since it came (amd64: 1.17, arm64: 1.18).
type ABI struct {
	// Ints hold arguments and results that are integers and pointers, a word
	// each: a string takes two, a slice three, an interface two. At the entry
	// they are arguments, at a RET results.
	Ints []string
	// Floats are vector registers, which struct pt_regs lacks.
	Floats int
	// G is the register with the current goroutine, Context that with the
	// closure at the entry of one.
	G, Context string
	// Stack is where the first word on the stack lies at the entry and at a RET,
	// from the stack pointer: behind the return address that amd64 pushes, and
	// behind the word that callers on arm64 keep free for the link register.
	Stack int
}

// RegisterABI gives the ABI of code of 1.17 (arm64: 1.18) and later by its
// GOARCH; nil for one that is not known.
func RegisterABI(arch string) *ABI {
	switch arch {
	case "amd64":
		return &ABI{
			Ints:   []string{"ax", "bx", "cx", "di", "si", "r8", "r9", "r10", "r11"},
			Floats: 15, G: "r14", Context: "dx", Stack: 8,
		}
	case "arm64":
		return &ABI{
			Ints: []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
				"x14", "x15"},
			Floats: 16, G: "x28", Context: "x26", Stack: 8,
		}
	}
	return nil
}

// StackABI gives the ABI of code before, and of assembly (ABI0): arguments and
// then results on the stack, each at a multiple of its size.
func StackABI(arch string) *ABI {
	abi := RegisterABI(arch)
	if abi == nil {
		return nil
	}
	abi.Ints, abi.Floats = nil, 0
	if arch == "amd64" {
		abi.G = "" // in the thread's storage
	}
	return abi
}

// A Place is where a word is: in a register, or on the stack.
type Place struct {
	Register string // "" on the stack
	Offset   int    // from the stack pointer
}

// Argument gives the place of word n at the entry. Words that do not fit into
// registers follow each other on the stack; a value of several words goes
// there whole, which positions alone cannot tell.
func (a *ABI) Argument(n int) Place {
	if n < len(a.Ints) {
		return Place{Register: a.Ints[n]}
	}
	return Place{Offset: a.Stack + 8*(n-len(a.Ints))}
}

// Result gives the place of word n of the results at a RET; on the stack they
// stand behind the arguments, which have words words in all.
func (a *ABI) Result(n, words int) Place {
	if n < len(a.Ints) {
		return Place{Register: a.Ints[n]}
	}
	return Place{Offset: a.Stack + 8*(max(0, words-len(a.Ints))+n-len(a.Ints))}
}
