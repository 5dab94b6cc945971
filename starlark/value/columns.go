package value

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// The check that keys have as many parts as by= has names, in user space.

// checkColumns compares a key that user code writes with the columns that by= names, as bpfgen/infer does with those of
// kernel halves: output would have columns without names, or names without columns. A None counts as the part that it
// is elsewhere. A list of the event is one part, and so may be what a script has made of one.
func (b *base) checkColumns(key starlark.Value) error {
	by, parts := b.decl.By, keyParts(key)
	switch {
	case len(by) == 0 || parts == len(by) || parts == len(b.KeyNames()) && parts > 0:
		return nil
	case parts == 0:
		return fmt.Errorf("%s", b.decl.WithoutKey())
	case len(by) == 1 && isStringList(key):
		return nil
	}
	return fmt.Errorf("the key of %s %s has %s here, and by= names %s: %s",
		b.decl.Kind, b.name(), counted(parts, "part"), counted(len(by), "column"), strings.Join(by, ", "))
}

// isStringList reports whether a key may be what a script has made of a list of strings of the event, as
// tuple(sorted(e.args.argv)).
func isStringList(key starlark.Value) bool {
	t, ok := key.(starlark.Tuple)
	for _, v := range t {
		if _, text := v.(starlark.String); !text && !IsFault(v) {
			return false
		}
	}
	return ok
}

// checkKeyed compares a use with a key, or without one (nil), with what the aggregation has.
func (a *Agg) checkKeyed(key starlark.Value) error {
	keyed, known := a.keyed()
	switch {
	case !known || keyed == (key != nil):
		return nil
	case keyed:
		return a.keyMissing()
	}
	return a.keyTooMuch()
}

// keyed reports whether the aggregation has keys, as far as its uses tell it.
func (a *Agg) keyed() (keyed, known bool) {
	switch {
	case a.be != nil:
		return !a.unkeyed(), true
	case len(a.local.entries) > 0:
		return a.local.entries[0].Key != nil, true
	}
	return true, len(a.KeyNames()) > 0
}

// keyParts is the number of columns that a key has in output, 0 without a key.
func keyParts(key starlark.Value) int {
	switch k := key.(type) {
	case nil:
		return 0
	case starlark.Tuple:
		if IsList(k) {
			return 1
		}
		return len(k)
	case *Record:
		return len(k.names)
	}
	return 1
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
