package session

import (
	"errors"
	"strconv"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/starlark/value"
)

// labels are the functions that give text for numbers and need the machine.
func (s *session) labels() map[string]value.LabelFunc {
	return map[string]value.LabelFunc{"ksym": s.frames.Kernel.Name, "dev_name": s.machine.Device}
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
	return s.frames.Processes.Name(pid, addr), nil
}

// labelPoints makes the labels of points and functions, which programs know by
// number, mean their names.
func (s *session) labelPoints() {
	s.env.Labels.Ints["name"] = s.nameText
	of := func(string) value.LabelFunc { return s.nameText }
	s.env.Labels.With["func"], s.env.Labels.With["point"] = of, of
	s.env.Labels.Number = s.nameNumber
}

// nameText is the name of a function or point by its number.
func (s *session) nameText(v uint64) string {
	n := int64(v)
	if text, ok := tree.NameOf(n, s.names.kernel); ok {
		return text
	}
	if i := ownName - n; i >= 0 && i < int64(len(s.names.own)) {
		return s.names.own[i]
	}
	return "point " + strconv.FormatInt(n, 10)
}

// names are those of functions and points. User halves can put others beside
// them, which get numbers from ownName down.
type names struct {
	kernel []string // of the units: tree.Unit.Names
	own    []string
	number map[string]int64
}

const ownName = -(1 << 40)

// learnNames takes the names of a unit, which begin with those of units before.
func (s *session) learnNames(list []string) {
	if s.names.number == nil {
		s.names.number = map[string]int64{}
	}
	for i := len(s.names.kernel); i < len(list); i++ {
		s.names.number[list[i]] = -int64(i) - 1
	}
	if len(list) > len(s.names.kernel) {
		s.names.kernel = list
	}
}

// nameNumber is the number by which programs keep a name.
func (s *session) nameNumber(text string) uint64 {
	if n, ok := tree.SyscallNumber(text); ok {
		return uint64(n)
	}
	n, ok := s.names.number[text]
	if !ok {
		n = ownName - int64(len(s.names.own))
		s.names.own = append(s.names.own, text)
		s.names.number[text] = n
	}
	return uint64(n)
}
