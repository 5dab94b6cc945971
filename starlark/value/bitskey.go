package value

import (
	"go.starlark.net/starlark"
)

// Ints of keys have 64 bits, and those of the same bits are one key: -1 and
// 18446744073709551615. In a map they are the same bytes. What lives in user
// space finds its entries by the signed one, and shows what was written: the
// signed one, if both were.

// signs says whether k has an int below 0, and whether it has one from 1<<63 on.
func signs(k starlark.Value) (negative, huge bool) {
	switch k := k.(type) {
	case starlark.Int:
		_, fits := k.Int64()
		return k.Sign() < 0, !fits
	case starlark.Tuple:
		for _, e := range k {
			n, h := signs(e)
			negative, huge = negative || n, huge || h
		}
	}
	return negative, huge
}

// signedKey is k with the signed ints of the same bits.
func signedKey(k starlark.Value) starlark.Value {
	if _, huge := signs(k); !huge {
		return k
	}
	return eachInt(k, func(i starlark.Int) starlark.Int {
		if u, ok := i.Uint64(); ok {
			return starlark.MakeInt64(int64(u))
		}
		return i
	})
}

// otherSign is k with the ints of the same bits and the other sign: signed ones, if
// there is something to change, else unsigned ones.
func otherSign(k starlark.Value) starlark.Value {
	negative, huge := signs(k)
	if huge || !negative {
		return signedKey(k)
	}
	return eachInt(k, func(i starlark.Int) starlark.Int {
		if n, ok := i.Int64(); ok {
			return starlark.MakeUint64(uint64(n))
		}
		return i
	})
}

func eachInt(k starlark.Value, f func(starlark.Int) starlark.Int) starlark.Value {
	switch k := k.(type) {
	case starlark.Int:
		return f(k)
	case starlark.Tuple:
		out := make(starlark.Tuple, len(k))
		for i, e := range k {
			out[i] = eachInt(e, f)
		}
		return out
	}
	return k
}

// wrote notes how a key is shown that an entry is kept by: as it was written first,
// unless that is unsigned and it was written as a signed one later.
func (t *Table) wrote(k, index starlark.Value, found bool) error {
	negative, huge := signs(k)
	switch {
	case huge && !found:
		return t.unsigned.SetKey(index, k)
	case negative && t.unsigned.Len() > 0:
		_, _, err := t.unsigned.Delete(index)
		return err
	}
	return nil
}

// shownKey is the key of an entry as scripts see it.
func (t *Table) shownKey(index starlark.Value) starlark.Value {
	if t.unsigned.Len() > 0 {
		if k, ok, err := t.unsigned.Get(index); ok && err == nil {
			return k
		}
	}
	return scriptKey(index)
}

// deleteLocal deletes an entry of a table that no kernel half uses.
func (t *Table) deleteLocal(index starlark.Value) (starlark.Value, bool, error) {
	if t.unsigned.Len() > 0 {
		if _, _, err := t.unsigned.Delete(index); err != nil {
			return nil, false, err
		}
	}
	return t.local.Delete(index)
}
