package layout

import (
	"encoding/binary"

	"github.com/startrace/startrace/internal/wire"
)

// Entries of the map that has the texts of names.

// NameText is where the text begins in an entry of tree.MapNames. Before it is a word: the flags of a string, which are
// 0 or wire.RefCut.
const NameText = 8

// NameSize is the size of an entry of tree.MapNames whose texts have so much room, the NUL included.
func NameSize(room int) int { return NameText + StringRoom(room) }

// NameRow is the entry of a name.
func NameRow(text string, room int) []byte {
	row := make([]byte, NameSize(room))
	if len(text) >= room {
		text = text[:room-1]
		binary.NativeEndian.PutUint64(row, wire.RefCut)
	}
	copy(row[NameText:], text)
	return row
}
