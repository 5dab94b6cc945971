package usdt

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// One note of a static probe (.note.stapsdt) parsed: provider, name, address, semaphore, arguments.

// note is the description of one:
//
//	address of the nop, of .stapsdt.base as it was linked, of the semaphore: 4 or 8 bytes each
//	provider, name, arguments: each ended by a zero
type note struct {
	// addr is the address of the nop and base that of .stapsdt.base, both as they were linked; semaphore is that of the
	// counter of users, 0 for none.
	addr, base, semaphore uint64
	// provider, name and args are the texts; args describes the operands, a word for each.
	provider, name, args string
}

var errShortNote = errors.New("a note is cut off")

func parseNote(desc []byte, order binary.ByteOrder, is32 bool) (n note, err error) {
	size := 8
	if is32 {
		size = 4
	}
	if len(desc) < 3*size {
		return n, errShortNote
	}
	for _, to := range []*uint64{&n.addr, &n.base, &n.semaphore} {
		if is32 {
			*to = uint64(order.Uint32(desc))
		} else {
			*to = order.Uint64(desc)
		}
		desc = desc[size:]
	}
	for _, to := range []*string{&n.provider, &n.name, &n.args} {
		text, rest, ended := bytes.Cut(desc, []byte{0})
		// The last zero may be cut off with the padding.
		if !ended && to != &n.args {
			return n, errShortNote
		}
		*to, desc = string(text), rest
	}
	if n.provider == "" || n.name == "" {
		return n, errors.New("a probe has no name")
	}
	return n, nil
}
