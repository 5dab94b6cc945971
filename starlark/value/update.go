package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const plusToken = syntax.PLUS

// updateOps are the operators of `x[k] op= v` as the host passes them.
var updateOps = map[string]syntax.Token{
	"+": syntax.PLUS, "-": syntax.MINUS, "*": syntax.STAR, "/": syntax.SLASH,
	"//": syntax.SLASHSLASH, "%": syntax.PERCENT, "&": syntax.AMP, "|": syntax.PIPE,
	"^": syntax.CIRCUMFLEX, "<<": syntax.LTLT, ">>": syntax.GTGT,
}

// UpdateOp gives the operator of an augmented assignment: "+" for +=.
func UpdateOp(assign syntax.Token) string {
	s := assign.String()
	return s[:len(s)-1]
}

// Update does x[k] op= v. On a table of ints the difference is added, so that
// no update by a kernel half between read and write is lost; everything else
// reads, computes and writes.
func Update(x, k starlark.Value, op string, v starlark.Value) error {
	tok, ok := updateOps[op]
	if !ok {
		return fmt.Errorf("unknown operator %s=", op)
	}
	if t, isTable := x.(*Table); isTable {
		return updateTable(t, k, tok, v)
	}
	old, err := index(x, k)
	if err != nil {
		return err
	}
	sum, err := inPlace(tok, old, v)
	if err != nil {
		return err
	}
	return setIndex(x, k, sum)
}

func updateTable(t *Table, k starlark.Value, op syntax.Token, v starlark.Value) error {
	if n, isInt := v.(starlark.Int); isInt {
		switch op {
		case syntax.PLUS:
			return t.Add(k, n)
		case syntax.MINUS:
			return t.Add(k, starlark.MakeInt(0).Sub(n))
		}
	}
	old, found, err := t.Get(k)
	if err != nil {
		return err
	}
	if !found {
		old = starlark.MakeInt(0) // as in kernel halves, for all operators
	}
	next, err := starlark.Binary(op, old, v)
	if err != nil {
		return err
	}
	if d, ok := t.difference(old, next); ok {
		return t.Add(k, d)
	}
	return t.SetKey(k, next)
}

// difference is what to add to one value for the other, where both are ints
// that the table can add to.
func (t *Table) difference(old, next starlark.Value) (d starlark.Int, ok bool) {
	x, isInt := old.(starlark.Int)
	y, staysInt := next.(starlark.Int)
	if !isInt || !staysInt {
		return d, false
	}
	d = y.Sub(x)
	if t.be != nil {
		_, fits := d.Int64()
		_, plain := t.plainInt()
		return d, fits && plain
	}
	return d, true
}

// inPlace is the operator as the interpreter applies it in an augmented
// assignment: lists grow and dicts are merged where they are.
func inPlace(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	switch l := x.(type) {
	case *starlark.List:
		if it, ok := y.(starlark.Iterable); ok && op == syntax.PLUS {
			return l, extendList(l, it)
		}
	case *starlark.Dict:
		if d, ok := y.(*starlark.Dict); ok && op == syntax.PIPE {
			return l, merge(l, d)
		}
	}
	return starlark.Binary(op, x, y)
}

func extendList(l *starlark.List, it starlark.Iterable) error {
	var elems []starlark.Value
	for v := range starlark.Elements(it) {
		elems = append(elems, v)
	}
	for _, v := range elems {
		if err := l.Append(v); err != nil {
			return err
		}
	}
	return nil
}

func merge(x, y *starlark.Dict) error {
	for _, kv := range y.Items() {
		if err := x.SetKey(kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// index is x[k].
func index(x, k starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.Mapping:
		v, found, err := x.Get(k)
		if err == nil && !found {
			err = fmt.Errorf("key %s not in %s", k, x.Type())
		}
		return v, err
	case starlark.Indexable:
		i, err := position(x, k)
		if err != nil {
			return nil, err
		}
		return x.Index(i), nil
	}
	return nil, fmt.Errorf("unhandled index operation %s[%s]", x.Type(), k.Type())
}

// setIndex is x[k] = v.
func setIndex(x, k, v starlark.Value) error {
	switch x := x.(type) {
	case starlark.HasSetKey:
		return x.SetKey(k, v)
	case starlark.HasSetIndex:
		i, err := position(x, k)
		if err != nil {
			return err
		}
		return x.SetIndex(i, v)
	}
	return fmt.Errorf("%s value does not support item assignment", x.Type())
}

func position(x starlark.Indexable, k starlark.Value) (int, error) {
	i, err := starlark.AsInt32(k)
	if err != nil {
		return 0, fmt.Errorf("%s index: %w", x.(starlark.Value).Type(), err)
	}
	n := x.Len()
	at := i
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return 0, fmt.Errorf("%s index %d out of range: %d elements", x.(starlark.Value).Type(), i, n)
	}
	return at, nil
}
