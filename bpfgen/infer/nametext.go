package infer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The name of a function or a point is a number (name.go) as long as nothing but names and constant strings is beside
// it. Beside other strings, as in n[e.func] and n[e.comm] of one container, it is a text: all names are known when
// programs are made, and a map has them by number. So a name and a string of the same bytes are one key.

// nameTexts makes texts of names.
type nameTexts struct{ u *unit }

// textual is e with the texts of the names that are in it where t has other strings.
func (n nameTexts) textual(e *tree.Expr, t types.Type) *tree.Expr {
	switch {
	case e.Type.IsName() && isOtherText(t):
		return n.textOf(e)
	case !hasNameBeside(e.Type, t) || e.Type.MayNone || e.Type.MayFault:
		return e
	}
	out := &tree.Expr{Op: tree.OpTuple, Type: e.Type, Pos: e.Pos}
	if e.Type.Kind == types.Record {
		out.Op = tree.OpRecord
	}
	out.Type.Elems = slices.Clone(e.Type.Elems)
	for i, elem := range e.Type.Elems {
		part := &tree.Expr{Op: tree.OpElem, Type: elem, Int: int64(i), Args: []*tree.Expr{e}, Pos: e.Pos}
		if e.Op == out.Op {
			part = e.Args[i]
		}
		out.Args = append(out.Args, n.textual(part, t.Elems[i]))
		out.Type.Elems[i] = out.Args[i].Type
	}
	return out
}

// hasNameBeside reports whether t, a tuple or a record, has a name where other has another string.
func hasNameBeside(t, other types.Type) bool {
	if t.Kind != other.Kind || len(t.Elems) != len(other.Elems) {
		return false
	}
	for i, e := range t.Elems {
		if e.IsName() && isOtherText(other.Elems[i]) || hasNameBeside(e, other.Elems[i]) {
			return true
		}
	}
	return false
}

// withTexts is the type of a container so far with strings where it has names and t, the type of a use, other strings.
// Room for the names comes in the next round, in which those who have them give their texts.
func withTexts(have, t types.Type) types.Type {
	if have.IsName() && isOtherText(t) {
		text := types.StrOf(1)
		text.MayNone, text.MayFault = have.MayNone, have.MayFault
		return text
	}
	if !hasNameBeside(have, t) {
		return have
	}
	elems := slices.Clone(have.Elems)
	for i := range elems {
		elems[i] = withTexts(elems[i], t.Elems[i])
	}
	have.Elems = elems
	return have
}

// bothTexts are x and y, with the texts of names where the other one has another string.
func bothTexts(u *unit, x, y *tree.Expr) (_, _ *tree.Expr) {
	n := nameTexts{u}
	return n.textual(x, y.Type), n.textual(y, x.Type)
}

// isOtherText reports whether t is a string that can be something else than one of the constants of the script.
func isOtherText(t types.Type) bool { return t.Kind == types.Str && !t.Literal }

// textOf is the text of a name.
func (n nameTexts) textOf(e *tree.Expr) *tree.Expr {
	if e.Op == tree.OpConst && e.Type.Label == types.Name.Label {
		if text, ok := tree.NameOf(e.Int, n.u.nameTable.list); ok {
			return constExpr(plan.String(text), e.Pos)
		}
	}
	room, nameless := n.roomOf(e)
	return orAbsent(e, e.Pos, func(e *tree.Expr) *tree.Expr {
		t := types.StrOf(min(room, n.u.strMax+1))
		out := &tree.Expr{Op: tree.OpNameText, Type: t, Args: []*tree.Expr{asName(e)}, Pos: e.Pos}
		if nameless {
			out.Int = 1
		}
		return out
	})
}

// roomOf is the room for the texts of the names that e can be, and whether it can be a system call without a name.
func (n nameTexts) roomOf(e *tree.Expr) (room int, nameless bool) {
	longest := 0
	add := func(text string) { longest = max(longest, len(text)) }
	kind, probe, _ := strings.Cut(e.Type.Label, ":")
	if list := n.u.calls[e]; list != nil {
		for _, sc := range list {
			add("syscall:" + sc.Name)
		}
		return longest + 1, false
	}
	if id, err := strconv.Atoi(probe); err == nil && len(n.u.res.Tree.Points[id]) > 0 {
		for _, p := range n.u.res.Tree.Points[id] {
			add(map[string]string{"func": p.Func, "point": p.Name}[kind])
		}
		return longest + 1, false
	}
	for _, name := range kernel.SyscallNames() {
		longest = max(longest, len("syscall:")+len(name))
	}
	if kind == types.Name.Label {
		for _, name := range n.u.nameTable.list {
			add(name)
		}
	}
	return max(longest+1, tree.NamelessRoom), true
}
