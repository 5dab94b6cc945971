package changes

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/startrace/startrace/internal/filewatch"
)

// A file began when it was renamed, where that was just before it was heard of: the time in which its calls are not
// seen is no shorter for a late word. What a link leads to can be older, and a time that lies behind the word is none.
func TestWhenFilesBegan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, c := range []struct {
		late  time.Duration
		known bool
	}{{500 * time.Millisecond, true}, {time.Hour, false}, {-time.Hour, false}} {
		heard := now.Add(c.late)
		r := replaced{filewatch.Change{Path: path}, heard}
		if began := r.began(); began.Equal(heard) == c.known || c.known && now.Sub(began).Abs() > 400*time.Millisecond {
			t.Errorf("heard %v later: it began %v before that", c.late, heard.Sub(began))
		}
	}
	missing := replaced{filewatch.Change{Path: path + ".none"}, now}
	if began := missing.began(); !began.Equal(now) {
		t.Errorf("without a file: %v", began)
	}
}
