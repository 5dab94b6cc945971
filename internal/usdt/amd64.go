package usdt

import (
	"fmt"
	"strconv"
	"strings"
)

// Operands of static probes on amd64: -4@8(%rbp).

// amd64 reads an operand as the assembler writes it (AT&T):
//
//	$5  $-5  %eax  %ah  (%rax)  -8(%rbp)  (%rax,%rbx,4)  8(,%rbx,8)  name+8(%rip)  name  %xmm0
func (p parser) amd64(op *Operand, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("it is empty")
	case text[0] == '$':
		return p.immediate(op, text[1:])
	case strings.Contains(text, ":"):
		return fmt.Errorf("%s is in a segment (thread-local storage), which probes cannot read", text)
	case text[0] == '*': // an indirect target is written so; the place is the same
		return p.amd64(op, text[1:])
	case text[0] == '%':
		return op.setRegister(text[1:])
	}
	if open := strings.IndexByte(text, '('); open >= 0 {
		if !strings.HasSuffix(text, ")") {
			return fmt.Errorf("%q lacks its )", text)
		}
		return p.amd64Memory(op, text[:open], text[open+1:len(text)-1])
	}
	disp, symbol, err := p.expression(text)
	switch {
	case err != nil:
		return err
	case symbol != "":
		return p.relative(op, "ip", symbol, disp)
	}
	// GCC writes a constant without $ for some constraints.
	op.Kind, op.Const = Constant, disp
	return nil
}

func (p parser) immediate(op *Operand, text string) error {
	value, symbol, err := p.expression(text)
	if err != nil {
		return err
	}
	if symbol != "" && p.Moves {
		return fmt.Errorf("$%s is an address that is known only once the file is loaded", text)
	}
	if symbol != "" {
		addr, err := p.address(symbol)
		if err != nil {
			return err
		}
		value += int64(addr)
	}
	op.Kind, op.Const = Constant, value
	return nil
}

func (op *Operand) setRegister(name string) error {
	r, ok := amd64Register(name)
	switch {
	case ok:
		op.Kind, op.Register = InRegister, r
	case strings.HasPrefix(name, "xmm") || strings.HasPrefix(name, "ymm") || strings.HasPrefix(name, "zmm"):
		op.Kind, op.Register, op.Float = InVector, Register{Name: name, Bytes: 8}, true
		op.Problem = "%" + name + " is a vector register, which the kernel does not show to probes"
	case strings.HasPrefix(name, "st"):
		return fmt.Errorf("%%%s is a register of the x87, which the kernel does not show to probes", name)
	default:
		return fmt.Errorf("%%%s is no register of amd64", name)
	}
	return nil
}

// amd64Memory reads disp(base,index,scale).
func (p parser) amd64Memory(op *Operand, before, inside string) error {
	parts := strings.Split(inside, ",")
	if len(parts) > 3 {
		return fmt.Errorf("(%s) has %d parts, want base, index, scale", inside, len(parts))
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	disp, symbol := int64(0), ""
	var err error
	if before != "" {
		if disp, symbol, err = p.expression(before); err != nil {
			return err
		}
	}
	switch counted := len(parts) == 1 && (parts[0] == "%rip" || parts[0] == "%eip"); {
	case symbol != "" && counted:
		return p.relative(op, "ip", symbol, disp)
	case symbol != "" && p.Moves:
		return fmt.Errorf("%s(%s) adds registers to an address that is known only once the file is loaded", before,
			inside)
	case symbol != "":
		addr, err := p.address(symbol)
		if err != nil {
			return err
		}
		op.Symbol, disp = symbol, disp+int64(addr)
	}
	op.Kind, op.Disp = InMemory, disp
	if op.Register, err = addressRegister(parts[0]); err != nil {
		return err
	}
	if op.Register.Name == "ip" {
		op.Disp++ // counted from the next instruction, and the probe is a nop of one byte
	}
	if len(parts) > 1 {
		if op.Index, err = addressRegister(parts[1]); err != nil {
			return err
		}
	}
	return op.setScale(parts)
}

func (op *Operand) setScale(parts []string) error {
	if op.Index.Name != "" {
		op.Scale = 1
	}
	if len(parts) < 3 {
		return nil
	}
	scale, err := strconv.Atoi(parts[2])
	if err != nil || scale != 1 && scale != 2 && scale != 4 && scale != 8 {
		return fmt.Errorf("its scale is %s, want 1, 2, 4 or 8", parts[2])
	}
	if op.Index.Name != "" {
		op.Scale = scale
	}
	return nil
}

func addressRegister(text string) (Register, error) {
	if text == "" {
		return Register{}, nil
	}
	name, ok := strings.CutPrefix(text, "%")
	r, known := amd64Register(name)
	if !ok || !known || r.Bytes < 4 {
		return Register{}, fmt.Errorf("%s is no register for an address", text)
	}
	return r, nil
}

// amd64Register gives a register by the name of a part of it: rax, eax, ax, al,
// ah; r8, r8d, r8w, r8b.
func amd64Register(name string) (Register, bool) {
	if number, ok := strings.CutPrefix(name, "r"); ok && number != "" && number[0] >= '1' && number[0] <= '9' {
		digits := strings.TrimRight(number, "dwbl")
		if n, err := strconv.Atoi(digits); err != nil || n < 8 || n > 15 {
			return Register{}, false
		}
		bytes, ok := map[string]int{"": 8, "d": 4, "w": 2, "b": 1, "l": 1}[number[len(digits):]]
		return Register{Name: "r" + digits, Bytes: bytes}, ok
	}
	r, ok := amd64Names[name]
	return r, ok
}

var amd64Names = makeAMD64Names()

func makeAMD64Names() map[string]Register {
	names := map[string]Register{"rip": {Name: "ip", Bytes: 8}, "eip": {Name: "ip", Bytes: 4}}
	for _, r := range []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"} {
		names["r"+r] = Register{Name: r, Bytes: 8}
		names["e"+r] = Register{Name: r, Bytes: 4}
		names[r] = Register{Name: r, Bytes: 2}
		low := strings.TrimSuffix(r, "x") + "l" // al; sil
		names[low] = Register{Name: r, Bytes: 1}
		if r[1] == 'x' {
			names[r[:1]+"h"] = Register{Name: r, Bytes: 1, Shift: 8}
		}
	}
	return names
}
