package value

import (
	"encoding/binary"
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// What a label of a stack means is read from the stack. What it does not have is None.
func TestStackView(t *testing.T) {
	d := &Decoder{Stacks: someStacks}
	for _, test := range []struct {
		id          uint64
		label, want string
	}{
		{7, "frame:0", "vfs_write+0x1"}, {7, "frame:2", "a;b"}, {7, "frame:3", "None"}, {2, "frame:0", "None"},
		{7, "frame.name:1", `"nft_do"`}, {7, "frame.module:1", `"nf_tables"`}, {7, "frame.module:0", "None"},
		{7, "frame.offset:1", "32"}, {7, "frame.addr:0", "257"}, {7, "frame.name:9", "None"},
		{7, "len", "3"}, {2, "len", "0"}, {7, "frame.nothing:0", "None"}, {7, "frame:x", "None"},
	} {
		raw := binary.NativeEndian.AppendUint64(nil, test.id)
		v := d.scalar(&wire.Type{Kind: wire.StackID, Label: test.label, Size: 8, TagOff: -1}, raw)
		if v.String() != test.want {
			t.Errorf("%s of stack %d: got %s, want %s", test.label, test.id, v, test.want)
		}
	}
}
