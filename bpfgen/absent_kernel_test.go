package bpfgen

import (
	"testing"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
)

// What no program can read is FAULT, and not None, also where it becomes the length of a string, bytes, or an int that
// was a pointer. Each kind of FAULT has a tag, of which such values have only a part.
func TestUnreadableStaysFault(t *testing.T) {
	for name, kind := range map[string]int64{"a float": 0, "lost": tree.Lost, "not shown": tree.Unshown} {
		unreadable := func(of types.Type) *tree.Expr {
			return &tree.Expr{Op: tree.OpUnreadable, Type: of.OrFault(), Int: kind}
		}
		text := userString(0, 64)
		text.Args, text.Counted = append(text.Args, unreadable(types.I64)), true
		bytes := types.Type{Kind: types.Bytes, Cap: 8, MayNone: true, MayFault: true}
		word := types.I64.OrFault()
		word.MayNone = true
		pointer := types.Type{Kind: types.Ptr}
		nowhere := &tree.Expr{Op: tree.OpLoad, Type: pointer.OrFault(), Str: tree.User,
			Args: []*tree.Expr{arg(1, types.U64)}}
		values := []*tree.Expr{text, op(tree.OpConvert, bytes, unreadable(types.I64)),
			op(tree.OpConvert, word, unreadable(pointer)), op(tree.OpConvert, word, nowhere)}
		var asked []*tree.Expr
		for _, v := range values {
			asked = append(asked, op(tree.OpIsFault, types.Boolean, v), op(tree.OpIsNone, types.Boolean, v))
		}
		c, _ := load(t, evaluator(asked...), Options{})
		runStrings(t, c, "text") // argument 1 is 0, where nothing can be read
		for i, got := range cells(t, c, len(asked)) {
			if want := int64(1 - i%2); got != want {
				t.Errorf("%s, value %d: FAULT or None is %d, want %d", name, i/2, got, want)
			}
		}
	}
}

// Tags of all kinds of FAULT are, shifted, the flag of a string that says so.
func TestTagsAreFlags(t *testing.T) {
	for _, tag := range []uint16{wire.TagFault, wire.TagUnreadable, wire.TagLost, wire.TagUnshown} {
		if flags := tag << 14; flags != wire.RefFault {
			t.Errorf("tag %d is %#x as flags", tag, flags)
		}
	}
}
