package mapping

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	const text = `559e0c29f000-559e0c2a1000 r--p 00000000 fe:00 1234                       /usr/bin/cat
559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234                       /usr/bin/cat
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 
7f0000001000-7f0000002000 r-xp 00001000 00:2a 77                         /srv/a b/lib  x.so (deleted)
7f0000003000-7f0000004000 r-xp 00001000 00:2a 78                         /srv/new\012line
7ffd1c1e0000-7ffd1c1e2000 r-xp 00000000 00:00 0                          [vdso]
broken r-xp
zz-10 r-xp 0 00:00 0
2000-1000 r-xp 0 00:00 0
`
	want := []Mapping{
		{Start: 0x559e0c29f000, End: 0x559e0c2a1000, Dev: "fe:00", Inode: 1234, Path: "/usr/bin/cat"},
		{Start: 0x559e0c2a1000, End: 0x559e0c2a5000, Offset: 0x2000, Code: true, Dev: "fe:00", Inode: 1234,
			Path: "/usr/bin/cat"},
		{Start: 0x7f0000000000, End: 0x7f0000001000, Code: true, Dev: "00:00"},
		{Start: 0x7f0000001000, End: 0x7f0000002000, Offset: 0x1000, Code: true, Dev: "00:2a", Inode: 77,
			Path: "/srv/a b/lib  x.so", Deleted: true},
		{Start: 0x7f0000003000, End: 0x7f0000004000, Offset: 0x1000, Code: true, Dev: "00:2a", Inode: 78,
			Path: "/srv/new\nline"},
		{Start: 0x7ffd1c1e0000, End: 0x7ffd1c1e2000, Code: true, Dev: "00:00", Path: "[vdso]"},
	}
	got := Parse(text)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if name := got[1].Range(); name != "559e0c2a1000-559e0c2a5000" {
		t.Errorf("in map_files it is %s", name)
	}
}

// Our own memory: this function is code of a file.
func TestRead(t *testing.T) {
	list, err := Read("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(reflect.ValueOf(TestRead).Pointer())
	for _, m := range list {
		if at >= m.Start && at < m.End {
			if !m.Code || !m.File() || m.Inode == 0 {
				t.Errorf("the code of this test lies in %+v", m)
			}
			return
		}
	}
	t.Errorf("no mapping has %#x", at)
}

func FuzzParse(f *testing.F) {
	f.Add("559e0c2a1000-559e0c2a5000 r-xp 00002000 fe:00 1234 /usr/bin/cat\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range Parse(text) {
			if m.End <= m.Start || m.Dev == "" {
				t.Errorf("got %+v", m)
			}
		}
	})
}
