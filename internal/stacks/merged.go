package stacks

import (
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// A loop is run at many addresses, so a program of one function has many different stacks, which reports do not tell
// apart. merged keeps each stack as they show it once: those of the same functions are one, whichever process they are
// of. A function is known by its name and its file (or kernel module): two of one name in different files stay apart,
// and so do stacks of which one did not reach its beginning.
//
// Merged stacks have ids of their own, which no program gives: even ones.
type merged struct {
	// next leads along the frames of a stack, the leaf first, to a number for these frames. 0 is that of no frames.
	next map[link]int
	// ids are those of merged stacks, by the number of their frames and why these end.
	ids map[ending]uint64
	// stacks are the merged ones in the order of their ids.
	stacks []*namedStack
	// of has the ids of stacks that were asked for before.
	of map[*namedStack]uint64
}

// A link is a frame behind those that have a number.
type link struct {
	before int
	frame  value.Frame
}

// An ending is all of a merged stack: the number of its frames, and why there are no more.
type ending struct {
	frames     int
	short      string
	unfinished bool
}

// Merged gives the id of the stack as reports show it.
func (n *Names) Merged(id uint64) uint64 {
	if id < wire.FirstStack || n.merged.at(id) != nil {
		return id
	}
	stack := n.find(id)
	known, ok := n.merged.of[stack]
	if !ok {
		known = n.merged.add(stack, n.MergedFrame)
		n.merged.of[stack] = known
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
func (m *merged) at(id uint64) *namedStack {
	if id < wire.FirstMerged || id%2 != 0 || (id-wire.FirstMerged)/2 >= uint64(len(m.stacks)) {
		return nil
	}
	return m.stacks[(id-wire.FirstMerged)/2]
}

// add gives the id of a stack whose frames are shown as shown says.
func (m *merged) add(stack *namedStack, shown func(value.Frame) value.Frame) uint64 {
	if m.of == nil {
		m.next, m.ids, m.of = map[link]int{}, map[ending]uint64{}, map[*namedStack]uint64{}
	}
	frames, all := make([]value.Frame, len(stack.frames)), 0
	for i, f := range stack.frames {
		frames[i] = shown(f)
		to := link{all, frames[i]}
		if m.next[to] == 0 {
			m.next[to] = len(m.next) + 1
		}
		all = m.next[to]
	}
	end := ending{all, stack.short, stack.unfinished}
	id, ok := m.ids[end]
	if !ok {
		id = wire.FirstMerged + 2*uint64(len(m.stacks))
		m.ids[end] = id
		m.stacks = append(m.stacks, &namedStack{frames: frames, short: stack.short, unfinished: stack.unfinished})
	}
	return id
}
