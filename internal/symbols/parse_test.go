package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/startrace/startrace/internal/mapping"
)

func TestFind(t *testing.T) {
	f := &file{}
	for _, fn := range []struct {
		offset uint64
		size   uint32
		name   string
	}{{0x1000, 0x10, "first"}, {0x1020, 0x20, "second"}, {0x1400, 0, "assembly"}} {
		f.functions = append(f.functions, function{fn.offset, fn.size, uint32(len(f.names))})
		f.names = append(append(f.names, byte(len(fn.name)), 0), fn.name...)
	}
	for off, want := range map[uint64]string{
		0x1000: "first+0", 0x100f: "first+15", 0x1010: "", 0x1020: "second+0", 0x103f: "second+31", 0x1040: "",
		0x14f0: "assembly+240", 0xfff: "",
	} {
		got := ""
		if name, start, ok := f.find(off); ok {
			got = fmt.Sprintf("%s+%d", name, off-start)
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", off, got, want)
		}
	}
}

func TestPerfMap(t *testing.T) {
	m := perfMap{functions: parsePerfMap("1000 20 first with blanks\n0x1010 0x8 inner\n1000 10 again\nbroken\n" +
		"ffffffffffffffff 10 over\n3000 0 empty\n4000 10 \n2000 10 half")}
	for addr, want := range map[uint64]string{0x1000: "again", 0x100f: "again", 0x1010: "inner",
		0x1018: "first with blanks", 0x1020: "", 0x2000: "", 0x3000: "", 0x4000: "", 0: ""} {
		if got, _ := m.find(addr); got.name != want {
			t.Errorf("%#x: got %q, want %q", addr, got.name, want)
		}
	}
}

// The file of the process's own number, in its own /tmp; it grows.
func TestCompiled(t *testing.T) {
	proc, root := t.TempDir(), t.TempDir()
	dir := fake(t, proc, "1", "7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n")
	perf := filepath.Join(root, "tmp/perf-3.map")
	write := func(text string) {
		if err := os.WriteFile(perf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(perf), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	table := Namer{processes: processes{proc: proc}}
	if got := table.Name(7, 0x7f0000001010); got != "0x7f0000001010" {
		t.Errorf("without a file: %s", got)
	}
	write("7f0000001000 20 jit one\n")
	if got := table.Frame(7, 0x7f0000001010); got.String() != "jit one+0x10" {
		t.Errorf("got %v", got)
	}
	write("7f0000001000 20 jit one\n7f0000001100 20 jit two\n")
	if got := table.Name(7, 0x7f0000001110); got != "jit two" {
		t.Errorf("grown: got %s", got)
	}
	if len(table.Lost) > 0 {
		t.Errorf("said %q", table.Lost)
	}
	// > Of a larger file than 64 MB the beginning is read, and the end of the run says so.
	write("7f0000001000 20 jit one\n7f0000001100 20 jit two, again\n")
	if err := os.Truncate(perf, maxPerfMap+1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := table.Name(7, 0x7f0000001210); got != "0x7f0000001210" {
			t.Errorf("cut: got %s", got)
		}
	}
	want := []string{"the stacks of one process lack names: of /tmp/perf-3.map only the first 64 MB are read"}
	if !slices.Equal(table.Lost, want) {
		t.Errorf("cut: said %q, want %q", table.Lost, want)
	}
	if got := table.Name(7, 0x7f0000001110); got != "jit two, again" {
		t.Errorf("cut: got %s", got)
	}
}

// The file is read also if the process has just ended, in our own folder: if it lived in another, that one is somebody
// else's.
func TestCompiledEnded(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, whose file is believed of a process that has ended")
	}
	const pid = 1 << 30 // no process has that number
	perf := fmt.Sprintf("/tmp/perf-%d.map", pid)
	if err := os.WriteFile(perf, []byte("1000 20 made\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(perf) })
	for want, p := range map[string]*Process{"made": {looked: true}, "anon+0x10": {looked: true, foreign: true}} {
		p.pid, p.proc, p.over = pid, t.TempDir(), true
		p.maps = []area{{Mapping: mapping.Mapping{Start: 0x1000, End: 0x2000, Code: true, Path: "//anon"}}}
		if got := (&Namer{}).Stack(p, []uint64{0x1010}, nil)[0].Name(); got != want {
			t.Errorf("%+v: got %s, want %s", p, got, want)
		}
	}
}

// A file of another user is not believed, nor one behind a link.
func TestCompiledOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give files away")
	}
	proc, root := t.TempDir(), t.TempDir()
	dir := fake(t, proc, "1", "7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n")
	perf := filepath.Join(root, "tmp/perf-3.map")
	steps := []error{
		os.MkdirAll(filepath.Dir(perf), 0o700), os.WriteFile(perf, []byte("7f0000001000 20 lie\n"), 0o600),
		os.Symlink(root, filepath.Join(dir, "root")), os.Chown(perf, 12345, 12345),
	}
	for _, err := range steps {
		if err != nil {
			t.Fatal(err)
		}
	}
	name := func() string { return (&Namer{processes: processes{proc: proc}}).Name(7, 0x7f0000001010) }
	if got := name(); got != "0x7f0000001010" {
		t.Errorf("of another user: %s", got)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "lie" {
		t.Errorf("of the process's user: %s", got)
	}
	if err := os.Rename(perf, perf+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(perf+"2", perf); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "0x7f0000001010" {
		t.Errorf("behind a link: %s", got)
	}
}

func TestIdentity(t *testing.T) {
	const stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 22 23 24 25 26 27 28 29\n"
	if got, ok := parseIdentity(stat); !ok || got != (identity{"22", "26", "27", "28"}) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, text := range []string{"", "7", "7 (a) S 1 2"} {
		if got, ok := parseIdentity(text); ok {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	if is, ok := readIdentity("/proc/self"); !ok || is.ended() {
		t.Errorf("our own: %+v, %v", is, ok)
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add("1000 20 first with blanks\n0x1010 0x8 inner\n", uint64(0x1011))
	f.Fuzz(func(t *testing.T, text string, addr uint64) {
		m := perfMap{functions: parsePerfMap(text)}
		if fn, ok := m.find(addr); ok && (addr < fn.start || addr-fn.start >= fn.size || fn.name == "") {
			t.Errorf("%#x: got %+v", addr, fn)
		}
	})
}

func FuzzIdentity(f *testing.F) {
	f.Add("7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 22 23 24 25 26 27 28 29\n")
	f.Fuzz(func(t *testing.T, text string) {
		if is, ok := parseIdentity(text); ok && is.started == "" {
			t.Errorf("%q: got %+v", text, is)
		}
	})
}
