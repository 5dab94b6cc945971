package entryplace

import (
	"testing"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/location"
)

// The operations of the expressions below (DWARF 5, 7.7.1).
const (
	reg5, reg2, breg5, fbreg, cfa = 0x55, 0x52, 0x75, 0x91, 0x9c
	deref, piece, stackValue      = 0x06, 0x93, 0x9f
)

// Places at the entry of a function are those of the ABI, other registers, or where the ABI has nothing of the kind.
func TestJudge(t *testing.T) {
	in := func(name string) abi.Location {
		return abi.Location{Places: []abi.Place{{Where: abi.Register, Name: name, Bytes: 8}}}
	}
	onStack := func(off int) abi.Location {
		return abi.Location{Places: []abi.Place{{Where: abi.Stack, Off: off, Bytes: 8}}}
	}
	pair := abi.Location{Places: append(in("di").Places, in("si").Places...)}
	copied := in("di")
	copied.Indirect = true
	float := abi.Location{Places: []abi.Place{{Where: abi.Other, Name: "xmm0", Bytes: 8}}}
	for _, c := range []struct {
		what       string
		expression []byte
		by         abi.Location
		want       Verdict
	}{
		{"its register", []byte{reg5}, in("di"), Same},
		{"another register", []byte{reg2}, in("di"), Moved},
		{"a register for a place on the stack", []byte{reg2}, onStack(8), Silent},
		{"a value that is computed", []byte{breg5, 1, stackValue}, in("di"), Silent},
		{"below the frame", []byte{cfa, 0x23, 0, fbreg, 0x70}, in("di"), Silent},
		{"above the frame, of a register", []byte{fbreg, 8}, in("di"), Foreign},
		{"above the frame, of a float", []byte{fbreg, 0}, float, Foreign},
		{"its place on the stack", []byte{fbreg, 8}, onStack(16), Same},
		{"another place on the stack", []byte{fbreg, 0x20}, onStack(8), Foreign},
		{"a copy on the stack", []byte{fbreg, 0x6c}, onStack(8), Silent},
		{"the address of a value", []byte{breg5, 0}, in("di"), Foreign},
		{"the address of a value, stored", []byte{fbreg, 0x68, deref}, in("di"), Foreign},
		{"the address of a class", []byte{breg5, 0}, copied, Silent},
		{"one of two parts moved", []byte{reg5, piece, 8, reg2, piece, 8}, pair, Moved},
		{"one of two parts, where it is", []byte{reg5, piece, 8}, pair, Same},
		{"nowhere", nil, in("di"), Silent},
	} {
		frame := location.Anything("amd64")
		call := func() (*location.Expr, bool) { return &location.Expr{Op: location.Register, Name: callFrame}, true }
		frame.Base, frame.CFA = call, call
		if got := Judge(location.Of(c.expression, frame), c.by, 8); got != c.want {
			t.Errorf("%s: got %d, want %d", c.what, got, c.want)
		}
	}
}

// Parts without a place are gaps, whatever their expressions would need.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		expression []byte
		at, bytes  int
		gap        bool
	}{
		{[]byte{fbreg, 0x78, piece, 8}, 0, 8, false},
		{[]byte{fbreg, 0x78, piece, 8}, 8, 4, true},
		{[]byte{piece, 8, reg5, piece, 4}, 0, 8, true},
		{[]byte{piece, 8, reg5, piece, 4}, 8, 4, false},
		{[]byte{reg5}, 0, 8, false},
	} {
		found := false
		for _, g := range Gaps(location.Of(c.expression, location.Anything("amd64"))) {
			found = found || c.at < g[1] && c.at+c.bytes > g[0]
		}
		if found != c.gap {
			t.Errorf("%x: bytes %d to %d: gap %v, want %v", c.expression, c.at, c.at+c.bytes, found, c.gap)
		}
	}
}
