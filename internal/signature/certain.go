package signature

import (
	"debug/dwarf"
	"strings"
)

// changed reports whether the compiler may have moved the parameters of a function: gcc
// and clang do so with functions that only their own unit calls. gcc gives what it makes
// another name (IsClone), clang tells nobody.
func (f *finder) changed(chain []*dwarf.Entry) bool {
	if f.language == langGo {
		name, _ := attribute(chain, dwarf.AttrName).(string)
		return strings.Contains(name, "[") // a dictionary takes a register
	}
	producer, _ := f.unit.Val(dwarf.AttrProducer).(string)
	external, _ := attribute(chain, dwarf.AttrExternal).(bool)
	return !external && !strings.HasPrefix(producer, "GNU ")
}

// IsClone reports whether a symbol is that of a changed copy of a function.
func IsClone(symbol string) bool {
	for _, mark := range []string{".isra.", ".constprop.", ".part.", ".cold", ".llvm."} {
		if strings.Contains(symbol, mark) {
			return true
		}
	}
	return false
}
