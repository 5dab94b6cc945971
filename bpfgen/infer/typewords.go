package infer

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// Types in the words of messages; the message that the text of a label or name is made in user space; types of keys and
// stored values.

// inWords names a type as scripts know it: widths and room are the compiler's
// affair.
func inWords(t types.Type) string {
	switch {
	case t.Kind == types.Stack && t.Label != "":
		return viewInWords(t.Label)
	case t.Label != "":
		return labelInWords(t.Label)
	}
	switch t.Kind {
	case types.Int:
		return "an int"
	case types.Float:
		if t.Bits == 32 { // two of the same width never clash
			return "a float of 32 bits"
		}
		return "a float"
	case types.Bool:
		return "a bool"
	case types.Str:
		return "a string"
	case types.Bytes:
		return "bytes"
	case types.Ptr:
		return "a pointer"
	case types.None:
		return "None"
	case types.Stack:
		return "a stack"
	case types.Tuple:
		return "a tuple of " + listed(t.Elems)
	case types.Record:
		return "a record of " + strings.Join(t.Names, ", ")
	}
	return t.String()
}

// apartInWords names two types that differ, records of the same names with what these are.
func apartInWords(t, other types.Type) (string, string) {
	is, was := inWords(t), inWords(other)
	if is == was {
		return inDetail(t), inDetail(other)
	}
	return is, was
}

// inDetail is inWords, with the types of what is in records.
func inDetail(t types.Type) string {
	if t.Kind != types.Tuple && t.Kind != types.Record {
		return inWords(t)
	}
	parts := make([]string, len(t.Elems))
	for i, e := range t.Elems {
		if parts[i] = inDetail(e); t.Kind == types.Record {
			parts[i] = t.Names[i] + " (" + parts[i] + ")"
		}
	}
	if t.Kind == types.Record {
		return "a record of " + strings.Join(parts, ", ")
	}
	return "a tuple of " + strings.Join(parts, ", ")
}

// inSize is inWords with how large a value is, and what it may be instead: two types of the same words differ in these.
func inSize(t types.Type) string {
	out := inWords(t)
	switch {
	case len(t.Elems) > 0:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = inSize(e)
		}
		out = "(" + strings.Join(parts, ", ") + ")"
	case t.Label != "":
	case t.Kind == types.Int:
		sign := "without a sign"
		if t.Signed {
			sign = "with a sign"
		}
		out = fmt.Sprintf("an int of %d bits %s", t.Bits, sign)
	case t.Kind == types.Str:
		out = fmt.Sprintf("a string with room for %d bytes", t.Cap)
	}
	if t.MayNone {
		out += " or None"
	}
	if t.MayFault {
		out += " or FAULT"
	}
	return out
}

// isTextual reports whether scripts see a text of values of type t.
func isTextual(t types.Type) bool {
	switch t.Kind {
	case types.Str:
		return true
	case types.Int:
		return t.Label != ""
	case types.Bytes:
		return t.Label != "" && t.Label != "strlist" && !strings.HasPrefix(t.Label, wire.LabelInts)
	case types.Stack:
		part, _, _ := strings.Cut(t.Label, ":")
		return part == "frame.name" || part == "frame.module" || part == "frame.file"
	}
	return false
}

// labelInWords names what readers see of a value with a label.
func labelInWords(label string) string {
	name, of, _ := strings.Cut(label, ":")
	switch name = strings.TrimRight(name, "46"); name {
	case "strlist":
		return "a list of strings"
	case strings.TrimSuffix(wire.LabelInts, ":"):
		return "an array of ints"
	case "name":
		return "the name of a function or point"
	case "syscall_name":
		return "the name of a system call"
	case "func":
		return "e.func"
	case "point", "syscall_point":
		return "e.probe"
	case "names", "strftime":
		if strings.HasPrefix(of, "#") { // kernel.EnumNumber
			return "what names(…) gives by the enum that its type is"
		}
		return fmt.Sprintf("what %s(…) gives by %q", name, of)
	}
	return "what " + name + "(…) gives"
}

func listed(elems []types.Type) string {
	if len(elems) == 0 {
		return "nothing"
	}
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = inWords(e)
	}
	return strings.Join(out, ", ")
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// notLabelled refuses what the text of a label would be needed for.
func notLabelled(t types.Type, pos plan.Pos) {
	notView(t, pos)
	if t.IsName() {
		refuse(pos, "the text of a name is made in user space: a kernel half can store and send it, compare it with a "+
			"constant, and ask in, startswith and endswith of it")
	}
	if t.Kind == types.Int && t.Label != "" {
		refuse(pos, "the text of %s(…) is made in user space: a kernel half can store and send it; "+
			"compute and compare with the number", labelName(t))
	}
}

// notView refuses what the value of a view would be needed for.
func notView(t types.Type, pos plan.Pos) {
	if t.Kind == types.Stack && t.Label != "" {
		refuse(pos, "%s is known in user space: a kernel half can store and send it, and count by it", inWords(t))
	}
}

// viewInWords is a view as messages call it.
func viewInWords(label string) string {
	var n int
	if name, rest, ok := strings.Cut(strings.TrimPrefix(label, "frame."), ":"); ok {
		n, _ = strconv.Atoi(rest)
		if name == "frame" {
			return fmt.Sprintf("frame %d of a stack", n)
		}
		return fmt.Sprintf("the %s of frame %d of a stack", name, n)
	}
	return "the length of a stack"
}

// sameText refuses to compare bytes that readers see as text, or as the strings of a list, with other values.
func sameText(x, y types.Type, pos plan.Pos) {
	for _, t := range []types.Type{x, y} {
		switch {
		case t.Kind != types.Bytes || t.Label == "" || x.Label == y.Label:
		case t.Label == "strlist":
			refuse(pos, "the strings of a list are compared in user space: a kernel half compares "+
				`" ".join(list), or sends the list`)
		case strings.HasPrefix(t.Label, wire.LabelInts):
			refuse(pos, "an array whose length each event says is compared in user space: a kernel half takes its "+
				"elements, a[0], a[1] …")
		default:
			refuse(pos, "the text of %s(…) is made in user space: a kernel half can store and send it; "+
				"compare with bytes, mem(…)", labelName(t))
		}
	}
}

func labelName(t types.Type) string {
	name, _, _ := strings.Cut(t.Label, ":")
	return strings.TrimRight(name, "46")
}

// oneName reports whether different numbers have different texts.
func oneName(t types.Type) bool {
	name := labelName(t)
	return strings.HasPrefix(name, "syscall_") || name == "func" || name == "point" || name == "name"
}

func isSyscallLabel(label string) bool { return strings.HasPrefix(label, "syscall_") }

// literals is the type of e with its constant strings marked: where names come
// to them, they are names.
func literals(e *tree.Expr) types.Type {
	t := e.Type
	switch e.Op {
	case tree.OpConst:
		t.Literal = t.Kind == types.Str
	case tree.OpTuple, tree.OpRecord:
		t.Elems = make([]types.Type, len(e.Args))
		for i, a := range e.Args {
			t.Elems[i] = literals(a)
		}
	}
	return t
}

// unmarked is t without these marks.
func unmarked(t types.Type) types.Type {
	t.Literal = false
	return ofElems(t, unmarked)
}

// ofElems is t with f of its elements, if it has any.
func ofElems(t types.Type, f func(types.Type) types.Type) types.Type {
	if len(t.Elems) == 0 {
		return t
	}
	elems := make([]types.Type, len(t.Elems))
	for i, e := range t.Elems {
		elems[i] = f(e)
	}
	t.Elems = elems
	return t
}

// stored is the type in which a table keeps values of type t: ints with 64
// bits, so that updates can be atomic.
func stored(t types.Type) types.Type {
	t = t.Kept()
	switch t.Kind {
	case types.Int:
		t.Bits = 64
	case types.Str:
		t.Cap = (t.Cap + 7) &^ 7
	}
	t.Trusted = false
	return t
}

func storedAll(t types.Type) types.Type {
	t = stored(t)
	return ofElems(t, storedAll)
}

// roomy is t with room for any string of at most most bytes: who writes the values is user space.
func roomy(t types.Type, most int) types.Type {
	switch t.Kind {
	case types.Str:
		t.Cap = max(t.Cap, stored(types.StrOf(most+1)).Cap)
	case types.Bytes:
		t.Cap = max(t.Cap, most)
	}
	return t
}

// roomyConstants is t with room for any string where it has constants alone.
func roomyConstants(t types.Type, most int) types.Type {
	if t.Constant {
		t = roomy(t, most)
	}
	return ofElems(t, func(t types.Type) types.Type { return roomyConstants(t, most) })
}

// keyType is the type in which a key is kept: an int constant must not
// decide the width.
func keyType(t types.Type) types.Type {
	t = t.Kept()
	t.Trusted = false
	if t.Kind == types.Str {
		t.Cap = (t.Cap + 7) &^ 7
	}
	return ofElems(t, keyType)
}

// wholeInts is the type of a table's key: its ints have 64 bits, as those that user code can write. Labels are
// functions of the bits that their numbers have.
func wholeInts(t types.Type) types.Type {
	if t.Kind == types.Int && t.Label == "" {
		t.Bits = 64
	}
	return ofElems(t, wholeInts)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// inOneRow explains why an element of the kernel's int m[2][3] has no elements.
const inOneRow = ": the kernel's types have an array of several dimensions as one row, so m[i][j] is m[i * columns + j]"

// unknownMembers is said of a pointer to a struct that is only named.
const unknownMembers = "struct %s is only named here, so nobody knows its field %s: cast(\"TYPE\", p) gives the " +
	"pointer a type that is known"
