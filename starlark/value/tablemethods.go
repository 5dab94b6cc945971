package value

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
)

// Methods of tables: get, pop, set, add, remove, items, keys, values, clear.

var tableMethods = map[string]methodFunc[*Table]{
	"get":    tableGet,
	"pop":    tablePop,
	"set":    tableSet,
	"add":    tableAdd,
	"remove": tableRemove,
	"items":  tableItems,
	"keys":   tableKeys,
	"values": tableValues,
	"clear":  tableClear,
}

// Attr gives a method.
func (t *Table) Attr(name string) (starlark.Value, error) {
	return bindMethod(t, tableMethods, name), nil
}

// AttrNames names the methods.
func (t *Table) AttrNames() []string { return slices.Sorted(maps.Keys(tableMethods)) }

func tableGet(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k, dflt starlark.Value = nil, starlark.None
	if err := starlark.UnpackArgs("get", args, kwargs, "key", &k, "default?", &dflt); err != nil {
		return nil, err
	}
	t.read = true
	v, found, err := t.Get(k)
	if err != nil || found {
		return v, err
	}
	return dflt, nil
}

func tablePop(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k, dflt starlark.Value = nil, starlark.None
	if err := starlark.UnpackArgs("pop", args, kwargs, "key", &k, "default?", &dflt); err != nil {
		return nil, err
	}
	v, err := t.pop(k)
	if err != nil || v != nil {
		return v, err
	}
	return dflt, nil
}

func tableSet(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k, v starlark.Value
	if err := starlark.UnpackArgs("set", args, kwargs, "key", &k, "value", &v); err != nil {
		return nil, err
	}
	return starlark.None, t.SetKey(k, v)
}

func tableAdd(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k, v starlark.Value = nil, starlark.MakeInt(1)
	if err := starlark.UnpackArgs("add", args, kwargs, "key", &k, "value?", &v); err != nil {
		return nil, err
	}
	n, ok := v.(starlark.Int)
	if !ok {
		return nil, fmt.Errorf("add: got %s, want int", v.Type())
	}
	return starlark.None, t.Add(k, n)
}

func tableRemove(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k starlark.Value
	if err := starlark.UnpackArgs("remove", args, kwargs, "key", &k); err != nil {
		return nil, err
	}
	_, err := t.Remove(k)
	return starlark.None, err
}

func tableItems(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return tableList("items", t, args, kwargs, func(kv starlark.Tuple) starlark.Value { return kv })
}

func tableKeys(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return tableList("keys", t, args, kwargs, func(kv starlark.Tuple) starlark.Value { return kv[0] })
}

func tableValues(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return tableList("values", t, args, kwargs, func(kv starlark.Tuple) starlark.Value { return kv[1] })
}

func tableList(name string, t *Table, args starlark.Tuple, kwargs []starlark.Tuple,
	pick func(starlark.Tuple) starlark.Value) (starlark.Value, error) {
	if err := starlark.UnpackArgs(name, args, kwargs); err != nil {
		return nil, err
	}
	items, err := t.entries()
	if err != nil {
		return nil, err
	}
	return listOf(items, pick), nil
}

func tableClear(t *Table, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("clear", args, kwargs); err != nil {
		return nil, err
	}
	return starlark.None, t.Clear()
}
