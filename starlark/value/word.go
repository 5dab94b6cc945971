package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The refusal of ints of more than 64 bits in tables and cells.
//
// Ints of tables and cells have 64 bits. That holds for those that no kernel half uses, too: a handler means the same
// wherever it runs, and where it runs is not the script's to say.

// checkWords refuses ints of more than 64 bits in what is kept.
func (b *base) checkWords(what string, v starlark.Value) error {
	if err := CheckWords(v); err != nil {
		return fmt.Errorf("%s of %s: %w", what, b, err)
	}
	return nil
}

// CheckWords refuses ints of more than 64 bits in v, also in tuples and records.
func CheckWords(v starlark.Value) error { return new(wordCheck).of(v, 0) }

// A wordCheck goes over what a value has. It remembers tuples deep within others: one that is in many places is looked
// at once.
type wordCheck struct{ seen map[*starlark.Value]int }

// rememberFrom is the depth from which on a wordCheck remembers: most tuples have none within them.
const rememberFrom = 8

func (w *wordCheck) of(v starlark.Value, depth int) error {
	var list []starlark.Value
	switch v := v.(type) {
	case starlark.Int:
		_, signed := v.Int64()
		if _, unsigned := v.Uint64(); !signed && !unsigned {
			return fmt.Errorf("got %s, want an int of at most 64 bits", v)
		}
	case starlark.Tuple:
		list = v
	case *Record:
		_, list = v.Fields()
	}
	if depth >= rememberFrom && len(list) > 0 {
		if w.seen[&list[0]] >= len(list) {
			return nil
		}
		if w.seen == nil {
			w.seen = map[*starlark.Value]int{}
		}
		w.seen[&list[0]] = len(list)
	}
	for _, e := range list {
		if err := w.of(e, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkResult refuses what an operator makes of an entry that lives here, if a kernel half could not keep it: + - and *
// make values signed, also where the entry or the operand is not.
func (b *base) checkResult(op syntax.Token, next starlark.Value) error {
	n, isInt := next.(starlark.Int)
	if !isInt || b.be != nil || op != syntax.PLUS && op != syntax.MINUS && op != syntax.STAR {
		return nil
	}
	if _, ok := n.Int64(); !ok {
		return fmt.Errorf("value of %s: got %s, want a signed 64-bit int", b, n)
	}
	return nil
}
