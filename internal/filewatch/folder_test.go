package filewatch

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that is removed and made anew is another one, also where those on the way are made anew with it, and where
// this happens before anybody looks.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	above := filepath.Join(dir, "a", "b")
	path := filepath.Join(above, "c")
	must(t, os.MkdirAll(path, 0o755))
	first := inodeOf(path)
	f, err := WatchFolder(path, first)
	must(t, err)
	heard := make(chan uint64)
	go func() {
		defer close(heard)
		for {
			inode, err := f.Next()
			if err != nil {
				return
			}
			heard <- inode
		}
	}()
	for range 3 {
		must(t, os.Rename(path, filepath.Join(dir, "moved"))) // so that the new one has another number
		if got := <-heard; got != 0 {
			t.Errorf("moved away: got %d", got)
		}
		must(t, os.Mkdir(path, 0o755))
		if got := <-heard; got != inodeOf(path) || got == 0 {
			t.Errorf("made anew: got %d, want %d", got, inodeOf(path))
		}
		must(t, os.Remove(filepath.Join(dir, "moved")))
	}
	must(t, os.RemoveAll(filepath.Join(dir, "a")))
	if got := <-heard; got != 0 {
		t.Errorf("removed with what it was in: got %d", got)
	}
	must(t, os.MkdirAll(path, 0o755))
	if got := <-heard; got != inodeOf(path) {
		t.Errorf("made with what it is in: got %d, want %d", got, inodeOf(path))
	}
	must(t, f.Close())
	if got, more := <-heard; more {
		t.Errorf("after Close: got %d", got)
	}
}

// What has become of a folder before the first call of Next is told.
func TestFolderOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	must(t, os.Mkdir(path, 0o755))
	f, err := WatchFolder(path, inodeOf(path))
	must(t, err)
	defer f.Close()
	must(t, os.Remove(path))
	if got, err := f.Next(); got != 0 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}
