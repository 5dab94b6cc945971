package session

import (
	"errors"
	"strconv"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/value"
)

// labels are the functions that give text for numbers and need the machine.
func (s *session) labels() map[string]value.LabelFunc {
	return map[string]value.LabelFunc{"ksym": s.ksym, "dev_name": s.devName}
}

// ksym names an address of the kernel. The symbols are read when the first
// is asked for (see kernel.OpenSymbols); without them the address is shown.
func (s *session) ksym(addr uint64) string {
	return s.kernelFrame(addr).Name
}

// kernelFrame finds an address of the kernel; without a symbol its name is the
// address. Facts may have read the symbols before programs were loaded, whose
// names are needed to leave them out of stacks.
func (s *session) kernelFrame(addr uint64) value.Frame {
	if s.symbols == nil {
		symbols, err := kernel.OpenSymbols()
		if err != nil {
			s.messagef("startrace: ksym: %v", err)
			symbols = &kernel.Symbols{}
		}
		s.symbols = symbols
	}
	if sym, offset, ok := s.symbols.Find(addr); ok {
		return value.Frame{Name: sym.Name, Offset: offset, Module: sym.Module, Addr: addr}
	}
	return value.Frame{Name: "0x" + strconv.FormatUint(addr, 16), Addr: addr}
}

// devName names a block device; the names are those of the first look.
func (s *session) devName(dev uint64) string {
	name, ok := s.devices[dev]
	if !ok {
		name = kernel.DeviceName(uint32(dev))
		s.devices[dev] = name
	}
	return name
}

// userSymbol names an address of a process, 0 for the one that is traced.
func (s *session) userSymbol(pid int, addr uint64) (string, error) {
	switch {
	case pid != 0:
	case s.PID != 0:
		pid = s.PID
	case s.child != nil:
		pid = s.child.PID()
	default:
		return "", errors.New("of which process? usym(addr, e.pid)")
	}
	return s.userSymbols.Name(pid, addr), nil
}

// enumerators are those of an enum of the kernel, or of all that begin so.
func (s *session) enumerators(name string) []kernel.EnumValue {
	b, err := s.facts.BTF()
	if err != nil {
		return nil
	}
	return b.Enumerators(name)
}

// labelPoints makes the labels of points, which programs know by number, mean
// their names.
func (s *session) labelPoints() {
	label := func(text func(tree.Point) string) func(string) value.LabelFunc {
		return func(probe string) value.LabelFunc {
			return func(v uint64) string {
				id, err := strconv.Atoi(probe)
				if err == nil {
					if p, ok := s.point(id, v); ok {
						return text(p)
					}
				}
				return "point " + strconv.FormatUint(v, 10)
			}
		}
	}
	s.env.Labels.With["func"] = label(func(p tree.Point) string { return p.Func })
	s.env.Labels.With["point"] = label(func(p tree.Point) string { return p.Name })
}
