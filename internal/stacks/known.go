package stacks

// The stacks that were read last.

// known are stacks that were read last. A frame has some 120 bytes and its text, and is 8 in the table.
type known struct {
	of map[uint64]*namedStack // by their ids
	// frames is how many they have.
	frames int
}

// mostKnown is how many frames are remembered, of 2 MB.
const mostKnown = 1 << 14

// add keeps a stack. Where there are too many, the others go: whoever shows many stacks shows one after another.
func (k *known) add(id uint64, stack *namedStack) {
	if k.frames += len(stack.frames); k.frames > mostKnown {
		clear(k.of)
		k.frames = len(stack.frames)
	}
	k.of[id] = stack
}
