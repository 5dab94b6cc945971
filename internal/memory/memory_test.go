package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for word, want := range map[string]uint64{"64M": 64 << 20, "1g": 1 << 30, "65536K": 64 << 20, "64MiB": 64 << 20,
		"67108864": 64 << 20} {
		if got, err := Parse(word); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", word, got, err, want)
		}
	}
	for _, word := range []string{"", "M", "x", "-1M", "1.5G", "64T", "3", "10M", "5000000000G"} {
		if got, err := Parse(word); err == nil {
			t.Errorf("%q: %d", word, got)
		}
	}
}

// What is asked for is refused if it is more than there is, and what can be had is not, though garbage is in the way.
func TestRoom(t *testing.T) {
	b := New(64<<20, nil)
	if err := b.Room(1 << 20); err != nil {
		t.Error(err)
	}
	garbage := make([]byte, 30<<20)
	runtime.KeepAlive(garbage)
	if err := b.Room(20 << 20); err != nil {
		t.Errorf("garbage is in the way: %v", err)
	}
	for _, n := range []uint64{41 << 20, 1 << 62} {
		if err := b.Room(n); err == nil || !strings.Contains(err.Error(), "--memory ") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// What lives after a collection is compared with the limit, and the collector gets room for what may be there.
func TestLiveIsWatched(t *testing.T) {
	over := make(chan bool, 1)
	b := New(64<<20, func() { over <- true })
	b.Begin()
	defer b.Close()
	if b.look(b.most); b.Over() || b.soft <= b.most {
		t.Errorf("over %v, the collector keeps to %d", b.Over(), b.soft)
	}
	kept := make([]byte, 64<<20)
	runtime.GC()
	<-over
	runtime.KeepAlive(kept)
	if !b.Over() || !strings.Contains(b.Err().Error(), "more than 40 MB: ") {
		t.Errorf("over %v, %v", b.Over(), b.Err())
	}
}

// The limits of a control group are those of all above it, too.
func TestLimitOfGroups(t *testing.T) {
	root := t.TempDir()
	for dir, text := range map[string]string{"a": "3000000\n", "a/b": "max\n", "a/b/c": "5000000\n", "d": "max\n"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "memory.max"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for group, want := range map[string]uint64{"/a/b/c": 3000000, "/a": 3000000, "/d": unlimited, "/": unlimited,
		"/none": unlimited} {
		if got := limitOf(root, group); got != want {
			t.Errorf("%s: %d, want %d", group, got, want)
		}
	}
}
