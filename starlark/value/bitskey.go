package value

import (
	"math"
	"slices"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

// Ints in keys: -1 and 18446744073709551615 are one key.
//
// Ints of keys have 64 bits, and those of the same bits are one key: -1 and
// 18446744073709551615. In a map they are the same bytes. What lives in user
// space finds its entries by the signed one, and shows what was written: the
// signed one, if both were.

// signs says whether k has an int below 0, and whether it has one from 1<<63 on.
func signs(k starlark.Value) (negative, huge bool) {
	var parts []starlark.Value
	switch k := k.(type) {
	case starlark.Int:
		_, fits := k.Int64()
		return k.Sign() < 0, !fits
	case starlark.Tuple:
		parts = k
	case *Record:
		parts = k.vals
	}
	for _, e := range parts {
		n, h := signs(e)
		negative, huge = negative || n, huge || h
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

// likeKept is k with its ints as a key of t has them: each part with the sign of its own. A float that is equal to an
// int is that int.
func likeKept(t *wire.Type, k starlark.Value) starlark.Value {
	switch k := k.(type) {
	case starlark.Float:
		whole := starlark.Float(math.Trunc(float64(k))) == k
		if i, err := starlark.NumberToInt(k); err == nil && whole && t.Kind == wire.Int {
			return likeKept(t, i)
		}
	case starlark.Int:
		n, fits := k.Int64()
		u, huge := k.Uint64()
		switch {
		case t.Signed && !fits && huge:
			return starlark.MakeInt64(int64(u))
		case !t.Signed && fits && n < 0:
			return starlark.MakeUint64(uint64(n))
		}
	case starlark.Tuple:
		if len(k) == len(t.Elems) {
			out := make(starlark.Tuple, len(k))
			for i := range k {
				out[i] = likeKept(&t.Elems[i], k[i])
			}
			return likeList(k, out)
		}
	case *Record:
		if len(k.names) == len(t.Names) {
			return recordLikeKept(t, k)
		}
	}
	return k
}

func recordLikeKept(t *wire.Type, k *Record) starlark.Value {
	out := make([]starlark.Value, len(k.vals))
	for i, name := range k.names {
		out[i] = k.vals[i]
		if at := slices.Index(t.Names, name); at >= 0 {
			out[i] = likeKept(&t.Elems[at], k.vals[i])
		}
	}
	return NewRecord(k.names, out)
}

func eachInt(k starlark.Value, f func(starlark.Int) starlark.Int) starlark.Value {
	switch k := k.(type) {
	case starlark.Int:
		return f(k)
	case starlark.Tuple:
		return likeList(k, eachIntOf(k, f))
	case *Record:
		return NewRecord(k.names, eachIntOf(k.vals, f))
	}
	return k
}

func eachIntOf(list []starlark.Value, f func(starlark.Int) starlark.Int) []starlark.Value {
	out := make([]starlark.Value, len(list))
	for i, e := range list {
		out[i] = eachInt(e, f)
	}
	return out
}

// signedIn is k, whose ints are shown with a sign where those of the same key are as next has them. Each part has a
// sign of its own: another part that is below 0 changes nothing.
func signedIn(k, next starlark.Value) starlark.Value {
	switch n := next.(type) {
	case starlark.Int:
		if n.Sign() < 0 {
			return n
		}
	case starlark.Tuple:
		if k, ok := k.(starlark.Tuple); ok && len(k) == len(n) {
			out := make(starlark.Tuple, len(k))
			for i := range k {
				out[i] = signedIn(k[i], n[i])
			}
			return likeList(k, out)
		}
	case *Record:
		if k, ok := k.(*Record); ok && len(k.names) == len(n.names) {
			out := make([]starlark.Value, len(k.vals))
			for i, name := range k.names {
				out[i] = signedIn(k.vals[i], n.Get(name))
			}
			return NewRecord(k.names, out)
		}
	}
	return k
}

// wrote notes how a key is shown that an entry is kept by: each of its ints as it was written first, unless that is
// unsigned and it was written as a signed one later.
func (t *Table) wrote(k, index starlark.Value, found bool) error {
	if _, huge := signs(k); huge && !found {
		return t.unsigned.SetKey(index, k)
	}
	if negative, _ := signs(k); !negative || t.unsigned.Len() == 0 {
		return nil
	}
	before, ok, err := t.unsigned.Get(index)
	if !ok || err != nil {
		return err
	}
	shown := signedIn(before, k)
	if _, huge := signs(shown); huge {
		return t.unsigned.SetKey(index, shown)
	}
	_, _, err = t.unsigned.Delete(index)
	return err
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
