package usdt

import (
	"fmt"
	"strconv"
	"strings"
)

// Operands of static probes on arm64: 8@[sp, 16].

// arm64 reads an operand as the assembler writes it:
//
//	5  #5  x0  w0  [sp]  [sp, 16]  [x0, x1]  [x0, x1, lsl 3]  [x0, w1, sxtw 2]  [x0, #:lo12:name]  d0
func (p parser) arm64(op *Operand, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("it is empty")
	case text[0] == '[':
		if !strings.HasSuffix(text, "]") {
			return fmt.Errorf("%q lacks its ]", text)
		}
		return p.arm64Memory(op, strings.Split(text[1:len(text)-1], ","))
	}
	if value, ok := arm64Number(text); ok {
		op.Kind, op.Const = Constant, value
		return nil
	}
	if text == "xzr" || text == "wzr" {
		op.Kind = Constant
		return nil
	}
	if r, ok := arm64Register(text); ok {
		op.Kind, op.Register = InRegister, r
		return nil
	}
	if isVector(text) {
		op.Kind, op.Register, op.Float = InVector, Register{Name: text, Bytes: 8}, true
		op.Problem = text + " is a vector register, which the kernel does not show to probes"
		return nil
	}
	disp, symbol, err := p.expression(text)
	if err != nil {
		return err
	}
	return p.relative(op, "pc", symbol, disp)
}

func arm64Number(text string) (int64, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "#")
	digits, minus := strings.CutPrefix(text, "-")
	n, ok := parseNumber(digits)
	if minus {
		n = -n
	}
	return n, ok
}

// arm64Memory reads the parts of [base], [base, disp], [base, index] and
// [base, index, extension shift].
func (p parser) arm64Memory(op *Operand, parts []string) error {
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	base, ok := arm64Register(parts[0])
	if !ok || base.Bytes != 8 {
		return fmt.Errorf("%q is no register for an address", parts[0])
	}
	op.Kind, op.Register = InMemory, base
	if len(parts) == 1 {
		return nil
	}
	if len(parts) > 3 {
		return fmt.Errorf("it has %d parts, want base, index, shift", len(parts))
	}
	if disp, ok := arm64Number(parts[1]); ok && len(parts) == 2 {
		op.Disp = disp
		return nil
	}
	if _, symbol, ok := strings.Cut(parts[1], ":lo12:"); ok && len(parts) == 2 {
		disp, name, err := p.expression(symbol)
		if err != nil {
			return err
		}
		// The register has the symbol's page; the whole address is known.
		return p.relative(op, "pc", name, disp)
	}
	if op.Index, ok = arm64Register(parts[1]); !ok {
		return fmt.Errorf("%q is no number and no register", parts[1])
	}
	op.Scale = 1
	if len(parts) == 3 {
		return op.extend(strings.Fields(parts[2]))
	}
	return nil
}

// extend reads `lsl 3`, `uxtw`, `sxtw 2`: how the index becomes a number of 64
// bits, and by how much it is shifted.
func (op *Operand) extend(words []string) error {
	if len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("the index has %d words of shift, want lsl, uxtw or sxtw, and a number", len(words))
	}
	switch words[0] {
	case "lsl", "uxtw", "uxtx", "sxtx":
	case "sxtw":
		op.Index.Signed = true
	default:
		return fmt.Errorf("%q is no extension of an index: lsl, uxtw and sxtw are", words[0])
	}
	if len(words) == 1 {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(words[1], "#"))
	if err != nil || n < 0 || n > 4 {
		return fmt.Errorf("the index is shifted by %q, want 0 to 4", words[1])
	}
	op.Scale = 1 << n
	return nil
}

// arm64Register gives a register by the name of all of it or of its lower half.
func arm64Register(name string) (Register, bool) {
	switch name {
	case "sp":
		return Register{Name: "sp", Bytes: 8}, true
	case "wsp":
		return Register{Name: "sp", Bytes: 4}, true
	case "lr":
		return Register{Name: "x30", Bytes: 8}, true
	case "fp":
		return Register{Name: "x29", Bytes: 8}, true
	}
	if len(name) < 2 || name[0] != 'x' && name[0] != 'w' || !isIndex(name[1:], 30) {
		return Register{}, false
	}
	bytes := 8
	if name[0] == 'w' {
		bytes = 4
	}
	return Register{Name: "x" + name[1:], Bytes: bytes}, true
}

func isVector(name string) bool {
	return len(name) > 1 && strings.IndexByte("bhsdqv", name[0]) >= 0 && isIndex(name[1:], 31)
}

// isIndex takes numbers as registers have them: no sign, no 0 in front.
func isIndex(text string, most int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0 && n <= most && strconv.Itoa(n) == text
}
