package locals

import (
	"debug/dwarf"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// Whether a function was compiled without optimization.

// plain reports whether the function was not optimized: its variables have one place on the stack all the time. One
// without such variables is so where its compiler tells.
func (w *walk) plain() bool {
	return !w.moving && (w.fixed || plainlyCompiled(w.function))
}

// Attributes of a function in which all calls are told, which clang says of what it has optimized, and says otherwise
// before DWARF 5.
const attrAllCalls, attrGNUAllCalls = dwarf.Attr(0x7a), dwarf.Attr(0x2117)

// plainlyCompiled reports whether a compiler of C or C++ says that it did not optimize a function: gcc has its options
// in the name of the producer.
func plainlyCompiled(function *dwarfinfo.Entry) bool {
	root, err := function.Unit().Root()
	if err != nil || root == nil {
		return false
	}
	producer, _ := root.Val(dwarf.AttrProducer).(string)
	switch {
	case strings.HasPrefix(producer, "GNU C"):
		return strings.Contains(producer, " -m") && !optimizes(producer)
	case strings.Contains(producer, "clang version"):
		return !function.Has(attrAllCalls) && !function.Has(attrGNUAllCalls)
	}
	return false
}

// optimizes reports whether options of gcc ask for optimization: the last one of -O, -O0, -O1 … counts.
func optimizes(options string) (is bool) {
	for word := range strings.FieldsSeq(options) {
		if level, of := strings.CutPrefix(word, "-O"); of {
			is = level != "0"
		}
	}
	return is
}

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
