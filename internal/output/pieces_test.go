package output

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/startrace/startrace/internal/render"
)

// A pieces keeps what is written, and how long the longest piece of it is.
type pieces struct {
	bytes.Buffer
	longest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.longest = max(p.longest, len(b))
	return p.Buffer.Write(b)
}

// Many stacks are written in pieces, and are the same as those that are rendered at once.
func TestStacksInPieces(t *testing.T) {
	const stacks, depth = 3000, 30
	table := &render.Table{Name: "n", Kind: "count", Keyed: true, Columns: []render.Column{{Kind: "count"}}}
	for i := range stacks {
		var s render.Stack
		for at := range depth {
			text := fmt.Sprintf("function%d_%d", i, at)
			s.Frames = append(s.Frames, &render.Frame{Label: text, Text: text, Whole: text})
		}
		table.Rows = append(table.Rows, render.Row{Key: []render.Value{s}, Values: []render.Value{int64(i)}})
	}
	want, err := new(render.Printer).AppendTable(nil, table, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got pieces
	o := New(&got)
	if err := o.Table(table, render.Options{}); err != nil {
		t.Fatal(err)
	}
	o.Flush()
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes in pieces, %d at once", got.Len(), len(want))
	}
	if got.longest > 2*pieceSize {
		t.Errorf("a piece of %d bytes, want at most %d", got.longest, 2*pieceSize)
	}
}
