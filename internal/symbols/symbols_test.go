package symbols

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseMappings(t *testing.T) {
	const text = `559e0c29f000-559e0c2a1000 r--p 00000000 fe:00 1234                       /usr/bin/cat
559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234                       /usr/bin/cat
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 
7f0000001000-7f0000002000 r-xp 00001000 00:2a 77                         /srv/a b/lib x.so (deleted)
7ffd1c1e0000-7ffd1c1e2000 r-xp 00000000 00:00 0                          [vdso]
broken r-xp
zz-10 r-xp 0 00:00 0
`
	want := []mapping{
		{0x559e0c2a1000, 0x559e0c2a5000, 0x2000, fileID{"fe:00", 1234}, "/usr/bin/cat"},
		{0x7f0000000000, 0x7f0000001000, 0, fileID{"00:00", 0}, ""},
		{0x7f0000001000, 0x7f0000002000, 0x1000, fileID{"00:2a", 77}, "/srv/a b/lib x.so (deleted)"},
		{0x7ffd1c1e0000, 0x7ffd1c1e2000, 0, fileID{"00:00", 0}, "[vdso]"},
	}
	if got := parseMappings(text); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestFind(t *testing.T) {
	f := &file{
		segments: []segment{{0x1000, 0x500, 0x401000}},
		funcs: []function{
			{0x401000, 0x10, "first"}, {0x401020, 0, "alias"}, {0x401020, 0x20, "second"}, {0x401400, 0, "assembly"},
		},
	}
	f.sort()
	for off, want := range map[uint64]string{
		0x1000: "first", 0x100f: "first", 0x1010: "", 0x1020: "second", 0x103f: "second", 0x1040: "",
		0x14f0: "assembly", 0x1500: "", 0xfff: "",
	} {
		if got, _ := f.find(off); got != want {
			t.Errorf("%#x: %q, want %q", off, got, want)
		}
	}
}

// A function of the C library in another process. (Test programs of Go have no
// symbols.)
func TestName(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Skip("needs the program sleep:", err)
	}
	pid := cmd.Process.Pid
	addr := libraryAddress(t, pid, "malloc")
	var table Table
	if got := table.Name(pid, addr+2); got != "malloc" {
		t.Errorf("%#x is %q, want malloc", addr, got)
	}
	if got := table.Name(pid, 16); got != "0x10" {
		t.Errorf("an address without a mapping is %q", got)
	}
	if err := errors.Join(cmd.Process.Kill(), cmd.Wait()); err == nil {
		t.Error("the process was not killed")
	}
	if got := table.Name(pid, addr); got != "malloc" {
		t.Errorf("after its end %#x is %q, want malloc", addr, got)
	}
}

// libraryAddress finds where a function of the C library lies in a process,
// by the start of the library's first mapping.
func libraryAddress(t *testing.T, pid int, name string) uint64 {
	t.Helper()
	for range 100 { // until the process has loaded it
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 6 || f[2] != "00000000" || !strings.Contains(f[5], "/libc") {
				continue
			}
			var start uint64
			if _, err := fmt.Sscanf(f[0], "%x-", &start); err != nil {
				t.Fatal(err)
			}
			return start + symbolValue(t, f[5], name)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Skip("needs a sleep that is linked dynamically")
	return 0
}

func symbolValue(t *testing.T, file, name string) uint64 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return 0
}

func FuzzMappings(f *testing.F) {
	f.Add("559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234 /usr/bin/cat\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseMappings(text) {
			if m.module() == "" {
				t.Errorf("no name in %v", m)
			}
		}
	})
}
