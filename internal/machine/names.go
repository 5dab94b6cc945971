package machine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Constants, enums, types and devices by the names that scripts use.

// Constant looks up a name that a script uses and does not define: among the
// shipped ones, and with a spelling that constants have among the enums of BTF.
// BTF is not read for other names.
func (m *Machine) Constant(name string) (int64, bool) {
	if v, ok := kernel.Constant(name); ok {
		return v, true
	}
	if !constantSpelling(name) {
		return 0, false
	}
	return m.EnumValue(name)
}

// constantSpelling reports whether name has a first word of capitals and
// digits, an underscore and more, as nearly all enumerators have: TCP_LISTEN,
// PG_head.
func constantSpelling(name string) bool {
	first, _, found := strings.Cut(name, "_")
	for _, c := range first {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return found && first != ""
}

// EnumValue is a constant of one of the kernel's enums.
func (m *Machine) EnumValue(name string) (int64, bool) {
	b, err := m.facts.BTF()
	if err != nil {
		return 0, false
	}
	v, _, ok := b.EnumValue(name)
	if !ok {
		v, ok, _ = kernel.InModules(m.facts).EnumValue(name)
	}
	return v, ok
}

// WhyNoConstant says why a name is no constant, where modules have different ones; else it is "".
func (m *Machine) WhyNoConstant(name string) string {
	if !constantSpelling(name) {
		return ""
	}
	_, _, err := kernel.InModules(m.facts).EnumValue(name)
	if differ := (*kernel.NotOneTypeError)(nil); errors.As(err, &differ) {
		return err.Error()
	}
	return ""
}

// Enumerators are those of an enum of the kernel, or of all that begin so.
func (m *Machine) Enumerators(name string) []kernel.EnumValue {
	b, err := m.facts.BTF()
	if err != nil {
		return nil
	}
	if list := b.Enumerators(name); len(list) > 0 {
		return list
	}
	list, _ := kernel.InModules(m.facts).Enumerators(name) // those that differ have no names
	return list
}

// Number is a type of ints that the script declares, or the kernel has.
func (m *Machine) Number(name string, declared ...plan.TypesText) (kernel.Type, bool) {
	b, err := m.facts.BTF()
	if err != nil {
		return kernel.Type{}, false
	}
	if types, _, err := ctypes.OfScript(b, declared); err == nil {
		if id, ok := types.Named(name); ok {
			return kernel.NumberOf(b, id)
		}
	}
	return b.Number(name)
}

// ConstantsOf are those of the enums in the last of the texts of a script. The error is a mistake in a declaration.
func (m *Machine) ConstantsOf(declared ...plan.TypesText) ([]kernel.EnumValue, error) {
	b, err := m.facts.BTF()
	if err != nil {
		return nil, nil
	}
	types, pos, err := ctypes.OfScript(b, declared)
	if err != nil {
		return nil, fmt.Errorf("types() has a mistake at %s: %w", pos, err)
	}
	return types.Constants[len(declared)-1], nil
}

// SizeOf is the size of a type that the script declares, or the kernel has. The error is a mistake in a declaration.
func (m *Machine) SizeOf(name string, declared ...plan.TypesText) (int, bool, error) {
	b, err := m.facts.BTF()
	if err != nil {
		return 0, false, nil
	}
	bare, isPointer := strings.CutSuffix(strings.TrimSpace(name), "*")
	types, pos, err := ctypes.OfScript(b, declared)
	if err != nil {
		return 0, false, fmt.Errorf("types() has a mistake at %s: %w", pos, err)
	}
	id, ok := types.Named(strings.TrimSpace(bare))
	if !ok {
		id, ok, err = kernel.InModules(m.facts).Find(bare)
	}
	if err != nil || !ok {
		return 0, false, nil
	}
	if isPointer {
		return 8, true, nil
	}
	n, err := b.Size(id)
	return n, err == nil, nil
}

// FuncID finds a function in the kernel's BTF.
func (m *Machine) FuncID(name string) (kernel.TypeID, error) {
	b, err := m.facts.BTF()
	if err != nil {
		return 0, err
	}
	id, ok := b.Named(kernel.KindFunc, name)
	if !ok {
		return 0, fmt.Errorf("the kernel's BTF has no function %s", name)
	}
	return id, nil
}

// Device names a block device; the names are those of the first look.
func (m *Machine) Device(dev uint64) string {
	if dev>>32 != 0 {
		return "0x" + strconv.FormatUint(dev, 16) // no number of a device (dev_t)
	}
	name, ok := m.devices[dev]
	if !ok {
		name = kernel.DeviceName(uint32(dev))
		m.devices[dev] = name
	}
	return name
}
