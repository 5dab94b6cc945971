package stacks

import (
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// Stacks that reports do not tell apart, as by offsets in a function, are one.

// A loop is run at many addresses, so a program of one function has many different stacks, which reports do not tell
// apart. merged keeps each stack as they show it once: those of the same functions are one, whichever process they are
// of. A function is known by its name and its file (or kernel module): two of one name in different files stay apart,
// and so do stacks of which one did not reach its beginning.
//
// Merged stacks have ids of their own, which no program gives: even ones.
type merged struct {
	frames callers
	// ids are those of merged stacks, and stacks these in the order of their ids.
	ids    map[mergedStack]uint64
	stacks []mergedStack
	// of has the ids of stacks that were asked for before, by their own.
	of map[uint64]uint64
}

// A mergedStack is a stack without what reports do not tell apart.
type mergedStack struct {
	// frames is the number of its frames.
	frames uint32
	// ending says why there are no more.
	ending
}

// Merged gives the id of the stack as reports show it.
func (n *Names) Merged(id uint64) uint64 {
	if id < wire.FirstStack || n.merged.at(id) != nil {
		return id
	}
	known, ok := n.merged.of[id]
	if !ok {
		before := n.late()
		stack := n.find(id)
		known = n.merged.add(stack, n.MergedFrame)
		if n.late() == before && len(stack.frames) > 0 { // else it can become another one
			n.merged.of[id] = known
		}
	}
	return known
}

// MergedFrame is a frame as reports show it: without what they do not tell apart.
func (n *Names) MergedFrame(f value.Frame) value.Frame {
	f.Addr, f.Source = 0, nil
	if !n.Addresses {
		f.Offset = 0
	}
	return f
}

// at is the merged stack with an id, nil where it is that of no merged one.
func (m *merged) at(id uint64) *mergedStack {
	if id < wire.FirstMerged || id%2 != 0 || (id-wire.FirstMerged)/2 >= uint64(len(m.stacks)) {
		return nil
	}
	return &m.stacks[(id-wire.FirstMerged)/2]
}

// add gives the id of a stack whose frames are shown as shown says.
func (m *merged) add(stack *namedStack, shown func(value.Frame) value.Frame) uint64 {
	if m.of == nil {
		m.ids, m.of = map[mergedStack]uint64{}, map[uint64]uint64{}
	}
	one := mergedStack{ending: stack.ending}
	for i := range stack.frames {
		one.frames = m.frames.add(one.frames, shown(stack.frames[len(stack.frames)-1-i]))
	}
	id, ok := m.ids[one]
	if !ok {
		id = wire.FirstMerged + 2*uint64(len(m.stacks))
		m.ids[one] = id
		m.stacks = append(m.stacks, one)
	}
	return id
}
