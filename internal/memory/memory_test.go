package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
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
	b := New(104<<20, nil)
	if err := b.Room(1 << 20); err != nil {
		t.Error(err)
	}
	garbage := make([]byte, 30<<20)
	runtime.KeepAlive(garbage)
	if err := b.Room(20 << 20); err != nil {
		t.Errorf("garbage is in the way: %v", err)
	}
	for n, want := range map[uint64]string{41 << 20: "or give it more: --memory ",
		1 << 62: " (there is no memory to give it more: --memory)"} {
		if err := b.Room(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// What lives after a collection is compared with the limit. The collector gets room for what may be there, but where
// the budget was asked for.
func TestLiveIsWatched(t *testing.T) {
	over := make(chan bool, 1)
	b := New(104<<20, func() { over <- true })
	b.Begin()
	defer b.Close()
	if b.look(1, b.most, b.most); b.Over() || b.soft != 80<<20 || b.most != 40<<20 {
		t.Errorf("over %v, the collector keeps to %d, values to %d", b.Over(), b.soft, b.most)
	}
	of := New(0, nil)
	of.Begin()
	defer of.Close()
	if of.look(1, of.soft, 2*of.soft); of.Over() || of.soft <= Default-outside {
		t.Errorf("over %v, the collector keeps to %d where no budget was asked for", of.Over(), of.soft)
	}
	kept := make([]byte, 64<<20)
	runtime.GC()
	<-over
	runtime.KeepAlive(kept)
	if !b.Over() || !strings.Contains(b.Err().Error(), "more than 40 MB: ") {
		t.Errorf("over %v, %v", b.Over(), b.Err())
	}
}

// What a run holds of events on their way is not what the values of the script take.
func TestBuffersAreNoValues(t *testing.T) {
	over := 0
	b := New(32<<20, func() { over++ })
	b.Holds(10 << 20)
	if b.look(1, b.most+9<<20, 64<<20); over != 0 {
		t.Error("events on their way count as values")
	}
	b.Pause()
	if b.look(2, 1<<40, 1<<41); over != 0 {
		t.Error("what compiles the script counts as values")
	}
	b.Holds(2 << 20)
	leave, err := b.Enter(8 << 20)
	if b.look(3, b.most+9<<20, 64<<20); over != 0 || err != nil {
		t.Error("what reads names for a while counts as values", err)
	}
	leave()
	if b.look(4, b.most+9<<20, 64<<20); over != 1 {
		t.Error("values beside events do not count")
	}
}

// What is kept of a script that was loaded is not what its values take, where they have a part of what was asked for.
func TestLoadedIsNoValue(t *testing.T) {
	over := 0
	b := New(32<<20, func() { over++ })
	loaded := b.Pause()
	kept := make([]byte, 16<<20)
	loaded()
	b.Holds(0)
	if b.look(1, b.most+15<<20, 64<<20); over != 0 {
		t.Error("what was loaded counts as values")
	}
	if b.look(2, b.most+20<<20, 64<<20); over != 1 {
		t.Error("values beside what was loaded do not count")
	}
	runtime.KeepAlive(kept)
}

// The first collection of a run is late. Behind it, and behind the run, the heap grows as before.
func TestFirstCollectionIsLate(t *testing.T) {
	const of = "gc/gogc:percent"
	before, want := read(of), uint64(atFirst)
	if before != usual { // GOGC is set
		want = before
	}
	for name, end := range map[string]func(*Budget){
		"collection": func(*Budget) { runtime.GC() },
		"end":        (*Budget).Close,
	} {
		b := New(0, func() {})
		b.Begin()
		if got := read(of); got != want {
			t.Errorf("%s: the heap grows by %d percent at first, want %d", name, got, want)
		}
		end(b)
		for deadline := time.Now().Add(time.Minute); read(of) != before; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the heap still grows by %d percent", name, read(of))
			}
		}
		b.Close()
	}
}

// Where the next collection would come at once, the collector gets room, though less is live than the budget has.
func TestCollectorHasRoom(t *testing.T) {
	for _, tt := range []struct{ live, goal, more uint64 }{
		{24 << 20, 24 << 20, 6 << 20}, {24 << 20, 28 << 20, 2 << 20}, {24 << 20, 30 << 20, 0}, {8 << 20, 16 << 20, 0},
	} {
		b := New(0, nil)
		b.Begin()
		before := b.soft
		if b.look(1, tt.live, tt.goal); b.soft != before+tt.more {
			t.Errorf("%d bytes are live, the next collection is at %d: %d more, want %d", tt.live, tt.goal,
				b.soft-before, tt.more)
		}
		b.Close()
	}
}

// The limits of a control group are those of all above it, too, in both versions. The root of a container has one, the
// root of a machine none; 1<<63 less a page is how version 1 says that there is none.
func TestLimitOfGroups(t *testing.T) {
	for _, limit := range []string{"memory.max", "memory.limit_in_bytes"} {
		none := map[string]string{"memory.max": "max\n", "memory.limit_in_bytes": "9223372036854771712\n"}[limit]
		tree := version1
		if limit == version2.limit {
			tree = version2
		}
		tree.root = t.TempDir()
		write := func(group, text string) {
			dir := filepath.Join(tree.root, group)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, limit), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		has := func(group string, want uint64) {
			if got := tree.boundOf(group).left; got != want {
				t.Errorf("%s of %s: %d, want %d", limit, group, got, want)
			}
		}
		for group, text := range map[string]string{"a": "3000000\n", "a/b": none, "a/b/c": "5000000\n", "d": none} {
			write(group, text)
		}
		has("/a/b/c", 3000000)
		has("/a", 3000000)
		for _, group := range []string{"/d", "/", "/none"} {
			has(group, unlimited)
		}
		write("/", "7000000\n")
		has("/docker/of/the/host", 7000000)
		has("/a", 3000000)
		for file, text := range map[string]string{tree.usage: "1900000\n",
			"memory.stat": "anon 5\n" + tree.cache[0] + " 300000\nhierarchical_memory_limit 9\n" + tree.cache[1] +
				" 100000\n"} {
			if err := os.WriteFile(filepath.Join(tree.root, "a", file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		has("/a/b/c", 1500000)
		write("a", "1000000\n")
		has("/a/b", 0)
	}
}

// The groups of a process are in one line for each tree.
func TestGroupIn(t *testing.T) {
	for line, want := range map[string]string{
		"0::/user.slice/x:y": "/sys/fs/cgroup /user.slice/x:y", "4:memory:/lxc": "/sys/fs/cgroup/memory /lxc",
		"5:cpu,memory:/": "/sys/fs/cgroup/memory /", "3:cpu,cpuacct:/a": "", "1:name=systemd:/a": "", "": "", "0:": "",
	} {
		got := ""
		if tree, group, ok := groupIn(line); ok {
			got = tree.root + " " + group
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// What runs at the end, after the values have taken too much, has a limit, too, and is ended each time it takes more. A
// collection from before does not end it.
func TestEndIsBounded(t *testing.T) {
	ended := 0
	b := New(104<<20, func() { ended++ })
	b.Renew()
	look := func(collection, live uint64, want int) {
		t.Helper()
		if b.look(collection, live, 2*live); ended != want {
			t.Errorf("%d bytes live at collection %d: ended %d times, want %d", live, collection, ended, want)
		}
	}
	look(1, b.most, 0)
	look(2, b.most+1, 1)
	b.Renew()
	seen := b.seen
	look(seen, 3*b.most, 1)
	look(seen+1, b.most+1, 1)
	look(seen+2, 3*b.most, 2)
	look(seen+3, 3*b.most, 3)
	if b.Renew(); b.limit > 3*b.most {
		t.Errorf("the limit has grown to %d, from %d", b.limit, b.most)
	}
}
