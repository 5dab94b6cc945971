package location

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// frameOfTest has a frame base of bp + 16, which is the canonical frame address, and two types.
func frameOfTest() Frame {
	base := func() (*Expr, bool) { r, ok := InRegister("amd64", 6); return Plus(r, 16), ok }
	return Frame{Arch: "amd64", Base: base, CFA: base,
		Thread:  func(offset uint64) (int64, bool) { return int64(offset) - 100, offset < 100 },
		Address: func(i uint64) (uint64, bool) { return 0x4000 + 8*i, i < 4 },
		Type: func(offset uint64) (Base, bool) {
			b, ok := map[uint64]Base{4: {4, false, false}, 5: {4, true, false}, 8: {8, true, false},
				9: {8, false, true}, 2: {2, false, false}}[offset]
			return b, ok
		}}
}

// What expressions of compilers come to.
//
// > What only a computation that the kernel cannot do would give is FAULT, too.
// > A debugger may know it all the same, from the caller.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		expression []byte
		want       string
	}{
		{nil, "nowhere"},
		{[]byte{0x50}, "ax"},
		{[]byte{0x61}, "unreadable"},             // xmm0
		{[]byte{0x90, 17}, "unreadable"},         // the same, DW_OP_regx
		{[]byte{0x91, 0x68}, "memory (bp + -8)"}, // DW_OP_fbreg -24
		{[]byte{0x9c, 0x06}, "memory load64((bp + 16))"},
		{[]byte{0x77, 8, 0x06, 0x23, 16}, "memory (load64((sp + 8)) + 16)"},
		{[]byte{0x75, 0, 0x9f}, "di"},
		{[]byte{0x33, 0x9f}, "3"},
		{[]byte{0x03, 1, 2, 0, 0, 0, 0, 0, 0}, "memory static 0x201"},
		{[]byte{0xa1, 1}, "memory static 0x4008"},
		{[]byte{0xa1, 9}, "unreadable"},
		{[]byte{0x55, 0x93, 8, 0x54, 0x93, 8}, "0+8: di, 8+8: si"},
		{[]byte{0x55, 0x93, 8, 0x93, 8}, "0+8: di, 8+8: nowhere"},
		{[]byte{0x55, 0x93, 4}, "0+4: di"},
		{[]byte{0x9e, 2, 7, 1}, "263"},
		{[]byte{0xa3, 1, 0x55, 0x9f}, "nowhere"},          // DW_OP_entry_value
		{[]byte{0xf2, 0, 0, 0, 0, 0}, "nowhere"},          // DW_OP_GNU_implicit_pointer
		{[]byte{0x75, 0, 0x34, 0x1b, 0x9f}, "(di / 4)"},   // DW_OP_div by a constant
		{[]byte{0x75, 0, 0x30, 0x1b, 0x9f}, "unreadable"}, // by 0
		{[]byte{0x75, 0, 0x74, 0, 0x1b, 0x9f}, "unreadable"},
		{[]byte{0x75, 0, 0xa8, 4, 0xa8, 8, 0x9f}, "u32(di)"},
		{[]byte{0x75, 0, 0xa8, 5, 0x9f}, "s32(di)"},
		{[]byte{0x75, 0, 0xa8, 9, 0x9f}, "unreadable"},                // as a double
		{[]byte{0x75, 0, 0xa8, 4, 0x74, 0, 0x22, 0x9f}, "unreadable"}, // of two types
		{[]byte{0x28, 1, 0}, "unreadable"},                            // DW_OP_bra of nothing
		// di < 8 ? di : 8, as gcc has it: dup, lit8, lt, bra, drop, lit8
		{[]byte{0x75, 0, 0x12, 0x38, 0x2d, 0x28, 2, 0, 0x13, 0x38, 0x9f}, "((di < 8) ? di : 8)"},
		{[]byte{0x75, 0, 0x28, 5, 0, 0x74, 0, 0x2f, 2, 0, 0x72, 0, 0x9f}, "(di ? cx : si)"},
		{[]byte{0x75, 0, 0x28, 5, 0, 0x74, 0, 0x2f, 2, 0, 0x74, 0, 0x9f}, "si"},
		{[]byte{0x31, 0x28, 1, 0, 0x32, 0x33, 0x9f}, "3"},                 // by a constant
		{[]byte{0x75, 0, 0x28, 0xfd, 0xff}, "unreadable"},                 // back
		{[]byte{0x2f, 0xfd, 0xff}, "unreadable"},                          // the same, DW_OP_skip
		{[]byte{0x75, 0, 0x28, 9, 0, 0x9f}, "unreadable"},                 // behind the end
		{[]byte{0x31, 0x75, 0, 0x28, 1, 0, 0x06, 0x9f}, "unreadable"},     // reads in one way only
		{[]byte{0x75, 0, 0x28, 2, 0, 0x50, 0x9f, 0x51}, "unreadable"},     // a value and a place
		{[]byte{0x75, 0, 0x19, 0x9f}, "unreadable"},                       // DW_OP_abs
		{[]byte{0x75, 0, 0x38, 0x1d, 0x9f}, "(di & 7)"},                   // DW_OP_mod, without a sign
		{[]byte{0x75, 0, 0xa8, 8, 0x19, 0x9f}, "((di < 0) ? -(di) : di)"}, // DW_OP_abs of a type
		{[]byte{0x75, 0, 0x37, 0x1d, 0x9f}, "unreadable"},
		{[]byte{0x75, 0, 0xa8, 5, 0x37, 0xa8, 5, 0x1d, 0x9f}, "s32((s32(di) - ((s32(di) / 7) * 7)))"},
		{[]byte{0x22}, "unreadable"}, // of nothing
		{[]byte{0x9b}, "unreadable"}, // DW_OP_form_tls_address of nothing
		{[]byte{0x08, 8, 0x9b}, "memory (thread + -92)"},
		{[]byte{0x08, 8, 0xe0}, "memory (thread + -92)"}, // DW_OP_GNU_push_tls_address
		{[]byte{0x08, 101, 0x9b}, "unreadable"},
	} {
		if got := Of(c.expression, frameOfTest()).String(); got != c.want {
			t.Errorf("% x: %s, want %s", c.expression, got, c.want)
		}
	}
}

// Framed finds what is computed of the frame, and not of what lies in it.
func TestFramed(t *testing.T) {
	for _, c := range []struct {
		expression []byte
		address    bool
	}{
		{[]byte{0x77, 8, 0x08, 32, 0x25, 0x9f}, true},        // (sp + 8) >>> 32
		{[]byte{0x91, 0, 0x9f}, true},                        // &variable
		{[]byte{0x77, 8, 0x06, 0x08, 32, 0x25, 0x9f}, false}, // load(sp + 8) >>> 32
		{[]byte{0x75, 8, 0x9f}, false},
		{[]byte{0x57}, false},
	} {
		p := Of(c.expression, frameOfTest()).Framed("sp", "bp")
		if p.Address != c.address {
			t.Errorf("% x: %v %v", c.expression, p, p.Address)
		}
	}
}

// A tree gives what a stack machine computes that runs the expression, whatever the registers and the memory have.
func TestRandomExpressions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	computed := 0
	for range 50000 {
		expression, m := randomExpression(rng)
		p := Of(expression, frameOfTest())
		if p.Kind != Held {
			continue
		}
		computed++
		if got, want := m.tree(p.Value), m.stack[len(m.stack)-1]; got != want {
			t.Fatalf("% x: %v is %d, want %d", expression, p, got, want)
		}
	}
	if computed < 40000 {
		t.Errorf("%d expressions were computed", computed)
	}
}

// A reference computes with registers and memory that are made of their names and addresses.
type reference struct{ stack []int64 }

func registerOf(name string) int64 { return int64(len(name))*0x123456789abcd - int64(name[0])<<57 }

func memoryAt(addr int64, size int) int64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(addr)*0x9e3779b97f4a7c15)
	for i := size; i < 8; i++ {
		b[i] = 0
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

func truth(b bool) int64 { return int64(b2i(b)) }

var binaries = map[byte]func(x, y int64) int64{
	0x1a: func(x, y int64) int64 { return x & y },
	0x1c: func(x, y int64) int64 { return x - y },
	0x1e: func(x, y int64) int64 { return x * y },
	0x21: func(x, y int64) int64 { return x | y },
	0x22: func(x, y int64) int64 { return x + y },
	0x24: func(x, y int64) int64 { return x << uint64(y) },
	0x25: func(x, y int64) int64 { return int64(uint64(x) >> uint64(y)) },
	0x26: func(x, y int64) int64 { return x >> uint64(y) },
	0x27: func(x, y int64) int64 { return x ^ y },
	0x29: func(x, y int64) int64 { return truth(x == y) },
	0x2a: func(x, y int64) int64 { return truth(x >= y) },
	0x2b: func(x, y int64) int64 { return truth(x > y) },
	0x2c: func(x, y int64) int64 { return truth(x <= y) },
	0x2d: func(x, y int64) int64 { return truth(x < y) },
	0x2e: func(x, y int64) int64 { return truth(x != y) },
}

func randomExpression(rng *rand.Rand) (out []byte, m *reference) {
	m = &reference{}
	push := func(n int64, bytes ...byte) { m.stack, out = append(m.stack, n), append(out, bytes...) }
	pop := func() int64 {
		n := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		return n
	}
	codes := []byte{0x1a, 0x1c, 0x1e, 0x21, 0x22, 0x27, 0x24, 0x25, 0x26, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e}
	for range 3 + rng.IntN(9) {
		switch n := rng.IntN(8); {
		case n < 2 || len(m.stack) == 0:
			r := rng.IntN(16)
			e, _ := InRegister("amd64", uint64(r))
			push(registerOf(e.Name)-3, 0x70+byte(r), 0x7d)
		case n == 2:
			k := byte(rng.IntN(32))
			push(int64(k), 0x30+k)
		case n == 3:
			push(m.stack[len(m.stack)-1], 0x12)
		case n == 4:
			push(memoryAt(pop(), 4), 0x94, 4)
		case n == 5:
			push(-pop(), 0x1f)
		case n == 6:
			push(^pop(), 0x20)
		case len(m.stack) > 1:
			code := codes[rng.IntN(len(codes))]
			if code >= 0x24 && code <= 0x26 { // by a constant: others are for nobody to say
				pop()
				out = append(out, 0x13)
				push(int64(code-0x20), 0x30+code-0x20)
			}
			y, x := pop(), pop()
			push(binaries[code](x, y), code)
		}
	}
	return append(out, 0x9f), m
}

// tree computes a tree.
func (m *reference) tree(e *Expr) int64 {
	args := make([]int64, len(e.Args))
	for i, a := range e.Args {
		args[i] = m.tree(a)
	}
	switch e.Op {
	case Const:
		return e.N
	case Register:
		return registerOf(e.Name)
	case Load:
		return memoryAt(args[0], e.Size)
	case Neg:
		return -args[0]
	case Not:
		return ^args[0]
	case Select:
		if args[0] != 0 {
			return args[1]
		}
		return args[2]
	}
	for code, op := range twoOperands {
		if op == e.Op {
			return binaries[byte(code)](args[0], args[1])
		}
	}
	panic(fmt.Sprint("no such operation: ", e.Op))
}

// Whatever an expression is, it comes to an end and to a place.
func FuzzOf(f *testing.F) {
	f.Add([]byte{0x55, 0x93, 8, 0x54, 0x93, 8})
	f.Add([]byte{0x77, 8, 0x06, 0x23, 16, 0x12, 0x22, 0x9f})
	f.Fuzz(func(t *testing.T, expression []byte) {
		p := Of(expression, frameOfTest()).Framed("sp")
		if (p.Kind == Memory || p.Kind == Held) && p.Value == nil || p.Kind == Split && p.Fragments == nil {
			t.Errorf("% x: %#v", expression, p)
		}
		_ = p.String()
	})
}
