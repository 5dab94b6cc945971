package usdt

import (
	"fmt"
	"strconv"
	"strings"
)

// Operand: where an argument of a static probe is, parsed, and messages that a size or symbol is not known.

// An Operand says where an argument is.
type Operand struct {
	// Kind says where the value is. It decides which of the fields below count.
	Kind OperandKind
	// Size is that of the value: 1, 2, 4 or 8 bytes.
	Size int
	// Signed: it is a signed int.
	Signed bool
	// Float: it is a floating-point number.
	Float bool

	Const int64 // of Constant: already of that size and sign

	// Of InRegister: the register in struct pt_regs, by the names of
	// internal/kernel, and which of its bits are the argument (Shift is 8 for
	// %ah), of which there may be fewer than Size.
	// Of InMemory: the register whose value the address begins with, "" for none.
	Register Register
	// The address is Register + Index·Scale + Disp; Index is "" for none.
	Index Register
	Scale int
	Disp  int64
	// Symbol is the variable that the argument names, for listings. Its address
	// is relative to the probe's (Register is the instruction pointer), which
	// holds wherever the file is loaded.
	Symbol string

	// Problem says why the argument cannot be read, of Unknown and InVector.
	Problem string
	Text    string // as the note has it
}

// A Register is one, or a part of one.
type Register struct {
	Name  string // as in struct pt_regs
	Bytes int    // how many of it: 1, 2, 4 or 8
	Shift int    // the lowest bit
	// Signed says that a part is, as an index of arm64 with sxtw.
	Signed bool
}

// OperandKind says what an operand is.
type OperandKind uint8

const (
	Unknown    OperandKind = iota // not understood: Text has it, and Problem says why
	Constant                      // Const
	InRegister                    // Register
	InMemory                      // at the address
	InVector                      // in a vector register, which struct pt_regs lacks
)

func (k OperandKind) String() string {
	return [...]string{"unknown", "constant", "register", "memory", "vector"}[k]
}

// maxArgs is more than any macro makes (12).
const maxArgs = 255

// A Program is what the arguments of a probe refer to.
type Program struct {
	// Arch is its architecture, by its GOARCH; "" of one that is not known.
	Arch string
	// Moves: only the process knows its addresses.
	Moves bool
	// Variable gives the address of a symbol.
	Variable func(string) (uint64, bool)
}

// ParseOperands reads the arguments of a probe at an address of its file.
// What cannot be read is of kind Unknown with a reason, so that the other
// arguments can be used.
func ParseOperands(of Program, text string, at uint64) []Operand {
	var out []Operand
	for _, word := range splitOperands(text) {
		if len(out) == maxArgs {
			break
		}
		op, err := parseOperand(of, word, at)
		if err != nil {
			op = Operand{Kind: Unknown, Size: op.Size, Signed: op.Signed, Float: op.Float, Problem: err.Error()}
		}
		op.Text = word
		out = append(out, op)
	}
	return out
}

// splitOperands cuts at blanks that are not within brackets.
func splitOperands(text string) (out []string) {
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || (text[i] == ' ' || text[i] == '\t') && depth <= 0:
			if i > start {
				out = append(out, text[start:i])
			}
			start, depth = i+1, 0
		case text[i] == '(' || text[i] == '[':
			depth++
		case text[i] == ')' || text[i] == ']':
			depth--
		}
	}
	return out
}

type parser struct {
	Program
	at uint64
}

func parseOperand(of Program, text string, at uint64) (Operand, error) {
	op := Operand{}
	rest := text
	if size, place, has := strings.Cut(text, "@"); has && isSize(size) {
		if err := op.setSize(size); err != nil {
			return op, err
		}
		rest = place
	}
	p := parser{of, at}
	var err error
	switch of.Arch {
	case "amd64":
		err = p.amd64(&op, rest)
	case "arm64":
		err = p.arm64(&op, rest)
	default:
		err = fmt.Errorf("arguments of this machine are not known")
	}
	if err != nil {
		return op, err
	}
	if op.Size == 0 { // old notes give none: that of the register, else a word
		if op.Size = 8; op.Kind == InRegister {
			op.Size = op.Register.Bytes
		}
	}
	if op.Kind == Constant {
		op.Const = narrow(op.Const, op.Size, op.Signed)
	}
	return op, nil
}

// isSize tells the size of `-4@…` from a symbol with a version, `var@tpoff`.
func isSize(text string) bool {
	digits := strings.TrimSuffix(strings.TrimPrefix(text, "-"), "f")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// setSize reads 1, 2, 4 or 8, with a - for signed values and an f for floats.
func (op *Operand) setSize(text string) error {
	text, op.Float = strings.CutSuffix(text, "f")
	text, op.Signed = strings.CutPrefix(text, "-")
	switch text {
	case "1", "2", "4", "8":
		op.Size = int(text[0] - '0')
		return nil
	}
	return fmt.Errorf("its size is %s bytes, want 1, 2, 4 or 8", text)
}

func narrow(value int64, size int, signed bool) int64 {
	shift := 64 - 8*size
	if signed {
		return value << shift >> shift
	}
	return int64(uint64(value) << shift >> shift)
}

// expression adds up `8`, `-0x10`, `name`, `name+8`, `-4+name`. At most one
// symbol may be there.
func (p parser) expression(text string) (sum int64, symbol string, err error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, "", fmt.Errorf("a number or symbol is missing")
	}
	for first := true; rest != ""; first = false {
		minus := rest[0] == '-'
		if minus || rest[0] == '+' {
			rest = rest[1:]
		} else if !first {
			return 0, "", fmt.Errorf("%q is no sum", text)
		}
		end := strings.IndexAny(rest, "+-")
		if end < 0 {
			end = len(rest)
		}
		term := strings.TrimSpace(rest[:end])
		rest = rest[end:]
		number, isNumber := parseNumber(term)
		switch {
		case isNumber && minus:
			sum -= number
		case isNumber:
			sum += number
		case term == "" || symbol != "" || minus:
			return 0, "", fmt.Errorf("%q is no sum of a symbol and numbers", text)
		default:
			symbol = term
		}
	}
	return sum, symbol, nil
}

// parseNumber reads what assemblers do: decimal, 0x, octal with a 0 in front,
// up to 64 bits without sign.
func parseNumber(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 0, 64)
	return int64(n), err == nil && !strings.Contains(text, "_")
}

// relative makes an operand the memory at symbol+disp, counted from the probe.
func (p parser) relative(op *Operand, ip, symbol string, disp int64) error {
	addr, err := p.address(symbol)
	if err != nil {
		return err
	}
	op.Kind, op.Symbol = InMemory, symbol
	op.Register, op.Disp = Register{Name: ip, Bytes: 8}, int64(addr-p.at)+disp
	return nil
}

// address is that of a symbol in the file.
func (p parser) address(symbol string) (uint64, error) {
	if p.Variable != nil {
		if addr, ok := p.Variable(symbol); ok {
			return addr, nil
		}
	}
	return 0, fmt.Errorf("the file has no symbol %s, or several: was it stripped?", symbol)
}
