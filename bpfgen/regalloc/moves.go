package regalloc

import (
	"github.com/startrace/startrace/bpfgen/ir"
)

// Several moves that happen at once, ordered, with cycles broken.

// A place of a parallel move is a register, 0 to 9, or firstMem and the
// number of a spill slot.
type loc int

const (
	firstMem loc = numRegs
	nowhere  loc = -1
)

func (l loc) isMem() bool { return l >= firstMem }

// A transfer is one of several moves that happen at once: v goes to dst from
// src, or is made there if src is nowhere.
type transfer struct {
	dst, src loc
	v        *ir.Value
}

// A mover orders the transfers. Cycles are broken through a register that is
// not busy, or through a spill slot of the mover's own.
type mover struct {
	todo []transfer
	keep regs // registers that hold what must stay
	// spare gives the number of a slot for the exclusive use of the mover.
	spare func(which int) int
	steps []Step
}

// run emits all transfers.
func (m *mover) run() []Step {
	m.dropDone()
	for len(m.todo) > 0 {
		if !m.emitReady() {
			m.breakCycle()
		}
	}
	return m.steps
}

// dropDone drops the transfers of a place to itself; the place must stay.
func (m *mover) dropDone() {
	left := m.todo[:0]
	for _, t := range m.todo {
		if t.src != t.dst {
			left = append(left, t)
		} else if !t.dst.isMem() {
			m.keep |= bit(Reg(t.dst))
		}
	}
	m.todo = left
}

// blocked reports whether dst holds what another transfer needs.
func (m *mover) blocked(dst loc) bool {
	for _, t := range m.todo {
		if t.src == dst {
			return true
		}
	}
	return false
}

// emitReady emits the transfers whose target nothing needs. Those out of
// registers come first: they free registers.
func (m *mover) emitReady() bool {
	best := -1
	for i, t := range m.todo {
		if m.blocked(t.dst) {
			continue
		}
		if best < 0 || m.rank(t) < m.rank(m.todo[best]) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	t := m.todo[best]
	m.todo = append(m.todo[:best], m.todo[best+1:]...)
	m.transfer(t)
	if !t.dst.isMem() {
		m.keep |= bit(Reg(t.dst))
	}
	return true
}

// rank orders transfers: from a register to memory, between registers,
// memory to memory as long as registers may be free, the rest.
func (m *mover) rank(t transfer) int {
	fromReg := t.src >= 0 && !t.src.isMem()
	switch {
	case fromReg && t.dst.isMem():
		return 0
	case t.dst.isMem():
		return 1
	case fromReg:
		return 2
	}
	return 3
}

// transfer emits one transfer.
func (m *mover) transfer(t transfer) {
	if t.dst.isMem() && (t.src == nowhere || t.src.isMem()) {
		m.viaRegister(t)
		return
	}
	m.steps = append(m.steps, stepOf(t))
}

func stepOf(t transfer) Step {
	st := Step{Value: t.v, Dst: NoReg, Src: NoReg, Args: noArgs()}
	switch {
	case t.dst.isMem():
		st.Kind, st.Src, st.slot = Store, Reg(t.src), int(t.dst-firstMem)
	case t.src == nowhere:
		st.Kind, st.Dst = Make, Reg(t.dst)
	case t.src.isMem():
		st.Kind, st.Dst, st.slot = Load, Reg(t.dst), int(t.src-firstMem)
	default:
		st.Kind, st.Dst, st.Src = Move, Reg(t.dst), Reg(t.src)
	}
	return st
}

// idle gives a register that holds nothing that is needed.
func (m *mover) idle() Reg {
	busy := m.keep
	for _, t := range m.todo {
		if t.src >= 0 && !t.src.isMem() {
			busy |= bit(Reg(t.src))
		}
	}
	return (allRegs &^ busy).first()
}

// viaRegister moves to memory what is not in a register. If all registers
// are busy one of them is saved meanwhile.
func (m *mover) viaRegister(t transfer) {
	r := m.idle()
	saved := r == NoReg
	var slot loc
	if saved {
		r, slot = 0, firstMem+loc(m.spare(1))
		m.steps = append(m.steps, stepOf(transfer{dst: slot, src: loc(r)}))
	}
	m.steps = append(m.steps, stepOf(transfer{loc(r), t.src, t.v}), stepOf(transfer{t.dst, loc(r), t.v}))
	if saved {
		m.steps = append(m.steps, stepOf(transfer{dst: loc(r), src: slot}))
	}
}

// breakCycle moves what is in the target of a transfer out of the way.
func (m *mover) breakCycle() {
	dst := m.todo[0].dst
	var v *ir.Value
	for _, t := range m.todo {
		if t.src == dst {
			v = t.v
		}
	}
	to := loc(m.idle())
	if to == loc(NoReg) {
		to = firstMem + loc(m.spare(0))
	}
	m.transfer(transfer{to, dst, v})
	for i := range m.todo {
		if m.todo[i].src == dst {
			m.todo[i].src = to
		}
	}
}
