package diff

import (
	"fmt"
	"strings"
)

// A random program's static probes with operands of all forms.

// A userForm is how an operand of a static probe says where its argument is.
type userForm uint8

const (
	formNone     userForm = iota
	formRegister          // 4@%eax
	formHigh              // 1@%ah
	formStack             // -2@-6(%rbp), or by the stack pointer
	formVariable          // 8@variable(%rip)
	formIndexed           // -4@16(%rax,%rdx,8)
	formConstant          // 1@$5
	formVector            // 8f@%xmm0
)

var formNames = map[userForm]string{formRegister: "a register", formHigh: "the second byte of a register",
	formStack: "memory on the stack", formVariable: "a variable", formIndexed: "memory with an index",
	formConstant: "a constant", formVector: "a vector register"}

// staticProbe is one whose arguments are found in all ways.
func (g *gen) staticProbe(i int) UserCall {
	c := UserCall{Name: fmt.Sprintf("f%d", i), Static: true}
	for n := range 1 + g.r.IntN(7) {
		p := userPart{from: n, form: formRegister + userForm(g.r.IntN(int(formVector)))}
		p.userType = pick(g, userInts)
		switch {
		case p.form == formHigh:
			p.userType = integer("unsigned short", 1, g.one(2))
		case p.form == formVector:
			p.userType = userType{name: "double", words: []userWord{{8, true, true}}}
		case p.form != formConstant && g.one(4):
			p.userType = userType{name: "char *", words: []userWord{{8, false, false}}, text: true}
		}
		p.constant = int64(g.r.Uint64()) >> (g.r.IntN(63) + 1)
		p.abi = "of a static probe: " + formNames[p.form]
		c.params = append(c.params, p)
	}
	return c
}

// staticBody is the instruction with the note, and what it needs before.
func (c *UserCall) staticBody(b *strings.Builder) string {
	var before, operands, inputs []string
	next := func(constraint, value string) string {
		inputs = append(inputs, fmt.Sprintf("%q(%s)", constraint, value))
		return fmt.Sprint(len(inputs) - 1)
	}
	for i, p := range c.params {
		name, size, sign := fmt.Sprintf("a%d", i), p.words[0].bytes, ""
		if p.words[0].signed {
			sign = "-"
		}
		at := ""
		switch p.form {
		case formRegister:
			at = "%" + map[int]string{1: "b", 2: "w", 4: "k", 8: "q"}[size] + next("q", name)
		case formHigh:
			at = "%h" + next("Q", name)
		case formStack:
			before = append(before, fmt.Sprintf("volatile %s m%d = %s;", p.name, i, name))
			at = "%" + next("m", fmt.Sprintf("m%d", i))
		case formVariable:
			fmt.Fprintf(b, "volatile %s %s_v%d;\n", strings.Replace(p.name, "char *", "long", 1), c.Name, i)
			before = append(before, fmt.Sprintf("%s_v%d = %s%s;", c.Name, i, castOf(p), name))
			at = "%" + next("m", fmt.Sprintf("%s_v%d", c.Name, i))
		case formIndexed:
			before = append(before, fmt.Sprintf("slots[%d] = (long)%s;", 8*i+2, name))
			at = "16(%" + next("r", "slots") + ",%" + next("r", fmt.Sprintf("%dL", 8*i)) + ",8)"
		case formConstant:
			at = fmt.Sprintf("$%d", p.constant)
		case formVector:
			sign, at = "", "%"+next("x", name)
		}
		if p.words[0].float {
			at = fmt.Sprintf("%df@%s", size, at)
		} else {
			at = fmt.Sprintf("%s%d@%s", sign, size, at)
		}
		operands = append(operands, at)
	}
	return fmt.Sprintf("%s\n#ifdef __x86_64__\n\t__asm__ volatile(NOTE(%q, %q) :: %s);\n#endif",
		strings.Join(before, " "), c.Name, strings.Join(operands, " "), strings.Join(inputs, ", "))
}

// castOf makes a long of a string.
func castOf(p userPart) string {
	if p.text {
		return "(long)"
	}
	return ""
}
