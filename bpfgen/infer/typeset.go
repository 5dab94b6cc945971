package infer

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The names that type() can give for a value, so that branches behind a test for another type are not walked.
//
// What type() gives is mostly known when the script is compiled, or at least what it does not give. So of
//
//	if type(x) == "int":
//	    print(x + 1)
//
// the branch is not walked where x is a tuple: there x + 1 would be an error. User space still computes the condition.

// typesOf are the names that type() may give for v in user space, nil where they are not known.
func typesOf(b *body, v val) (names []string) {
	switch {
	case v.c != nil:
		return constTypes(v.c)
	case v.comp && v.isRecord():
		return []string{"record"}
	case v.comp:
		return []string{"tuple"}
	}
	if _, is := v.obj.(*event); is {
		return nil
	}
	m := b.mark()
	var t types.Type
	_, r := b.tries(func() {
		e := b.rv(b.settled(v, plan.Pos{}), plan.Pos{})
		if !isLost(e) {
			t = e.Type
		}
	})
	b.back(m)
	if r != nil {
		return nil
	}
	return typesOfType(t)
}

// constTypes are the names for a constant.
func constTypes(c plan.Value) []string {
	switch c.(type) {
	case plan.None:
		return []string{"NoneType"}
	case *plan.Func:
		return []string{"function"}
	case plan.Builtin:
		return []string{"builtin_function_or_method"}
	}
	if fold.IsFault(c) {
		return []string{"fault"}
	}
	if name := fold.TypeName(c); name != "" {
		return []string{name}
	}
	return nil
}

// typesOfType are the names for what is sent as a value of type t.
func typesOfType(t types.Type) []string {
	var out []string
	switch {
	case t.Label == "strlist", strings.HasPrefix(t.Label, wire.LabelInts):
		out = []string{"tuple", "NoneType", "fault"}
	case t.Label != "", t.Kind == types.Bot:
		return nil
	case t.Kind == types.None:
		return []string{"NoneType"}
	case t.Kind == types.Mem:
		out = []string{"int", "record", "tuple", "NoneType", "fault"}
	case t.Kind == types.Stack:
		out = []string{"stack", "NoneType", "fault"}
	case t.Leads():
		out = []string{"int", "NoneType", "fault"}
	default:
		out = []string{userType(exprVal(typed(t)))}
	}
	if t.MayNone {
		out = append(out, "NoneType")
	}
	if t.MayFault {
		out = append(out, "fault")
	}
	return out
}

// callType is type(x) in a kernel half, where it is known.
func callType(b *body, args []arg, pos plan.Pos) val {
	a := want(args, 1, 1, "type(x)", pos)
	names := typesOf(b, a[0])
	if len(names) != 1 || mayChange(a[0].c) {
		refuse(pos, "the type of this is not known when the script is compiled: hasattr tells points apart, and "+
			"x == None and x == FAULT say what it is not")
	}
	return strVal(names[0])
}

// typeIn is type(x) in a user half.
func typeIn(u *userWalk, f *builtin, x *syntax.CallExpr) uval {
	vals := u.calling().values(x.Args)
	out := u.calling().byUser(f, x, vals)
	if len(vals) == 1 && len(namedOrStarred(x)) == 0 {
		out.among = u.typesOf(vals[0])
	}
	if len(out.among) == 1 {
		return uval{v: strVal(out.among[0]), known: true, among: out.among}
	}
	return out
}

// typesOf are the names that type() may give for x, nil where they are not known.
func (u *userWalk) typesOf(x uval) []string {
	switch {
	case x.fn != nil:
		return []string{"function"}
	case x.known && x.part:
		return typesOf(u.b, x.v)
	case x.known:
		return constTypes(x.v.c)
	case slices.Contains([]string{"tuple", "list", "dict"}, x.typ) && !x.part:
		return []string{x.typ, "NoneType", "fault"}
	}
	return nil
}

// decidedByType is a comparison of what type() gives, where the names that it may give decide it.
func decidedByType(op syntax.Token, l, r uval) (value, ok bool) {
	if value, ok = l.decided(op, r); !ok && (op == syntax.EQL || op == syntax.NEQ) {
		return r.decided(op, l)
	}
	return value, ok
}

// decided is a comparison of a text of which is known what it may be, where that decides it.
func (x uval) decided(op syntax.Token, with uval) (value, ok bool) {
	texts, ok := with.texts(op)
	if !ok || x.among == nil {
		return false, false
	}
	in := 0
	for _, name := range x.among {
		if slices.Contains(texts, name) {
			in++
		}
	}
	not := op == syntax.NEQ || op == syntax.NOT_IN
	return (in > 0) != not, in == 0 || in == len(x.among)
}

// texts are the texts that op compares with, if x is one, or has only such in it.
func (x uval) texts(op syntax.Token) (out []string, ok bool) {
	list := []uval{x}
	switch op {
	case syntax.EQL, syntax.NEQ:
	case syntax.IN, syntax.NOT_IN:
		list = x.elems
		if t, is := x.v.c.(plan.Tuple); is && x.known {
			list = constantElem(t).elems
		}
	default:
		return nil, false
	}
	for _, e := range list {
		s, is := e.v.constStr()
		if !e.known || !is {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}
