package python

import (
	"testing"

	"github.com/startrace/startrace/internal/wire"
)

// All that is read of a frame lies in the words that walks read of it at once, in each version.
func TestFrameWords(t *testing.T) {
	for minor, r := range releases {
		if end := max(r.code+8, r.previous+8, r.place+8, r.mark+1); end > 8*wire.PythonFrameWords {
			t.Errorf("3.%d: a frame is read up to byte %d, the walk reads %d", minor, end, 8*wire.PythonFrameWords)
		}
	}
}
