package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/wire"
)

// `x[k] op= v` for tables, cells and dicts in user space.

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

// Update does x[k] op= v. On a table of ints it is one operation on the entry, so
// that no update by a kernel half between read and write is lost; everything else
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

// updateTries bounds the attempts to change an entry that programs change, too: some tenths of a second.
const updateTries = 100_000

// updateTable is t[k] op= v, where a missing entry is 0, as in kernel halves.
func updateTable(t *Table, k starlark.Value, op syntax.Token, v starlark.Value) error {
	for range updateTries {
		if done, err := t.operate(k, op, v); done || err != nil {
			return err
		}
		old, found, err := t.Get(k)
		switch {
		case err != nil:
			return err
		case !found:
			old = starlark.MakeInt(0)
		case old == starlark.None || IsFault(old):
			return fmt.Errorf("%s= of an entry that is %s, an int was wanted", op, old)
		}
		next, err := Operate(op, old, v)
		if err != nil {
			return err
		}
		if err := t.checkResult(op, next); err != nil {
			return err
		}
		if same, err := starlark.Equal(old, next); found && same && err == nil {
			return nil // the entry was next when it was read
		}
		if done, err := t.change(k, op, old, next, found); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s= of an entry of %s: kernel halves changed it between reading and writing, "+
		"%d times one after the other; let them do this change, or use an operator that is one step "+
		"(+ - * & | ^ on ints, from Linux 5.12 on)",
		op, t, updateTries)
}

// change makes an entry next where it was old. On an int in a kernel map that is
// one operation, so that no update of a kernel half is lost: an addition, or, for
// other operators, an exchange, which fails where the entry has changed.
func (t *Table) change(k starlark.Value, op syntax.Token, old, next starlark.Value, found bool) (done bool, err error) {
	typ := t.word()
	if _, isInt := old.(starlark.Int); !isInt || typ == nil {
		return true, t.SetKey(k, next)
	}
	key, err := t.keyToWrite(t.foldKey(k))
	if err != nil {
		return false, err
	}
	from, err := t.wordOf(typ, old)
	if err != nil {
		return false, err
	}
	to, err := t.wordOf(typ, next)
	if err != nil {
		return false, err
	}
	switch {
	case op == syntax.PLUS || op == syntax.MINUS:
		return true, t.roomy(t.be.AddInt(key, typ.Off, int64(to-from)))
	case !found:
		err := t.be.AddInt(key, typ.Off, 0) // makes an entry of 0, as kernel halves do, unless one has come
		return err != nil, t.roomy(err)
	}
	return t.be.Swap(key, typ.Off, from, to)
}

// word is the layout of the int that values of a bound table are; nil where they
// are something else.
func (t *Table) word() *wire.Type {
	if t.be == nil {
		return nil
	}
	_, layout := t.be.Layout()
	if typ := &layout.Type; typ.Size == 8 && (typ.Kind == wire.Int || typ.Kind == wire.Pointer) {
		return typ
	}
	return nil
}

func (t *Table) wordOf(typ *wire.Type, v starlark.Value) (uint64, error) {
	raw, err := rawInt(typ, v)
	if err != nil {
		return 0, fmt.Errorf("value of %s: %w", t, err)
	}
	return raw, nil
}
