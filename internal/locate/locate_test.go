package locate

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
)

// tree makes files below a folder: the text, a link ("→target"), or a small
// program ("ELF").
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "→"); ok {
			err = os.Symlink(target, path)
		} else if text == "ELF" {
			err = os.WriteFile(path, header(), 0o755)
		} else {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// header is an ELF file of amd64 without anything.
func header() []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(b[16:], uint16(elf.ET_DYN))
	binary.LittleEndian.PutUint16(b[18:], uint16(elf.EM_X86_64))
	binary.LittleEndian.PutUint32(b[20:], 1)
	binary.LittleEndian.PutUint16(b[52:], 64)
	binary.LittleEndian.PutUint16(b[54:], 56)
	binary.LittleEndian.PutUint16(b[58:], 64)
	return b
}

type lib struct {
	flags        uint32
	soname, path string
	hwcap        uint64
}

// newCache writes a cache of the new form, oldCache one of the old.
func newCache(libs []lib) []byte {
	out := append([]byte(newMagic), make([]byte, newHeader-len(newMagic))...)
	binary.LittleEndian.PutUint32(out[len(newMagic):], uint32(len(libs)))
	out[orderPlace] = orderLittle
	texts, start := "", newHeader+len(libs)*newEntry
	for _, l := range libs {
		for _, word := range []uint32{l.flags, uint32(start + len(texts)),
			uint32(start + len(texts) + len(l.soname) + 1), 0} {
			out = binary.LittleEndian.AppendUint32(out, word)
		}
		out = binary.LittleEndian.AppendUint64(out, l.hwcap)
		texts += l.soname + "\x00" + l.path + "\x00"
	}
	return append(out, texts...)
}

func oldCache(libs []lib) []byte {
	out := append([]byte(oldMagic), make([]byte, oldHeader-len(oldMagic))...)
	binary.LittleEndian.PutUint32(out[12:], uint32(len(libs)))
	texts := ""
	for _, l := range libs {
		for _, word := range []uint32{l.flags, uint32(len(texts)), uint32(len(texts) + len(l.soname) + 1)} {
			out = binary.LittleEndian.AppendUint32(out, word)
		}
		texts += l.soname + "\x00" + l.path + "\x00"
	}
	return append(out, texts...)
}

var someLibs = []lib{
	{0x0303, "libssl.so.3", "/lib/libssl.so.3", 0}, {0x0303, "libssl.so.1.1", "/lib/libssl.so.1.1", 0},
	{0x0303, "libssl.so.3", "/lib/glibc-hwcaps/libssl.so.3", 1 << 62}, {0x0a03, "libssl.so.9", "/arm/libssl.so.9", 0},
	{0x0003, "libc.so.6", "/lib32/libc.so.6", 0}, {0x0303, "libc.so.6", "/lib/libc.so.6", 0},
	{0x0303, "libcrypto.so.3", "/lib/libcrypto.so.3", 0},
}

func TestCache(t *testing.T) {
	old := oldCache([]lib{{0x0303, "libssl.so.0", "/old", 0}})
	pad := make([]byte, (8-(oldHeader+oldEntry)%8)%8)
	both := append(append(append([]byte{}, old[:oldHeader+oldEntry]...), pad...), newCache(someLibs)...)
	for form, data := range map[string][]byte{"new": newCache(someLibs), "both": both, "old": oldCache(someLibs[:2])} {
		c, err := parseCache(data)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if e, ok := c.find("ssl", elf.EM_X86_64); !ok || e.path != "/lib/libssl.so.3" {
			t.Errorf("%s: got %+v, %v", form, e, ok)
		}
		if e, ok := c.find("libssl.so.1.1", elf.EM_X86_64); !ok || e.path != "/lib/libssl.so.1.1" {
			t.Errorf("%s: got %+v, %v", form, e, ok)
		}
		if e, ok := c.find("absent", elf.EM_X86_64); ok {
			t.Errorf("%s: got %+v", form, e)
		}
	}
	c, err := parseCache(newCache(someLibs))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := c.find("ssl", elf.EM_AARCH64); !ok || e.path != "/arm/libssl.so.9" {
		t.Errorf("arm64: got %+v, %v", e, ok)
	}
	if e, ok := c.find("c", elf.EM_X86_64); !ok || e.path != "/lib/libc.so.6" {
		t.Errorf("c: got %+v, %v", e, ok)
	}
	for n := range both {
		if _, err := parseCache(both[:n]); err == nil {
			t.Errorf("%d bytes of %d are no error", n, len(both))
		}
	}
}

// The cache of this machine has the C library that this machine has.
func TestRealCache(t *testing.T) {
	data, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil {
		t.Skip("needs /etc/ld.so.cache:", err)
	}
	c, err := parseCache(data)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.find("c", elffile.Machine(runtime.GOARCH))
	for _, other := range []string{"amd64", "arm64"} {
		if _, foreign := c.find("c", elffile.Machine(other)); foreign && !ok {
			t.Skipf("needs a C library of %s: this machine's is of %s", runtime.GOARCH, other)
		}
	}
	if !ok || e.soname != "libc.so.6" {
		t.Fatalf("got %+v, %v", e, ok)
	}
	if loc, err := (&Finder{}).Find("c"); err != nil || loc.Name != e.path || loc.How != "by /etc/ld.so.cache" {
		t.Errorf("got %+v, %v, want %s", loc, err, e.path)
	}
}

func TestIsLibrary(t *testing.T) {
	for _, c := range []struct{ name, yes, no string }{
		{"c", "libc.so libc.so.6 libc-2.31.so ld-musl-x86_64.so.1 libc.musl-x86_64.so.1",
			"libcrypto.so.3 libc++.so.1 libc.a libc_malloc_debug.so"},
		{"libc", "libc.so.6 ld-musl-aarch64.so.1", "liblibc.so"},
		{"ssl", "libssl.so.3 libssl.so", "libssl3.so libssl.so3"},
		{"stdc++", "libstdc++.so.6", "libstdc.so.6"},
		{"pthread", "libpthread.so.0 libpthread-2.31.so", "libpthread-stubs.so"},
		{"libfoo.so.1", "libfoo.so.1", "libfoo.so.2 libfoo.so.1.2x"},
		{"ld-linux-x86-64", "ld-linux-x86-64.so.2", ""},
	} {
		for _, file := range strings.Fields(c.yes) {
			if !isLibrary(file, c.name) {
				t.Errorf("%s is %s", file, c.name)
			}
		}
		for _, file := range strings.Fields(c.no) {
			if isLibrary(file, c.name) {
				t.Errorf("%s is not %s", file, c.name)
			}
		}
	}
}

func TestNewer(t *testing.T) {
	for _, order := range []string{"libx.so.10 libx.so.9", "libx.so.1.10.2 libx.so.1.9", "libx.so.1.1 libx.so.1",
		"libx.so.1 libx.so", "libx.so.1.1b libx.so.1.1a"} {
		a, b, _ := strings.Cut(order, " ")
		if !newer(a, b) || newer(b, a) || newer(a, a) {
			t.Errorf("%s: %v, %v, %v", order, newer(a, b), newer(b, a), newer(a, a))
		}
	}
}

func TestFind(t *testing.T) {
	root := tree(t, map[string]string{
		"etc/ld.so.cache": string(newCache([]lib{{0x0303, "libcurl.so.4", "/usr/lib/libcurl.so.4", 0},
			{0x0303, "libgone.so.1", "/usr/lib/libgone.so.1", 0}})),
		"usr/lib/libcurl.so.4":    "→/opt/deep/libcurl.so.4.8", // from the root of the tree
		"opt/deep":                "→../store",
		"store/libcurl.so.4.8":    "ELF",
		"usr/lib/libm.so":         "/* GNU ld script */",
		"usr/lib/libm.so.6":       "ELF",
		"lib":                     "→usr/lib",
		"etc/ld-musl-x86_64.path": "/srv/lib\n/other",
		"srv/lib/libsrv.so.2":     "ELF",
		"srv/lib/libsrv.so.11":    "ELF",
		"usr/bin/curl":            "ELF",
		"usr/bin/tool":            "ELF",
		"usr/lib/loop":            "→loop",
	})
	f := &Finder{Root: root, Machine: elf.EM_X86_64, PathList: "relative:/usr/bin"}
	for _, c := range []struct{ name, path, known, also string }{
		{"curl", "store/libcurl.so.4.8", "/usr/lib/libcurl.so.4", "/usr/bin/curl"},
		{"libcurl", "store/libcurl.so.4.8", "/usr/lib/libcurl.so.4", ""},
		{"m", "usr/lib/libm.so.6", "/lib/libm.so.6", ""},
		{"srv", "srv/lib/libsrv.so.11", "/srv/lib/libsrv.so.11", ""},
		{"tool", "usr/bin/tool", "/usr/bin/tool", ""},
		{"/lib/libm.so.6", "usr/lib/libm.so.6", "/lib/libm.so.6", ""},
	} {
		got, err := f.Find(c.name)
		if err != nil || got.Path != filepath.Join(root, c.path) || got.Name != c.known || got.Also != c.also ||
			got.Root != root {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	t.Chdir(tree(t, map[string]string{"locate.go": "text"}))
	for name, want := range map[string]string{
		"crul": `did you mean "curl"?`, "gone": "give its path", "/no/such": "does not exist; there is no folder /no/",
		"./none":      "does not exist",
		"./locate.og": "does not exist; did you mean ./locate.go?",
	} {
		if got, err := f.Find(name); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if got, err := f.Find(""); err == nil {
		t.Errorf("got %+v", got)
	}
}

// Without a machine, ours is meant: the newer library for another one is passed over.
func TestMachine(t *testing.T) {
	other := header()
	binary.LittleEndian.PutUint16(other[18:], uint16(elf.EM_S390))
	ours := header()
	binary.LittleEndian.PutUint16(ours[18:], uint16(elffile.Machine(runtime.GOARCH)))
	root := tree(t, map[string]string{"lib/libodd.so.2": string(other), "lib/libodd.so.1": string(ours)})
	got, err := (&Finder{Root: root, PathList: "/none"}).Find("odd")
	if err != nil || got.Name != "/lib/libodd.so.1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A process in a tree of its own: what it has mapped, deleted files, its exe.
func TestMapped(t *testing.T) {
	root := tree(t, map[string]string{"usr/lib/libc.so.6": "ELF", "srv/a b/libodd.so": "ELF"})
	proc := tree(t, map[string]string{
		"7/maps": `00400000-00401000 r-xp 00000000 fe:00 9 /usr/bin/server
7f0000000000-7f0000001000 r--p 00000000 fe:00 10 /usr/lib/libssl.so.3
7f0000002000-7f0000003000 r-xp 00000000 fe:00 11 /usr/lib/libc.so.6
7f0000004000-7f0000005000 r-xp 00000000 fe:00 12 /usr/lib/libold.so.1 (deleted)
7f0000006000-7f0000007000 r-xp 00000000 fe:00 13 /srv/a b/libodd.so
7fff00000000-7fff00001000 r-xp 00000000 00:00 0 [vdso]
`,
		"7/exe": "→/usr/bin/server", "7/root": "→" + root,
	})
	f := &Finder{PID: 7, Machine: elf.EM_X86_64, PathList: "/none", proc: proc}
	inRoot := proc + "/7/root"
	for name, want := range map[string]string{
		"server": proc + "/7/exe", "c": inRoot + "/usr/lib/libc.so.6", "odd": inRoot + "/srv/a b/libodd.so",
		"old": proc + "/7/map_files/7f0000004000-7f0000005000", "/usr/lib/libc.so.6": inRoot + "/usr/lib/libc.so.6",
	} {
		if got, err := f.Find(name); err != nil || got.Path != want || got.Root != inRoot {
			t.Errorf("%s: got %+v, %v, want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]bool{"/usr/lib/libc.so.6": false, "/usr/lib/libold.so.1": true} {
		got := f.run(Location{Path: "new", Name: name})
		if got.Replaced != want || (got.Path == "new") == want {
			t.Errorf("%s was replaced: %+v", name, got)
		}
	}
	if got, err := f.Find("/usr/lib/libold.so.1"); err != nil || got.Root != inRoot || got.Replaced ||
		got.Path != proc+"/7/map_files/7f0000004000-7f0000005000" {
		t.Errorf("the path of a file that was removed: got %+v, %v", got, err)
	}
	if got, err := f.Find("ssl"); !errors.Is(err, ErrNotFound) ||
		!strings.Contains(err.Error(), "process 7 has not mapped one") {
		t.Errorf("mapped but not as code: %+v, %v", got, err)
	}
	f.PID = 8
	if _, err := f.Find("c"); err == nil || err.Error() != "there is no process 8" {
		t.Errorf("got %v", err)
	}
}

func TestRealProcess(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Skip("needs the program sleep:", err)
	}
	defer func() {
		if err := errors.Join(cmd.Process.Kill(), cmd.Wait()); err == nil {
			t.Error("the process was not killed")
		}
	}()
	f := &Finder{PID: cmd.Process.Pid}
	got, err := f.Find("sleep")
	if err != nil {
		t.Skip("needs a sleep that is a program of its own, not one name of busybox:", err)
	}
	want := fmt.Sprintf("/proc/%d/exe", f.PID)
	there, err := os.Stat(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	if exe, err := os.Stat(want); err != nil || !os.SameFile(there, exe) {
		t.Errorf("got %+v, want the file of %s (%v)", got, want, err)
	}
}

func FuzzCache(f *testing.F) {
	f.Add(newCache(someLibs))
	f.Add(oldCache(someLibs))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCache(data)
		if err != nil {
			return
		}
		if len(c.entries)*oldEntry > len(data) {
			t.Errorf("%d entries in %d bytes", len(c.entries), len(data))
		}
		c.find("c", elf.EM_X86_64)
	})
}

func FuzzNames(f *testing.F) {
	f.Add("libc.so.6", "c")
	f.Add("libx.so.99999999999999999999.a", "libx.so.1")
	f.Fuzz(func(t *testing.T, a, b string) {
		isLibrary(a, b)
		if newer(a, b) && newer(b, a) {
			t.Errorf("%q and %q are each newer", a, b)
		}
	})
}
