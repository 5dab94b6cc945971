package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// The operations on strings and bytes that docs/language.md and docs/semantics.md have, of the strings e.args.s and
// e.args.t, for both halves. Those of the second list are for user space only.
var (
	textOperations = []string{
		"s", "len(s)", "bool(s)", "not s", "s or t", "s and t", "s if len(s) > 31 else t", "(s, t)",
		"record(s = s, n = len(t))",
		"s == t", "s != t", "s < t", "s <= t", "s > t", "s >= t", "(s, 1) == (t, 1)", "s == FAULT", "FAULT != s",
		"s == None", "FAULT == None",
		"s in (FAULT, None)", "s in (WHOLE, 'a')", "s in CHOICE", "CHOICE.get(s, 3)", "FAULT if s == WHOLE else s",
		"s == WHOLE", "s == WHOLE + 'x'", "s == 'ab\\u00ff'", "s == ''", "s < WHOLE", "s > 'a'", "'' == s",
		"'ab' in s", "'' in s", "'uv' in s", "'x' in s", "'\\u00ff' in s", "'…' in s", "WHOLE in s", "'a' not in s",
		"s.startswith('0')", "s.startswith(WHOLE)", "s.startswith('')", "s.startswith(WHOLE + 'x')",
		"s.endswith('v')", "s.endswith('uv')", "s.endswith('…')", "s.endswith('\\u00ff')", "s.endswith('')",
		"s.endswith(WHOLE)",
		"matches(s, '*')", "matches(s, '0*v')", "matches(s, '*…')", "matches(s, '?')", "matches(s, '[!a]*')",
		"matches(s, '[]a]*')", "matches(s, '{ab,*v}')",
		"matches(s, 'a\\\\*')", "matches(s, '{ab*,\\\\{c}')", "matches(s, WHOLE)", "matches(s, '*[!a-z0-9]*')",
		"matches(s, '{a*,{ab,v}*,}')",
		"min(len(s), len(t))", "(lambda x: x if x == t else FAULT)(s)", "[1, 2].count(3) if False else s",
	}
	userOperations = []string{
		"[s]", "s[3:]", "s[:3]", "s[::2]", "s[-1:]", "s + t", "'<' + s + '>'", "'%s|%s' % (s, t)",
		"'{}-{}'.format(s, t)", "', '.join([s, t, s])", "s.split('/')",
		"s.upper()", "s.strip('v')", "s.replace('a', 'b')", "s.find('v')", "s.index('') ", "s * 2",
		"sorted([s, t, WHOLE])", "{s: 1, t: 2}", "{s: 1}.get(t)",
		"s in [t, WHOLE]", "[c for c in s.elems()][-1:]", "s.partition('b')", "str(s)", "repr(s)", "type(s)", "hash(s)",
		"sprintf('%s %q %x', s, s, s)", "json.encode([s])",
		"list(s.elem_ords())", "s.count('a')", "s == json.decode(json.encode(s))",
	}
	// bytesOperations are those on b, the first bytes of the string s.
	bytesOperations = []string{
		"b == b'0123'", "b == b'abc\\x00'", "b != b'0123'", "len(b)", "b", "(b, 1)", "b == FAULT", "bool(b)",
	}
	// A byte of what cannot be read is FAULT where its place is known when the script is compiled.
	byteOperations      = []string{"b[0]", "b[3]", "b[-1]", "b[1] == 98", "type(b[0])"}
	userBytesOperations = []string{
		"[b]", "list(b)", "list(b.elems())", "[x for x in b]", "b[1:]", "b[::-1]", "b + b'x'", "b * 2", "48 in b",
		"b'12' in b", "b < b'1'", "sorted([b, b'1'])", "{b: 1}.get(b'0123')",
		"str(b)", "type(b)", "bytes([48, 49])[0]", "bytes('01')", "hash(b)", "ord(b[:1])", "json.encode(b)", "'%s' % b",
		"sprintf('%x', b)",
		"sprintf('%q', b)", "[b][0][len(t) % 4]", "[x + 1 for x in b.elems()]", "b'ab'[0]", "max(b)", "tuple(b)",
		"b == bytes('0123')", "b in [b'0123']", "[i for i in range(256) if i in b]",
	}
)

const wholeText = "0123456789abcdefghijklmnopqrstuv" // StrMax bytes

// textInputs pair strings of all classes that have at least so many bytes.
func textInputs(least int) []Input {
	classes := []Text{{S: wholeText}, {S: wholeText + "x"}, {S: wholeText + "yz"}, {S: wholeText[:31]},
		{S: wholeText[:31] + "\xffx"}, {S: ""}, {S: "a"}, {S: "ab"},
		{S: "ab\xff"}, {S: "abÿ"}, {S: "a/b\x01…"}, {S: wholeText[:30] + "…"}, {S: wholeText[:29] + "…"}, {Fault: true}}
	classes = slices.DeleteFunc(classes, func(t Text) bool { return len(t.S) < least && !t.Fault })
	out := Inputs(7, len(classes)*len(classes))
	for i := range out {
		out[i].Leads = true
		out[i].Texts[10], out[i].Texts[11] = classes[i/len(classes)], classes[i%len(classes)]
	}
	return out
}

// textProgram is a function that gives the value of an expression of the strings s and t and of b, the first bytes of
// s. Where a string is FAULT the value is mostly an error, on both sides.
func textProgram(i int, expr string) *Program {
	const text = "%[1]s_D = {%[2]q: 1, 'a': 2}\ndef %[1]s(e):\n    s, t, b = e.args.s, e.args.t, %[3]s\n" +
		"    return %[4]s\n"
	name := fmt.Sprintf("f%d", i)
	expr = strings.NewReplacer("WHOLE", fmt.Sprintf("%q", wholeText), "CHOICE", name+"_D").Replace(expr)
	return &Program{Name: name,
		Text:    fmt.Sprintf(text, name, wholeText, "mem(e.args.u64, 4)", expr),
		RefText: fmt.Sprintf(text, name, wholeText, "e.first", expr)}
}

func programsOf(lists ...[]string) (out []*Program) {
	for _, list := range lists {
		for _, expr := range list {
			out = append(out, textProgram(len(out), expr))
		}
	}
	return out
}

func checkAll(t *testing.T, programs []*Program, inputs []Input, check func(*checker, []*Program)) {
	t.Helper()
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: inputs}
	if testing.Short() { // each string with each other takes half a minute in a guest
		c.inputs = slices.DeleteFunc(slices.Clone(inputs), func(in Input) bool { return in.Number%4 != 0 })
	}
	for batch := range slices.Chunk(programs, perUnit) {
		check(c, batch)
	}
	for _, f := range c.found {
		what, _, _ := strings.Cut(f.detail, ", with ")
		t.Errorf("%s: %s\n%s", f.kind, what, f.program.Script())
	}
}

// TestTextOperations runs each operation on strings in the kernel and in the interpreter.
func TestTextOperations(t *testing.T) {
	checkAll(t, programsOf(textOperations), textInputs(0), (*checker).check)
}

// TestTextOperationsInUserSpace runs them in user space, with what the kernel has read.
func TestTextOperationsInUserSpace(t *testing.T) {
	checkAll(t, programsOf(textOperations, userOperations), textInputs(0), (*checker).checkUser)
}

// TestBytesOperations is about bytes, of strings that have so many.
func TestBytesOperations(t *testing.T) {
	checkAll(t, programsOf(bytesOperations), textInputs(3), (*checker).check)
	checkAll(t, programsOf(bytesOperations, userBytesOperations), textInputs(3), (*checker).checkUser)
	readable := slices.DeleteFunc(textInputs(3), func(in Input) bool { return in.Texts[10].Fault })
	checkAll(t, programsOf(byteOperations[:4]), readable, (*checker).check)
	checkAll(t, programsOf(byteOperations), readable, (*checker).checkUser)
}
