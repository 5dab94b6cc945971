package location

import (
	"fmt"
	"slices"
	"strings"
)

// Place, Expr and Fragment: where a value is, as a tree.

// A Kind says in which way a Place is one.
type Kind uint8

// The kinds of places.
const (
	// Nowhere: the compiler keeps no such value here (it is optimized out).
	Nowhere Kind = iota
	// Unreadable: it is somewhere that programs of the kernel cannot read, as a register for vectors, or its expression
	// does what they cannot do.
	Unreadable
	// Memory: it lies at an address, which Value computes.
	Memory
	// Held: Value computes it. It has no address, as a value in a register.
	Held
	// Split: its parts are in several places.
	Split
)

// A Place is where a value is.
type Place struct {
	// Kind says in which way it is one.
	Kind Kind
	// Value is the address, or the value itself. Of Held it has 64 bits, of which the type says how many mean
	// something.
	Value *Expr
	// Address: Value is computed from the address of the frame itself, and not from what lies in it. So it is the value
	// of a pointer, or none: clang says so of other values where it means what lies there (a value that was spilled).
	Address bool
	// Fragments are those of Split, without gaps, from the first byte on.
	Fragments []Fragment
}

// Framed marks what is computed from the frame, which the registers of some names lead to.
func (p Place) Framed(registers ...string) Place {
	if p.Kind == Held {
		p.Address = computedFrom(p.Value, registers)
	}
	for i := range p.Fragments {
		p.Fragments[i].Place = p.Fragments[i].Framed(registers...)
	}
	return p
}

// computedFrom reports whether a register is a part of a tree, and not only of an address at which it loads. The
// register alone is none.
func computedFrom(e *Expr, registers []string) bool {
	for _, a := range e.Args {
		if e.Op == Load {
			return false
		}
		if a.Op == Register && slices.Contains(registers, a.Name) || computedFrom(a, registers) {
			return true
		}
	}
	return false
}

// A Fragment is a part of a value: Bytes many, from At on.
type Fragment struct {
	At, Bytes int
	Place
}

// An Op is what an Expr does.
type Op uint8

// The operations. All compute with 64 bits and wrap.
const (
	// Const is N.
	Const Op = iota
	// Register is the register Name, as bpf_user_pt_regs_t has it.
	Register
	// Static is the address N of the file, wherever it is loaded.
	Static
	// Load reads Size bytes of the program's memory at Args[0], as a number without a sign.
	Load
	// Extend takes the lowest Size bytes of Args[0], with a sign if Signed.
	Extend
	// The others are of two operands, but Not and Neg.
	Add
	Sub
	Mul
	// Div is of numbers with a sign, towards 0, by a Const greater than 0.
	Div
	And
	Or
	Xor
	Shl
	// Shr brings in zeros from the left, Sar the sign.
	Shr
	Sar
	Neg
	Not
	// The comparisons are of numbers with a sign, and give 1 or 0.
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	// Select is Args[1] where Args[0] is not 0, else Args[2].
	Select
	// Thread is the address by which the thread finds its own variables: the register that the ABI has for it.
	Thread
)

// An Expr is a tree that computes a number of 64 bits.
type Expr struct {
	// Op says what it does, to Args.
	Op   Op
	Args []*Expr
	// N is the number of a Const and the address of a Static, Name the register of a Register. Size is how many bytes a
	// Load and an Extend take, and Signed says whether an Extend keeps the sign.
	N      int64
	Name   string
	Size   int
	Signed bool
}

// LoadAt is the address that a word of the file has, wherever the file is loaded.
func LoadAt(word uint64) *Expr {
	return &Expr{Op: Load, Size: 8, Args: []*Expr{StaticAt(word)}}
}

// StaticAt is an address of the file, wherever the file is loaded.
func StaticAt(address uint64) *Expr { return &Expr{Op: Static, N: int64(address)} }

// constant is a number.
func constant(n int64) *Expr { return &Expr{Op: Const, N: n} }

// Plus is x and a number.
func Plus(x *Expr, n int64) *Expr {
	switch {
	case n == 0:
		return x
	case x.Op == Const || x.Op == Static:
		y := *x
		y.N += n
		return &y
	case x.Op == Add && x.Args[1].Op == Const:
		return Plus(x.Args[0], x.Args[1].N+n)
	}
	return &Expr{Op: Add, Args: []*Expr{x, constant(n)}}
}

// InRegister is the register by its number in DWARF, of an architecture by its GOARCH; false for one that
// bpf_user_pt_regs_t has not.
func InRegister(arch string, number uint64) (*Expr, bool) {
	names := registers[arch]
	if number >= uint64(len(names)) {
		return nil, false
	}
	return &Expr{Op: Register, Name: names[number]}, true
}

// registers are the names by their numbers: System V ABI, AMD64 Supplement, figure 3.36; DWARF for the Arm 64-bit
// Architecture, table 1.
var registers = map[string][]string{
	"amd64": {"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
		"ip"},
	"arm64": {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"},
}

// OfConstant is the place of a variable that is known to have one value: DW_AT_const_value. false: that is none.
func OfConstant(v any) (Place, bool) {
	switch v := v.(type) {
	case int64:
		return Place{Kind: Held, Value: constant(v)}, true
	case string:
		return inBytes(append([]byte(v), 0)), true
	case []byte:
		return inBytes(v), true
	}
	return Place{}, false
}

// String is the place in words, for comparing places.
func (p Place) String() string {
	switch p.Kind {
	case Nowhere:
		return "nowhere"
	case Unreadable:
		return "unreadable"
	case Memory:
		return "memory " + p.Value.String()
	case Held:
		return p.Value.String()
	}
	parts := make([]string, len(p.Fragments))
	for i, x := range p.Fragments {
		parts[i] = fmt.Sprintf("%d+%d: %v", x.At, x.Bytes, x.Place)
	}
	return strings.Join(parts, ", ")
}

// words are the operations in words.
var words = map[Op]string{Add: "+", Sub: "-", Mul: "*", Div: "/", And: "&", Or: "|", Xor: "^", Shl: "<<", Shr: ">>>",
	Sar: ">>", Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}

func (e *Expr) String() string {
	switch e.Op {
	case Const:
		return fmt.Sprint(e.N)
	case Register:
		return e.Name
	case Static:
		return fmt.Sprintf("static %#x", uint64(e.N))
	case Load:
		return fmt.Sprintf("load%d(%v)", 8*e.Size, e.Args[0])
	case Extend:
		return fmt.Sprintf("%c%d(%v)", "us"[b2i(e.Signed)], 8*e.Size, e.Args[0])
	case Neg:
		return fmt.Sprintf("-(%v)", e.Args[0])
	case Not:
		return fmt.Sprintf("~(%v)", e.Args[0])
	case Thread:
		return "thread"
	case Select:
		return fmt.Sprintf("(%v ? %v : %v)", e.Args[0], e.Args[1], e.Args[2])
	}
	return fmt.Sprintf("(%v %s %v)", e.Args[0], words[e.Op], e.Args[1])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
