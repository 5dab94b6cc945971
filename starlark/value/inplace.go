package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/format"
)

// x += y and its like for variables, x[k] and x[k] = v.

// OperateInPlace is x op= y for a variable: a list grows where it is.
func OperateInPlace(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	return inPlace(op, x, y)
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
	return Operate(op, x, y)
}

func extendList(l *starlark.List, it starlark.Iterable) error {
	if err := CheckElements(it); err != nil {
		return err
	}
	n := max(starlark.Len(it), 0)
	if err := checkLonger(l, uint64(n)); err != nil {
		return err
	}
	elems := make([]starlark.Value, 0, n)
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
		return 0, fmt.Errorf("%s index %d out of range: %s", x.(starlark.Value).Type(), i, format.Count(n, "element"))
	}
	return at, nil
}
