package until

// Room, which lets in who takes memory.

// A Room lets in who takes so many bytes of memory for a while, once they are there. It is an error where they are not.
// Who was let in leaves when the memory is not needed any more. A nil Room lets in everybody.
type Room func(bytes uint64) (leave func(), err error)

// Enter asks for room.
func (r Room) Enter(bytes uint64) (leave func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	return r(bytes)
}
