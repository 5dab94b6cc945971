package elffile

import (
	"debug/elf"
	"os/exec"
	"strings"
	"testing"
)

// Each function begins at a line of the source; cSource begins with an empty one.
func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, path, function, want string }{
		{"C", compile(t, "gcc", cSource, "-g", "-O0"), "shown", "main.c:3"},
		{"Go", compileGo(t, "amd64"), "main.add", "main.go:4"},
		{"without debug information", compile(t, "gcc", cSource), "shown", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(tt.path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			found, err := f.Lookup(tt.function)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Lines().At(found[0].Addr); !strings.HasSuffix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s at %q, want %q", tt.function, got, tt.want)
			}
		})
	}
}

// A file that was stripped has its lines in another one.
func TestLinesOfDebugFile(t *testing.T) {
	if _, err := exec.LookPath("objcopy"); err != nil {
		t.Skip("needs the program objcopy:", err)
	}
	path := compile(t, "gcc", cSource, "-g", "-O0")
	run(t, nil, "objcopy", "--only-keep-debug", path, path+".debug")
	run(t, nil, "objcopy", "--strip-debug", "--add-gnu-debuglink="+path+".debug", path)
	f, err := Open(path, Options{DebugDirs: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.elf.SectionByType(elf.SHT_SYMTAB) == nil || linesOf(f.elf).data != nil {
		t.Fatal("it was not stripped as the test wants it")
	}
	found, err := f.Lookup("shown")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Lines().At(found[0].Addr); !strings.HasSuffix(got, "main.c:3") {
		t.Errorf("at %q", got)
	}
}
