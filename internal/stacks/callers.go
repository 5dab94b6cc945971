package stacks

import (
	"slices"

	"github.com/startrace/startrace/starlark/value"
)

// Frames that stacks have in common are kept once.

// Stacks of a program have most of their callers in common, and all of them have few different frames. callers are the
// frames of many stacks, of which each has a number by which all of it is found again: that of its leaf. They are a
// tree whose root is where stacks begin, so that what stacks have in common is there once:
//
//	main run read     1 main, 2 run behind 1, 3 read behind 2
//	main run write    4 write behind 2
//
// The number 0 is that of no frames.
type callers struct {
	// frames are the different ones, and numbers where each of them is.
	frames  []value.Frame
	numbers map[value.Frame]uint32
	// calls are the frames of the tree by their numbers, from 1 on, and next has these numbers.
	calls []call
	next  map[call]uint32
}

// A call is a frame behind that of its caller.
type call struct{ caller, frame uint32 }

// add gives the number of a frame behind those that have one.
func (c *callers) add(caller uint32, f value.Frame) uint32 {
	if c.next == nil {
		c.numbers, c.next = map[value.Frame]uint32{}, map[call]uint32{}
	}
	frame, ok := c.numbers[f]
	if !ok {
		frame = uint32(len(c.frames))
		c.numbers[f] = frame
		c.frames = append(c.frames, f)
	}
	one := call{caller, frame}
	number, ok := c.next[one]
	if !ok {
		c.calls = append(c.calls, one)
		number = uint32(len(c.calls))
		c.next[one] = number
	}
	return number
}

// list gives the frames that have a number, the leaf first.
func (c *callers) list(number uint32) []value.Frame {
	depth := 0
	for at := number; at != 0; at = c.calls[at-1].caller {
		depth++
	}
	out := slices.Grow([]value.Frame{}, depth)
	for at := number; at != 0; at = c.calls[at-1].caller {
		out = append(out, c.frames[c.calls[at-1].frame])
	}
	return out
}
