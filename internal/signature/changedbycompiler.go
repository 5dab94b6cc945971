package signature

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
)

// changed reports whether the compiler may have moved the parameters of a function: gcc
// and clang do so with functions that only their own unit calls. gcc gives what it makes
// another name (IsClone), clang tells nobody.
func (f *finder) changed(chain []*dwarfinfo.Entry) bool {
	if f.language == langGo {
		name, _ := attribute(chain, dwarf.AttrName).(string)
		return strings.Contains(name, "[") // a dictionary takes a register
	}
	producer := f.producer()
	if convention, _ := attribute(chain, dwarf.AttrCalling).(int64); convention == notCalled {
		return true
	}
	external, _ := attribute(chain, dwarf.AttrExternal).(bool)
	return !external && !strings.HasPrefix(producer, "GNU ") && !tellsChanges(producer)
}

// notCalled is DW_CC_nocall: the function does not keep to the convention of its type.
const notCalled = 3

// tellsChanges reports whether a compiler says so of each function that it changed, as Rust 1.95 does: with
// optimization of all that are private, since its LLVM may call them as it likes.
func tellsChanges(producer string) bool {
	_, text, found := strings.Cut(producer, "rustc version ")
	var major, minor int
	_, err := fmt.Sscanf(text, "%d.%d", &major, &minor)
	return found && err == nil && (major > 1 || minor >= 95)
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
