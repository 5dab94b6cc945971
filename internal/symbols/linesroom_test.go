package symbols

import (
	"errors"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
)

// Debug information that there is no room for is not read, which is said once.
func TestLinesWithoutRoom(t *testing.T) {
	f, err := elffile.Open("/proc/self/exe", elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	asked := uint64(0)
	s := &sources{with: f, program: f, room: func(bytes uint64) (func(), error) {
		asked = bytes
		return nil, errors.New("no room")
	}}
	for range 3 {
		if calls := s.at(0x401000); calls != nil {
			t.Errorf("got %v", calls)
		}
	}
	if want := []string{"have no lines of the source: no room"}; !slices.Equal(s.lost, want) || asked == 0 {
		t.Errorf("got %q for %d bytes, want %q", s.lost, asked, want)
	}
}
