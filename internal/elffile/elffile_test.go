package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/naming"
)

// All ways to link: the bytes at the place in the file are the function's.
func TestFunctions(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-static"}, {"-static-pie", "-fPIE"},
		{"-shared", "-fPIC"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			path := compile(t, "gcc", cSource, append(flags, "-O0")...)
			f := open(t, path, Options{})
			fn := lookup(t, f, "hidden")
			if !fn.Local || fn.Size == 0 || fn.From != FromSymtab || fn.IFunc {
				t.Errorf("got %+v", fn)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			code, err := f.Code(fn.Addr, fn.Size)
			if err != nil || !bytes.Equal(code, whole[fn.Offset:fn.Offset+fn.Size]) || uint64(len(code)) != fn.Size {
				t.Errorf("%+v: % x, %v", fn, code, err)
			}
			if !endsByReturn(f, code) {
				t.Errorf("the function does not end by RET: % x", code)
			}
			if back, ok := f.Addr(fn.Offset); !ok || back != fn.Addr {
				t.Errorf("%#x is back %#x, %v", fn.Addr, back, ok)
			}
			if got, ok := f.At(fn.Addr + fn.Size - 1); !ok || got.Name != "hidden" {
				t.Errorf("at its end: %+v, %v", got, ok)
			}
			if got := f.Language(fn); got != LanguageC {
				t.Errorf("its language is %v", got)
			}
			if wantPIE := flags[0] != "-no-pie" && flags[0] != "-static"; f.PIE != wantPIE {
				t.Errorf("PIE: %v", f.PIE)
			}
		})
	}
}

func TestAliasesAndIFunc(t *testing.T) {
	f := open(t, compile(t, "gcc", cSource), Options{})
	fn := lookup(t, f, "twin")
	if got := f.Aliases(fn.Addr); !slices.Equal(got, []string{"shown", "twin", "__twin"}) {
		t.Errorf("got %q", got)
	}
	glob, err := naming.Compile("*twin")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Find(glob); err != nil || len(got) != 1 || got[0].Addr != fn.Addr {
		t.Errorf("one address is found %d times: %v", len(got), err)
	}
	if fn := lookup(t, f, "resolved"); !fn.IFunc {
		t.Errorf("got %+v", fn)
	}
	if _, err := f.Lookup("variable"); !errors.Is(err, ErrNoFunction) {
		t.Errorf("a variable: %v", err)
	}
	if _, err := f.Lookup("hiden"); err == nil || !strings.Contains(err.Error(), `did you mean "hidden"?`) {
		t.Errorf("a misspelling: %v", err)
	}
}

func TestDemangled(t *testing.T) {
	f := open(t, compile(t, "g++", cppSource), Options{})
	for pattern, want := range map[string]string{
		"ns::f*":             "ns::first(int) ns::first(double)",
		"ns::first":          "ns::first(int) ns::first(double)",
		"ns::first(int)":     "ns::first(int)",
		"_ZN2ns5firstEi":     "ns::first(int)",
		"*method*":           "ns::Thing::method(char const*) const",
		"ns::Thing::method":  "ns::Thing::method(char const*) const",
		"*generic<int>*":     "int ns::generic<int>(int)",
		"ns::{first,absent}": "ns::first(int) ns::first(double)",
		"ns::absent*":        "",
	} {
		glob, err := naming.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list, err := f.Find(glob)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, fn := range list {
			names = append(names, fn.Demangled())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	if list, err := f.Lookup("ns::first"); err != nil || len(list) != 2 {
		t.Errorf("overloaded: %+v, %v", list, err)
	}
	if _, err := f.Lookup("ns::frist"); err == nil || !strings.Contains(err.Error(), `"ns::first"`) {
		t.Errorf("a misspelling: %v", err)
	}
}

func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE": "core::fmt::Formatter::write_str",
		"_RNvC6_123foo3bar":      "123foo::bar",
		"_ZN2ns1fEi.cold":        "ns::f(int) [clone .cold]",
		"_ZN4shop4makeB5cxx11Ev": "shop::make()",
		"plain":                  "plain",
		"_Zbroken":               "_Zbroken",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := DemangleShort("_ZN2ns1fEi"); got != "ns::f" {
		t.Errorf("got %q", got)
	}
}

func TestStripped(t *testing.T) {
	need(t, "strip")
	path := compile(t, "gcc", cSource, "-Wl,--build-id=0xabcdef0123")
	run(t, nil, "strip", path)
	f := open(t, path, Options{})
	if _, err := f.Functions(); !errors.Is(err, ErrStripped) || !strings.Contains(err.Error(), "build id abcdef0123") {
		t.Errorf("got %v", err)
	}
	if _, err := f.Lookup("shown"); !errors.Is(err, ErrStripped) {
		t.Errorf("got %v", err)
	}
	library := compile(t, "gcc", cSource, "-shared", "-fPIC")
	run(t, nil, "strip", library)
	f = open(t, library, Options{})
	if fn := lookup(t, f, "shown"); fn.From != FromDynsym {
		t.Errorf("got %+v", fn)
	}
	if _, err := f.Lookup("hidden_away"); !errors.Is(err, ErrNoFunction) ||
		!strings.Contains(err.Error(), "it is stripped") {
		t.Errorf("got %v", err)
	}
}

// The separate file by its build id, below a root of its own, and by link; a
// file of another build is not taken.
func TestDebugFile(t *testing.T) {
	need(t, "strip", "objcopy")
	path := compile(t, "gcc", cSource, "-Wl,--build-id=0xabcdef0123")
	debug := path + ".debug"
	run(t, nil, "objcopy", "--only-keep-debug", path, debug)
	run(t, nil, "strip", path)
	root := t.TempDir()
	whole, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(root, "usr/lib/debug/.build-id/ab/cdef0123.debug")
	write(t, stored, whole)
	f := open(t, path, Options{Root: root})
	fn := lookup(t, f, "hidden")
	if fn.From != FromDebugFile || f.DebugFile() != stored {
		t.Errorf("got %+v from %s", fn, f.DebugFile())
	}
	if code, err := f.Code(fn.Addr, fn.Size); err != nil || !endsByReturn(f, code) {
		t.Errorf("% x, %v", code, err)
	}
	if f := open(t, path, Options{Root: t.TempDir()}); f.DebugFile() != "" {
		t.Errorf("found %s", f.DebugFile())
	}
	other := compile(t, "gcc", cSource, "-Wl,--build-id=0xabcdef9999")
	wrong, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	write(t, stored, wrong)
	if f := open(t, path, Options{Root: root}); f.DebugFile() != "" {
		t.Error("took the file of another build")
	}
}

func TestDebugLink(t *testing.T) {
	need(t, "strip", "objcopy")
	path := compile(t, "gcc", cSource, "-Wl,--build-id=none")
	debug := filepath.Join(filepath.Dir(path), ".debug", "program.debug")
	write(t, debug, nil)
	run(t, nil, "objcopy", "--only-keep-debug", path, debug)
	run(t, nil, "strip", path)
	run(t, nil, "objcopy", "--add-gnu-debuglink="+debug, path)
	f := open(t, path, Options{DebugDirs: []string{}})
	if fn := lookup(t, f, "hidden"); fn.From != FromDebugFile || f.DebugFile() != debug {
		t.Errorf("got %+v from %q", fn, f.DebugFile())
	}
	whole, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	write(t, debug, append(whole, 0)) // another checksum
	if f := open(t, path, Options{DebugDirs: []string{}}); f.DebugFile() != "" {
		t.Error("took a file with another checksum")
	}
}

func TestMiniDebug(t *testing.T) {
	need(t, "strip", "objcopy", "xz")
	path := compile(t, "gcc", cSource)
	mini := path + ".mini"
	run(t, nil, "objcopy", "--only-keep-debug", path, mini)
	run(t, nil, "objcopy", "-S", "--keep-symbol=hidden", "--keep-symbol=shown", mini)
	run(t, nil, "xz", mini)
	run(t, nil, "strip", path)
	run(t, nil, "objcopy", "--add-section=.gnu_debugdata="+mini+".xz", path)
	f := open(t, path, Options{DebugDirs: []string{}})
	if fn := lookup(t, f, "hidden"); fn.From != FromMiniDebug || fn.Size == 0 {
		t.Errorf("got %+v", fn)
	}
	run(t, nil, "objcopy", "--update-section=.gnu_debugdata="+path, path)
	if _, err := open(t, path, Options{DebugDirs: []string{}}).Functions(); !errors.Is(err, ErrStripped) ||
		!strings.Contains(err.Error(), ".gnu_debugdata") {
		t.Errorf("a broken section: %v", err)
	}
}

// Where memory is scarce, what a table takes is asked for before it is read: also for Go's, where there are no symbols.
func TestFunctionsMemory(t *testing.T) {
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}, {"-buildmode=pie", "-ldflags=-s -w"}} {
		f := open(t, compileGo(t, "amd64", flags...), Options{})
		asked := f.FunctionsMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.Functions(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// Of all that is allocated a part is garbage soon. For any file 1 MB is asked for, beside what it has.
		if took := after.TotalAlloc - before.TotalAlloc; took > 2*(asked-1<<20) {
			t.Errorf("%v: it asks for %d KB and allocates %d KB", flags, asked>>10, took>>10)
		}
		if n := f.FunctionsMemory(); n != 0 {
			t.Errorf("%v: it asks for %d KB for functions that were read", flags, n>>10)
		}
	}
}

func TestGolang(t *testing.T) {
	for _, c := range []struct {
		arch  string
		flags []string
		from  Origin
	}{
		{"amd64", nil, FromSymtab}, {"amd64", []string{"-ldflags=-s -w"}, FromGoTable},
		{"arm64", []string{"-ldflags=-s -w"}, FromGoTable},
		{"amd64", []string{"-buildmode=pie", "-ldflags=-s -w"}, FromGoTable},
	} {
		path := compileGo(t, c.arch, c.flags...)
		f := open(t, path, Options{})
		info, ok := f.Golang()
		if !ok || info.Version != runtime.Version() || !info.RegisterABI {
			t.Fatalf("%v: got %+v, want %s", c, info, runtime.Version())
		}
		for _, name := range []string{"main.add", "main.(*thing).method"} {
			fn := lookup(t, f, name)
			if fn.From != c.from || fn.Size == 0 || f.Language(fn) != LanguageGo {
				t.Errorf("%v: got %+v, %v", c, fn, f.Language(fn))
			}
			code, err := f.Code(fn.Addr, fn.Size)
			if err != nil {
				t.Fatal(err)
			}
			if c.arch == "amd64" && name == "main.add" && !bytes.HasPrefix(code,
				[]byte{0x48, 0x01, 0xd8, 0xc3}) { // ADDQ BX, AX; RET
				t.Errorf("%v: %s is % x", c, name, code)
			}
		}
	}
}

// C code stands before Go's; a stripped table must not be read from there.
func TestCgo(t *testing.T) {
	need(t, "go", "gcc")
	needOurGCC(t)
	for _, mode := range []string{"exe", "pie"} {
		for _, flags := range []string{"-linkmode=external", "-linkmode=external -s -w"} {
			if (mode == "pie" || testing.Short()) && !strings.Contains(flags, "-s") {
				continue // linking takes a second each
			}
			dir := t.TempDir()
			name, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
			write(t, name, []byte(strings.Replace(goSource, "package main",
				"package main\n// int twice(int a) { return a * 2; }\nimport \"C\"\nvar _ = C.twice(1)", 1)))
			env := []string{"CGO_ENABLED=1", "GOFLAGS=", "GO111MODULE=off", "GOARCH=" + runtime.GOARCH, "CC=" +
				ours("gcc")}
			run(t, env, "go", "build", "-buildmode="+mode, "-ldflags="+flags, "-o", out, name)
			f := open(t, out, Options{})
			fn := lookup(t, f, "main.add")
			code, err := f.Code(fn.Addr, fn.Size)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOARCH == "amd64" && !bytes.HasPrefix(code, []byte{0x48, 0x01, 0xd8, 0xc3}) { // ADDQ BX, AX; RET
				t.Errorf("%s %s: %+v is % x", mode, flags, fn, code)
			}
			if got := f.Language(fn); got != LanguageGo {
				t.Errorf("%s %s: main.add is %v", mode, flags, got)
			}
			if list, err := f.Lookup("twice"); err == nil && f.Language(list[0]) != LanguageC {
				t.Errorf("%s %s: twice is %v", mode, flags, f.Language(list[0]))
			}
		}
	}
}

func TestRegisterABI(t *testing.T) {
	for _, c := range []struct {
		release string
		magic   uint32
		machine elf.Machine
		want    bool
	}{
		{"go1.16.15", goTableMagic116, elf.EM_X86_64, false}, {"go1.17", goTableMagic116, elf.EM_X86_64, true},
		{"go1.17.5", goTableMagic116, elf.EM_AARCH64, false}, {"go1.18", goTableMagic118, elf.EM_AARCH64, true},
		{"", goTableMagic120, elf.EM_X86_64, true}, {"devel", goTableMagic12, elf.EM_X86_64, false},
		{"go1.26.1", goTableMagic120, elf.EM_386, false},
	} {
		if got := registerABI(c.release, c.magic, c.machine); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, []byte(text))
		return path
	}
	for _, c := range []struct {
		path string
		want error
		text string
	}{
		{filepath.Join(dir, "absent"), fs.ErrNotExist, "open the program"},
		{dir, ErrNotRegular, "is a folder"},
		{"/dev/null", ErrNotRegular, "is a device"},
		{file("empty", ""), ErrNotELF, "is empty"},
		{file("script", "#!/bin/sh\n"), ErrNotELF, "probe the interpreter"},
		{file("linker", "/* GNU ld script */"), ErrNotELF, "give the shared library"},
		{file("text", "hello world"), ErrNotELF, `"hello wo"`},
		{file("magic", "\x7fEL"), ErrTruncated, "3 bytes"},
		{file("header", "\x7fELF\x02\x01\x01"), ErrTruncated, "before its tables"},
		{file("class", "\x7fELF\x09"+strings.Repeat("\x00", 99)), ErrMalformed, "unknown ELF class"},
	} {
		f, err := Open(c.path, Options{})
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: got %v, want %v, %q", c.path, err, c.want, c.text)
		}
	}
}

func TestOtherMachine(t *testing.T) {
	path := compileGo(t, "arm64")
	_, err := Open(path, Options{Machine: Machine("amd64")})
	var wrong *ArchError
	if !errors.As(err, &wrong) || wrong.Have != elf.EM_AARCH64 ||
		!strings.Contains(err.Error(), "is for arm64 (aarch64), this machine runs amd64") {
		t.Errorf("got %v", err)
	}
}
