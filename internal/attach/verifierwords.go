package attach

import (
	"regexp"
	"strings"
	"sync"
)

// Sentences of the kernel's verifier and what each means in plain words (`complaints`), a row each.

// A complaint is a sentence of the verifier and what it means, for someone who
// does not know eBPF. The sentences are those of kernel/bpf/verifier.c from 5.10
// to 7.2; names of registers, numbers and kinds of pointers in them vary.
type complaint struct {
	sentence *regexp.Regexp
	words    string
}

// says makes a complaint of a pattern of sentences.
func says(pattern, words string) complaint { return complaint{regexp.MustCompile(pattern), words} }

// complaints are tried in order; the first that matches counts. One that names
// its cause more exactly stands before the general one. They are made when the
// verifier has complained.
var complaints = sync.OnceValue(func() []complaint {
	return []complaint{
		says(`unbounded memory access|min value is negative|with unbounded min value|`+
			`makes .* pointer be out of bounds|variable offset stack access prohibited|variable ctx access|`+
			`invalid unbounded variable-offset|has unknown scalar with mixed signed bounds`,
			"a length or an offset is used that is not known to have a limit"),
		says(`invalid access to (map value|map key|memory|allocated mem|packet)|`+
			`(min|max) value is outside of the allowed memory range`,
			"memory of a table or a buffer could be read or written beyond its end"),
		says(`invalid mem access '\w*_or_null'|pointer arithmetic on \w*_or_null|Possibly NULL pointer passed`,
			"something that may be missing is used before it is known to be there"),
		says(`invalid mem access '\w+'|pointer arithmetic .*prohibited|`+
			`(bitwise operator|tried to (add|subtract)|32-bit pointer arithmetic|pointer comparison) .*prohibited|`+
			`partial copy of pointer|attempt to corrupt spilled pointer`,
			"a number is used as an address, or an address is changed in a way that cannot be checked"),
		says(`combined stack size|call stack of previous frames .* Too large|the call stack of \d+ frames is too deep`,
			"the code needs more stack than a program has"),
		says(`invalid (indirect |variable-offset |zero-sized )*(read from|write to|read|write|access to)?`+
			`\s*(variable )?stack|invalid stack (off|type)`,
			"memory on the stack is used that was not written before, or that lies outside of the stack"),
		says(`!read_ok|frame pointer is read only`,
			"a value is used that was not computed on some way through the code"),
		says(`back-edge from insn|infinite loop detected`,
			"a loop is not known to end"),
		says(`BPF program is too large|sequence of \d+ jumps is too complex|too many subprograms|`+
			`insn .* cannot be patched`,
			"the code has more branches or longer loops than the kernel is willing to follow"),
		says(`GPL-restricted function|GPL compatible`,
			"a function of the kernel is called that only programs under the GPL may call"),
		says(`unknown func|invalid func|program of this type cannot use helper|helper call is not allowed|`+
			`helper call might sleep|calling kernel function .* is not allowed|cannot pass map_type`,
			"a function of the kernel is called that this kernel does not offer to this kind of probe"),
		says(`misaligned (\w+ )?access`,
			"memory is used at an address that is not a multiple of the size of what lies there"),
		says(`invalid bpf_context access|dereference of modified \w+ ptr`,
			"a part of the event is read that this kind of probe does not have"),
		says(`R\d+ type=\S+ expected=|R\d+ is not a known constant|arg#\d+ .*expected|R\d+ must be`,
			"a function of the kernel is called with an argument of the wrong kind"),
		says(`Unreleased reference|would lead to reference leak|leaks addr|[Aa]t program exit the register R0`,
			"an address of the kernel would get out, something that was taken is not given back, "+
				"or the result is not one that is allowed"),
		says(`unknown opcode|uses reserved fields|invalid atomic opcode|unknown insn class`,
			"an instruction is used that this kernel does not know"),
		says(`unreachable insn|jump out of range|last insn is not an exit|invalid (shift|BPF_\w+|bpf_ld_imm64)|`+
			`div by zero|invalid insn idx|jump into the middle`,
			"the instructions themselves are malformed"),
	}
})

// plainWords says in plain words what a sentence of the verifier means. It
// never repeats the sentence.
func plainWords(sentence string) string {
	for _, c := range complaints() {
		if c.sentence.MatchString(sentence) {
			return c.words
		}
	}
	return "it cannot be checked to be safe"
}

// rejection gives the sentence with which the verifier ended: the last that is
// known, because some kernels print states of registers behind it, else the
// last line that is no statistics and no instruction.
func rejection(log string) string {
	last := ""
	all := strings.Split(strings.TrimSpace(log), "\n")
	for i := len(all) - 1; i >= 0; i-- {
		line := strings.TrimSpace(all[i])
		if line == "" || isTrace(line) {
			continue
		}
		for _, c := range complaints() {
			if c.sentence.MatchString(line) {
				return line
			}
		}
		if last == "" {
			last = line
		}
	}
	if last == "" {
		return "no reason given"
	}
	return last
}

// isTrace reports whether a line of the log tells what the verifier did, not
// why it refused.
func isTrace(line string) bool {
	for _, prefix := range []string{"processed ", "insns processed", "verification time", "stack depth", "mark_precise",
		"from ", "; ", "func#", "cur state", "old state"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return insnLine().MatchString(line)
}
