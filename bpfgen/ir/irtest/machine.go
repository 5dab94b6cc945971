// Package irtest executes functions of ir, and makes random ones, for tests
// of what comes behind: a pass or the code generator is right if the result
// does the same.
package irtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
)

// A machine that executes functions of SSA, with memory, maps and helpers, for tests.

// ErrSteps says that a function ran too long.
var ErrSteps = errors.New("irtest: too many steps")

// The numbers of the helpers that Machine knows, from include/uapi/linux/bpf.h.
const (
	HelperMapLookup       = 1
	HelperMapUpdate       = 2
	HelperKtime           = 5
	HelperProcessorID     = 8
	HelperProbeReadKernel = 113
)

// A Machine executes a function. Memory is in regions far apart, little
// endian; an access outside of them is an error.
type Machine struct {
	// Ctx is the memory of the program's context, which OpCtx points to.
	Ctx []byte
	// Maps has the value of each map, all arrays of one entry.
	Maps map[string][]byte
	// Scratch is the claimed scratch memory.
	Scratch []byte
	// Sites counts what OpCountSite counts.
	Sites map[int64]int
	// MaxSteps bounds the execution; 0: a million.
	MaxSteps int
	// Helper executes helpers in the place of those that Machine knows; known is false of one that it leaves to it.
	// nil: there is none.
	Helper func(helper int64, args []int64) (result int64, known bool, err error)

	// slots are the pieces of stack of the function that runs, by the ID of the ir.Slot.
	slots [][]byte
	// regions are all memory that has an address.
	regions []region
	// values are the results so far; a loop's next round replaces its own.
	values map[*ir.Value]int64
}

// A region is memory from base on.
type region struct {
	base int64
	mem  []byte
	name string // of a map
}

// Run executes f and gives its result.
func (m *Machine) Run(f *ir.Func) (int64, error) {
	m.values, m.regions, m.slots = map[*ir.Value]int64{}, nil, nil
	if m.MaxSteps == 0 {
		m.MaxSteps = 1_000_000
	}
	if m.Sites == nil {
		m.Sites = map[int64]int{}
	}
	m.addRegion(m.Ctx, "")
	m.addRegion(m.Scratch, "")
	for _, s := range f.Slots {
		m.slots = append(m.slots, make([]byte, s.Size))
		m.addRegion(m.slots[s.ID], "")
	}
	b, steps := f.Blocks[0], 0
	for {
		for _, v := range b.Values {
			r, err := m.value(v)
			if err != nil {
				return 0, fmt.Errorf("irtest: %s: %s: %w", b, v.LongString(), err)
			}
			m.values[v] = r
		}
		if steps += len(b.Values) + 1; steps > m.MaxSteps {
			return 0, ErrSteps
		}
		t := &b.Term
		if t.Kind == ir.Ret {
			if t.X == nil {
				return 0, nil
			}
			return m.values[t.X], nil
		}
		b = m.follow(&t.To[m.taken(t)])
	}
}

func (m *Machine) taken(t *ir.Term) int {
	if t.Kind == ir.Jump {
		return 0
	}
	y := t.Imm
	if t.Y != nil {
		y = m.values[t.Y]
	}
	if t.Cond.Holds(m.values[t.X], y) {
		return 0
	}
	return 1
}

// follow sets the parameters of e's target, all at once.
func (m *Machine) follow(e *ir.Edge) *ir.Block {
	args := make([]int64, len(e.Args))
	for i, a := range e.Args {
		args[i] = m.values[a]
	}
	for i, p := range e.Block.Params {
		m.values[p] = args[i]
	}
	return e.Block
}

// addRegion gives memory an address, far from others and not near 0.
func (m *Machine) addRegion(mem []byte, name string) int64 {
	base := int64(len(m.regions)+1) << 40
	m.regions = append(m.regions, region{base, mem, name})
	return base
}

// MapAddress is the address of the value of a map, while a function runs.
func (m *Machine) MapAddress(name string) (int64, error) {
	for _, r := range m.regions {
		if r.name == name {
			return r.base, nil
		}
	}
	mem, ok := m.Maps[name]
	if !ok {
		return 0, fmt.Errorf("no map %q", name)
	}
	return m.addRegion(mem, name), nil
}

// Bytes gives n bytes of memory at an address, while a function runs.
func (m *Machine) Bytes(addr int64, n int) ([]byte, error) { return m.at(addr, n) }

// at gives n bytes of memory at addr.
func (m *Machine) at(addr int64, n int) ([]byte, error) {
	i := int(addr>>40) - 1
	if i >= 0 && i < len(m.regions) {
		r := &m.regions[i]
		if off := addr - r.base; off >= 0 && off+int64(n) <= int64(len(r.mem)) {
			return r.mem[off : off+int64(n)], nil
		}
	}
	return nil, fmt.Errorf("no %d bytes of memory at %#x", n, addr)
}

func (m *Machine) load(addr int64, n int) (int64, error) {
	mem, err := m.at(addr, n)
	if err != nil {
		return 0, err
	}
	var b [8]byte
	copy(b[:], mem)
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

func (m *Machine) store(addr, x int64, n int) error {
	mem, err := m.at(addr, n)
	if err != nil {
		return err
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(x))
	copy(mem, b[:n])
	return nil
}

// value executes v.
func (m *Machine) value(v *ir.Value) (int64, error) {
	var x, y int64
	if len(v.Args) > 0 {
		x = m.values[v.Args[0]]
	}
	if len(v.Args) > 1 {
		y = m.values[v.Args[1]]
	}
	switch {
	case v.Op.IsALU2():
		if len(v.Args) == 1 {
			y = v.Imm
		}
		return v.Op.ALU(x, y), nil
	case v.Op.IsLoad():
		return m.load(x+v.Imm, v.Op.Width())
	case v.Op.IsStore():
		return 0, m.store(x+v.Imm, y, v.Op.Width())
	case v.Op.IsMemory():
		return m.atomic(v, x+v.Imm, y)
	case v.Op.IsMacro():
		return m.macro(v, x, y)
	}
	return m.other(v, x)
}

func (m *Machine) other(v *ir.Value, x int64) (int64, error) {
	switch v.Op {
	case ir.OpConst:
		return v.Imm, nil
	case ir.OpCtx:
		return m.regions[0].base, nil
	case ir.OpSlot:
		return m.regions[2+v.Slot.ID].base + v.Imm, nil
	case ir.OpMapPtr:
		return m.MapAddress(v.Sym)
	case ir.OpMapValue:
		a, err := m.MapAddress(v.Sym)
		return a + v.Imm, err
	case ir.OpNeg:
		return -x, nil
	case ir.OpBswap16:
		return int64(bits.ReverseBytes16(uint16(x))), nil
	case ir.OpBswap32:
		return int64(bits.ReverseBytes32(uint32(x))), nil
	case ir.OpBswap64:
		return int64(bits.ReverseBytes64(uint64(x))), nil
	case ir.OpCall:
		args := make([]int64, 5)
		for i, a := range v.Args {
			args[i] = m.values[a]
		}
		return m.call(v.Imm, args)
	}
	return 0, fmt.Errorf("unknown op %s", v.Op)
}

func (m *Machine) atomic(v *ir.Value, addr, y int64) (int64, error) {
	old, err := m.load(addr, 8)
	if err != nil {
		return 0, err
	}
	switch v.Op {
	case ir.OpAtomicAdd64:
		return 0, m.store(addr, old+y, 8)
	case ir.OpXchg64:
		return old, m.store(addr, y, 8)
	}
	if old == y {
		err = m.store(addr, m.values[v.Args[2]], 8)
	}
	return old, err
}

func (m *Machine) call(helper int64, args []int64) (int64, error) {
	if m.Helper != nil {
		if result, known, err := m.Helper(helper, args); known || err != nil {
			return result, err
		}
	}
	switch helper {
	case HelperKtime, HelperProcessorID:
		return 1, nil
	case HelperMapLookup:
		key, err := m.load(args[1], 4)
		if err != nil || uint32(key) != 0 {
			return 0, err
		}
		return args[0], nil
	case HelperMapUpdate:
		return m.update(args)
	case HelperProbeReadKernel:
		src, err := m.at(args[2], int(args[1]))
		if err != nil {
			return 0, err
		}
		dst, err := m.at(args[0], int(args[1]))
		copy(dst, src)
		return 0, err
	}
	return 0, fmt.Errorf("unknown helper %d", helper)
}

// update is bpf_map_update_elem on an array of one entry.
func (m *Machine) update(args []int64) (int64, error) {
	const e2big, eexist, noexist = 7, 17, 1
	key, err := m.load(args[1], 4)
	if err != nil {
		return 0, err
	}
	i := int(args[0]>>40) - 1
	if i < 0 || i >= len(m.regions) || m.regions[i].base != args[0] {
		return 0, fmt.Errorf("%#x is no map", args[0])
	}
	mem := m.regions[i].mem
	src, err := m.at(args[2], len(mem))
	switch {
	case err != nil:
		return 0, err
	case uint32(key) != 0:
		return -e2big, nil
	case args[3] == noexist:
		return -eexist, nil
	}
	copy(mem, src)
	return 0, nil
}
