package locals

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// What lies at the beginnings of blocks and closures.

// begun reports whether a block is none of the source but what rustc makes of the rest of it behind a declaration, and
// the line is that of the declaration, as of `let r = f(n);`: where r gets what f has returned is the same statement.
func (w *walk) begun(e *dwarfinfo.Entry) (is bool, err error) {
	if e.Tag != dwarf.TagLexDwarfBlock || w.source.Number == 0 || !ofRust(e.Unit()) {
		return false, nil
	}
	declared, others := 0, 0
	err = w.Data.EachChild(e, func(kid *dwarfinfo.Entry) (bool, error) {
		if kid.Tag != dwarf.TagVariable {
			return true, nil
		}
		line, _ := dwarfinfo.Attribute(w.Data.Origins(kid), dwarf.AttrDeclLine).(int64)
		if int(line) == w.source.Number {
			declared++
		} else {
			others++
		}
		return true, nil
	})
	return declared > 0 && others == 0, err
}

// ofGo reports whether Go has compiled a unit.
func ofGo(u *dwarfinfo.Unit) bool {
	root, err := u.Root()
	if err != nil || root == nil {
		return false
	}
	producer, _ := root.Val(dwarf.AttrProducer).(string)
	return strings.HasPrefix(producer, "Go cmd/compile")
}

// attrGoClosureOffset says of a variable of Go that a closure has captured it (since 1.23).
const attrGoClosureOffset = dwarf.Attr(0x2907)

// captured reports whether a variable is one that a closure has captured, at the line at which the closure begins:
// there it is still to be copied from where the closure has it.
func (w *walk) captured(e *dwarfinfo.Entry) bool {
	chain := w.Data.Origins(w.function)
	begins, _ := dwarfinfo.Attribute(chain, dwarf.AttrDeclLine).(int64)
	return w.source.Number > 0 && int64(w.source.Number) <= begins && (e.Has(attrGoClosureOffset) ||
		e.Tag == dwarf.TagVariable && ofGo(w.function.Unit()))
}
