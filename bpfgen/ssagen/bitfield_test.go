package ssagen

import (
	"math/rand/v2"
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
)

// A bit-field is read whole, at whatever distance from the address it lies, also in front of it.
func TestBitField(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		e := &tree.Expr{Int: rng.Int64N(256) - 128, Bit: uint8(rng.IntN(64))}
		e.BitSize = uint8(1 + rng.IntN(64-int(e.Bit)%8))
		off, size, shift := bitField(e)
		first, last := e.Int*8+int64(e.Bit), e.Int*8+int64(e.Bit)+int64(e.BitSize)-1
		if within := first>>6 == last>>6; !within {
			continue // no word of 8 bytes has it all
		}
		if off*8+int64(shift) != first || off*8+int64(size)*8 <= last || off%int64(size) != 0 {
			t.Fatalf("%d bits at bit %d of byte %d: %d bytes at %d, shifted by %d", e.BitSize, e.Bit, e.Int, size, off,
				shift)
		}
	}
}
