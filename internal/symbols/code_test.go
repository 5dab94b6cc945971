package symbols

import (
	"io"
	"os"
	"testing"

	"github.com/startrace/startrace/internal/mapping"
)

// What this process has mapped, with its program, which is the file that its path says, and can be opened.
func TestCode(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	var n Namer
	want, ok := n.File(program)
	if !ok {
		t.Fatalf("%s is no file", program)
	}
	found := false
	n.Code(os.Getpid(), func(m Mapped) {
		if !m.Code {
			t.Errorf("%+v is no code", m)
		}
		if m.Path != program {
			return
		}
		found = true
		if m.Dev == want.(fileVersion).dev && m.File != want { // else its file system shows other devices
			t.Errorf("the program is %+v, and its path %+v", m.File, want)
		}
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		first := make([]byte, 4)
		if _, err := io.ReadFull(f, first); err != nil || string(first) != "\x7fELF" {
			t.Errorf("opened %q: %v", first, err)
		}
	})
	if !found {
		t.Errorf("%s is not mapped", program)
	}
	if _, ok := n.File(t.TempDir()); ok {
		t.Error("a folder is a file")
	}
}

// Nothing is told of a process that has ended: whoever makes something of it would keep it for good.
func TestCodeOfEnded(t *testing.T) {
	table := told(t,
		mapping.Change{Kind: mapping.Executed, Time: 10, PID: 100},
		mappedAt(11, 100, code(0x1000, 0x2000, 0, "/bin/sh")),
	)
	count := func() (n int) {
		table.Code(100, func(Mapped) { n++ })
		return n
	}
	if n := count(); n != 1 {
		t.Errorf("%d mappings, want 1", n)
	}
	table.Tell(&mapping.Change{Kind: mapping.Ended, Time: 12, PID: 100})
	if n := count(); n != 0 {
		t.Errorf("%d mappings of a process that has ended", n)
	}
}

// The number of a device has its parts in four places.
func TestDeviceName(t *testing.T) {
	for dev, want := range map[uint64]string{0xfe00: "fe:00", 0x10300105: "01:10305"} {
		if got := deviceName(dev); got != want {
			t.Errorf("%#x: %s, want %s", dev, got, want)
		}
	}
}
