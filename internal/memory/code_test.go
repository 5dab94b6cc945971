package memory

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Of a program what nobody has changed is given back: no data, no page with a breakpoint, no other file.
func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-00401000 r-xp 00000000 fe:00 123456     /bin/a b
Size:               4 kB
Anonymous:          0 kB
VmFlags: rd ex mr mw me
00401000-00402000 r--p 00001000 fe:00 123456     /bin/a b
Anonymous:          4 kB
00402000-00403000 rw-p 00002000 fe:00 123456     /bin/a b
Anonymous:          0 kB
00403000-00404000 r--p 00000000 fe:00 123457     /lib/b
Anonymous:          0 kB
00405000-00407000 r--p 00003000 fe:00 123456     /bin/a b
Anonymous:          0 kB
7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0  [vdso]
Anonymous:          0 kB
`
	want := []mapped{{0x400000, 0x401000}, {0x405000, 0x407000}}
	if got := unchanged(smaps, "/bin/a b"); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Code and constants are no longer resident, and the program goes on with them.
func TestCodeIsGivenBack(t *testing.T) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	resident := func() (kb uint64) {
		text, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		own := false
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if !strings.HasSuffix(words[0], ":") {
				own = mappingOf(words, line, self) != mapped{}
			} else if own && words[0] == "Rss:" {
				n, _ := strconv.ParseUint(words[1], 10, 64)
				kb += n
			}
		}
		return kb
	}
	b := New(0, nil)
	b.Begin()
	defer b.Close()
	b.Loaded()
	before := resident()
	for b.loaded.Load() {
		runtime.GC() // which is what gives it back
	}
	if after := resident(); after >= before/2+512 {
		t.Errorf("%d KB of code and constants are resident, %d before", after, before)
	}
}
