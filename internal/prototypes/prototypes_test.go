package prototypes

import (
	"debug/dwarf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/test/need"
)

// headers are those that have the functions of the table.
var headers = []string{"arpa/inet", "ctype", "dirent", "dlfcn", "fcntl", "fnmatch", "getopt", "glob", "grp", "iconv",
	"langinfo", "libintl", "locale", "malloc", "net/if", "netdb", "poll", "pthread", "pwd", "regex", "sched",
	"semaphore", "signal", "stdint", "stdio", "stdlib", "string", "sys/epoll", "sys/eventfd", "sys/file",
	"sys/inotify", "sys/ioctl", "sys/mman", "sys/mount", "sys/prctl", "sys/random", "sys/resource", "sys/sendfile",
	"sys/signalfd", "sys/socket", "sys/stat", "sys/statfs", "sys/statvfs", "sys/timerfd", "sys/uio", "sys/utsname",
	"sys/wait", "syslog", "time", "unistd"}

// TestAgainstHeaders lets compilers compare the table with the headers of the C library: a second declaration of a
// function must have the same type, and a function that no header has is an error, too. The sizes and signs of types
// with names are compared as well.
func TestAgainstHeaders(t *testing.T) {
	var b strings.Builder
	b.WriteString("#define _GNU_SOURCE\n")
	for _, h := range headers {
		fmt.Fprintf(&b, "#include <%s.h>\n", h)
	}
	for _, p := range All() {
		fmt.Fprintf(&b, "static void *use_%s = (void *)%s;\n", p.Name, p.Name) // declared before the table is there
	}
	b.WriteString(libc)
	for _, name := range names() {
		if n, ok := number(standsFor(name)); ok {
			fmt.Fprintf(&b, "\n_Static_assert(sizeof(%s) == %d && ((%s)-1 < 0) == %t, \"%s\");", name, n.Size, name,
				n.Signed, name)
		} else {
			fmt.Fprintf(&b, "\n_Static_assert(sizeof(%s) == 8, \"%s\");", name, name)
		}
	}
	in := filepath.Join(t.TempDir(), "table.c")
	if err := os.WriteFile(in, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"gcc", "clang"} {
		command := exec.Command(need.Program(t, compiler), "-std=gnu17", "-w", "-fsyntax-only", "-fno-builtin",
			"-Dtrue=1", "-Dfalse=0", in)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", compiler, err, out)
		}
	}
}

// names are the names of the table's types for which headers have other words.
func names() (out []string) {
	for _, p := range All() {
		for _, of := range append(p.Params, ctypes.Spelled{Type: p.Result}) {
			name := strings.TrimRight(of.Type, " *")
			if standsFor(name) != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// What is written is read as it stands in the table, by our reader and by debug/dwarf.
func TestSections(t *testing.T) {
	addresses := map[string]uint64{"unknown": 1}
	for i, p := range All() {
		if addresses[p.Name] != 0 {
			t.Errorf("%s stands there twice", p.Name)
		}
		addresses[p.Name] = uint64(0x1000 + 16*i)
	}
	sections := Sections(addresses)
	d, err := dwarfinfo.Open(sections, dwarfinfo.Others{})
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(name string) []byte {
		s, err := sections(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Bytes(0, s.Size)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	other, err := dwarf.New(bytes(".debug_abbrev"), nil, nil, bytes(".debug_info"), nil, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		u, err := d.UnitOf(addresses[p.Name])
		if err != nil || u == nil {
			t.Fatalf("%s: %v, %v", p.Name, u, err)
		}
		if got := written(t, other, addresses[p.Name]); got != fmt.Sprintf("%s %s %v", p.Result, p.Name, p.Params) {
			t.Errorf("%v is read as %s", p, got)
		}
	}
	if Sections(map[string]uint64{"unknown": 1}) != nil {
		t.Error("a library without any function of the table has debug information")
	}
}

// written is the function at an address as debug/dwarf reads it.
func written(t *testing.T, d *dwarf.Data, addr uint64) string {
	t.Helper()
	typed := func(e *dwarf.Entry) string {
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return "void"
		}
		typ, err := d.Type(off)
		if err != nil {
			t.Fatal(err)
		}
		stars := 0
		for p, is := typ.(*dwarf.PtrType); is; p, is = typ.(*dwarf.PtrType) {
			typ, stars = p.Type, stars+1
		}
		name := typ.String()
		if _, is := typ.(*dwarf.FuncType); is {
			name = "function"
		}
		if s, is := typ.(*dwarf.StructType); is {
			name = s.StructName
		}
		return strings.TrimSpace(name + " " + strings.Repeat("*", stars))
	}
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			t.Fatal(err)
		}
		if e.Tag != dwarf.TagSubprogram || e.Val(dwarf.AttrLowpc) != addr {
			continue
		}
		params := []ctypes.Spelled{}
		for {
			p, err := r.Next()
			if err != nil || p.Tag == 0 {
				break
			}
			if p.Tag == dwarf.TagFormalParameter {
				params = append(params, ctypes.Spelled{Name: p.Val(dwarf.AttrName).(string), Type: typed(p)})
			}
		}
		i := slices.IndexFunc(All(), func(p ctypes.Prototype) bool { return p.Name == e.Val(dwarf.AttrName) })
		for k := range params { // a struct has no word before its name there
			if i >= 0 && k < len(All()[i].Params) && "struct "+params[k].Type == All()[i].Params[k].Type {
				params[k].Type = "struct " + params[k].Type
			}
		}
		result := typed(e)
		if i >= 0 && "struct "+result == All()[i].Result {
			result = "struct " + result
		}
		return fmt.Sprintf("%s %s %v", result, e.Val(dwarf.AttrName), params)
	}
}
