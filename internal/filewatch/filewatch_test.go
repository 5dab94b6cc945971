package filewatch

import (
	"os"
	"path/filepath"
	"testing"
)

// next gives the next change, which the test has made already.
func next(t *testing.T, w *Watch) Change {
	t.Helper()
	c, err := w.Next()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func watching(t *testing.T, paths ...string) *Watch {
	t.Helper()
	w, err := New()
	must(t, err)
	t.Cleanup(func() { _ = w.Close() }) // a test may have closed it
	for _, p := range paths {
		must(t, w.Add(p))
	}
	return w
}

// A name means another file after a rename, after the file was removed and written again, and where a link on its way
// has changed; a file that is written is the same.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	prog, other := filepath.Join(dir, "prog"), filepath.Join(dir, "other")
	write(t, prog, "one")
	write(t, other, "beside")
	w := watching(t, prog, prog)

	write(t, filepath.Join(dir, "new"), "two")
	must(t, os.Rename(filepath.Join(dir, "new"), prog))
	if got := next(t, w); got != (Change{prog, false}) {
		t.Errorf("renamed: %+v", got)
	}
	write(t, prog, "longer")
	if got := next(t, w); got != (Change{prog, true}) {
		t.Errorf("written: %+v", got)
	}
	must(t, os.Link(prog, filepath.Join(dir, "kept"))) // so that the next one has another inode
	must(t, os.Remove(prog))
	write(t, prog, "three")
	if got := next(t, w); got != (Change{prog, false}) {
		t.Errorf("removed and written: %+v", got)
	}
	must(t, os.Remove(prog))
	must(t, os.Symlink("other", prog))
	if got := next(t, w); got != (Change{prog, false}) {
		t.Errorf("a link: %+v", got)
	}
	write(t, other, "what the link leads to")
	if got := next(t, w); got != (Change{prog, true}) {
		t.Errorf("behind the link: %+v", got)
	}
}

// A folder of the name can be a link, as for releases beside each other.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	for _, release := range []string{"1", "2"} {
		must(t, os.MkdirAll(filepath.Join(dir, "releases", release), 0o755))
		write(t, filepath.Join(dir, "releases", release, "prog"), release)
	}
	current := filepath.Join(dir, "current")
	must(t, os.Symlink(filepath.Join("releases", "1"), current))
	path := filepath.Join(current, "prog")
	w := watching(t, path)
	must(t, os.Symlink(filepath.Join(dir, "releases", "2"), current+".new"))
	must(t, os.Rename(current+".new", current))
	if got := next(t, w); got != (Change{path, false}) {
		t.Errorf("got %+v", got)
	}
}

// What is not there cannot be watched, and Close ends Next.
func TestEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "some")
	w := watching(t, file)
	if err := w.Add(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file is watched")
	}
	ended := make(chan error)
	go func() {
		_, err := w.Next()
		ended <- err
	}()
	must(t, w.Close())
	if err := <-ended; err == nil {
		t.Error("Next went on")
	}
}
