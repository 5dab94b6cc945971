package session

import (
	"strconv"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/value"
)

// labels are the functions that give text for numbers and need the machine.
func (s *session) labels() map[string]value.LabelFunc {
	return map[string]value.LabelFunc{"ksym": s.ksym}
}

// ksym names an address of the kernel. The symbols are read when the first
// is asked for, which takes some 40 ms; without them the address is shown.
func (s *session) ksym(addr uint64) string {
	if s.symbols == nil {
		symbols, err := kernel.OpenSymbols()
		if err != nil {
			s.messagef("startrace: ksym: %v", err)
			symbols = &kernel.Symbols{}
		}
		s.symbols = symbols
	}
	if sym, _, ok := s.symbols.Find(addr); ok {
		return sym.Name
	}
	return "0x" + strconv.FormatUint(addr, 16)
}
