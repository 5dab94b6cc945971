package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// list are the strings behind the char ** of a node.
func (n *Node) list() []Text {
	if n.Long != nil {
		return n.Long
	}
	return n.Argv[:]
}

// What docs/semantics.md says of lists of strings.
const (
	mostStrings = 128
	listBytes   = 1024
)

// listOf is a list of strings as scripts see it: two bytes more for each count.
func listOf(texts []Text) starlark.Value {
	out, room := starlark.Tuple{}, listBytes
	for i, t := range texts {
		need := 2
		if !t.Fault {
			need += len(t.S)
		}
		switch {
		case i == mostStrings || room == 0, need > room && !t.Fault && room < 2:
			return value.CutTuple(out)
		case t.Fault:
			if out = append(out, value.FAULT); need > room {
				return value.CutTuple(out)
			}
		case need > room:
			return append(out, value.Cut([]byte(t.S[:room-1])))
		default:
			out = append(out, starlark.String(t.S))
		}
		room -= need
	}
	return out
}

// joinOf is a list as one text: one byte more for each counts.
func joinOf(texts []Text) starlark.Value {
	var parts []string
	for _, t := range texts[:min(mostStrings, len(texts))] {
		if t.Fault {
			t.S = "<fault>"
		}
		parts = append(parts, t.S)
	}
	all := strings.Join(parts, " ")
	if len(all) >= listBytes {
		return value.Cut([]byte(all[:listBytes-1]))
	}
	if len(texts) > mostStrings {
		return value.Cut([]byte(all))
	}
	return starlark.String(all)
}

// listInputs have lists of all kinds: empty, at each limit and beyond it, with strings that cannot be read or are no
// UTF-8.
func listInputs(seed uint64) []Input {
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x115))}
	sized := func(n int) Text { return Text{S: strings.Repeat("x", n)} }
	lists := [][]Text{{}, {{}}, {{Fault: true}}, {{Fault: true}, {S: "a"}}, {{S: "a"}, {Fault: true}},
		{{S: "ab\xff"}, {S: "\x80"}, {S: "é"}}, slices.Repeat([]Text{{}}, 128), slices.Repeat([]Text{{}}, 129),
		slices.Repeat([]Text{{S: "abcdef"}}, 127), slices.Repeat([]Text{{S: "abcdef"}}, 128),
		slices.Repeat([]Text{{Fault: true}}, 128), {sized(500), sized(519), {S: "é"}}}
	for n := 1020; n <= 1026; n++ {
		lists = append(lists, []Text{sized(n)}, []Text{sized(n - 4), {S: "é"}, {}}, []Text{sized(n - 2), {Fault: true}})
	}
	for range 20 {
		var list []Text
		for range g.r.IntN(12) {
			t := g.text()
			if g.one(4) {
				t = sized(g.r.IntN(500))
			}
			list = append(list, t)
		}
		lists = append(lists, append(list, []Text{}...))
	}
	out := Inputs(seed, len(lists))
	for i := range out {
		out[i].P, out[i].Nodes[0].Long = 0, append([]Text{}, lists[i]...)
		for j := range out[i].Nodes { // room for the list
			out[i].Nodes[j].Str = Text{}
			out[i].Nodes[j].Argv = [2]Text{}
		}
	}
	return out
}

// LIST and JOINED stand for the list and its text.
var (
	listOperations = []string{
		"JOINED", "len(JOINED)", "JOINED == 'a'", "JOINED.endswith('é')", "'<fault>' in JOINED", "JOINED < 'b'",
		"(JOINED, 1)", "LIST", "(LIST, 1)", "record(l = LIST, n = 2)", "matches(JOINED, '*x*')", "bool(JOINED)",
	}
	userListOperations = []string{
		"[LIST]", "len(LIST)", "LIST[-1:]", "LIST[:1]", "[x for x in LIST if x == FAULT]", "'a' in LIST",
		"FAULT in LIST",
		"[len(x) for x in LIST if x != FAULT]", "[type(x) for x in LIST]", "sprintf('%v|%s', LIST, JOINED)",
		"json.encode(list(LIST))", "'%s' % (LIST,)", "str(LIST)", "{JOINED: 1}", "JOINED.split(' ')", "bool(LIST)",
		"LIST == tuple(list(LIST))", "hash(JOINED)", "[x for x in LIST][::-1]",
		"max([0] + [len(x) for x in LIST if x != FAULT])",
	}
)

func listProgram(i int, expr string) *Program {
	const text = "def %s(e):\n    return %s\n"
	name := fmt.Sprintf("f%d", i)
	with := func(list, joined string) string {
		return fmt.Sprintf(text, name, strings.NewReplacer("LIST", list, "JOINED", joined).Replace(expr))
	}
	return &Program{Name: name, Text: with("e.args.p.argv", `" ".join(e.args.p.argv)`),
		RefText: with("e.list", "e.joined")}
}

func listPrograms(lists ...[]string) (out []*Program) {
	for _, expr := range slices.Concat(lists...) {
		out = append(out, listProgram(len(out), expr))
	}
	return out
}

// TestLists runs what can be done with the strings of a char ** in the kernel and in user space.
//
// > A string of a `char **` that cannot be read is FAULT: `("sh", <fault>)`.
// > `" ".join(list)` has `<fault>` in the place of such a string.
func TestLists(t *testing.T) {
	checkAll(t, listPrograms(listOperations), listInputs(1), (*checker).check)
	checkAll(t, listPrograms(listOperations), listInputs(1), (*checker).checkPlaced)
	checkAll(t, listPrograms(listOperations, userListOperations), listInputs(2), (*checker).checkUser)
}
