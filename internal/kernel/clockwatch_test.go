package kernel

import "testing"

// A watch of the clock ends when it is closed. (TestClockIsSet in test/accept sets the clock.)
func TestClockWatchEnds(t *testing.T) {
	w, err := WatchClock()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- w.Next() }()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a closed watch has news")
	}
}
