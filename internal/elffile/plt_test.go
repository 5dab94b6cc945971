package elffile_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/test/need"
)

// stubLabel is a label of objdump's at an entry of a procedure linkage table.
var stubLabel = regexp.MustCompile(`(?m)^([0-9a-f]{16}) <([^>+-]+)@plt>:`)

// The entries of procedure linkage tables have the names that objdump gives them.
func TestStubs(t *testing.T) {
	const source = `
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) { return strlen(getenv(argv[0])) + getpid() + getppid(); }
`
	paths := []string{"/bin/bash", "/usr/bin/perl", "/usr/bin/gdb", "/lib/x86_64-linux-gnu/libcrypto.so.3"}
	for _, path := range paths {
		if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
			checkStubs(t, "objdump", path)
		}
	}
	for _, c := range []struct{ command, objdump string }{
		{"gcc -O1 -Wl,-z,lazy", "objdump"}, {"gcc -O1 -fcf-protection=full -Wl,-z,ibtplt", "objdump"},
		{"gcc -O1 -Wl,-z,now", "objdump"}, {"aarch64-linux-gnu-gcc -O1", "aarch64-linux-gnu-objdump"},
		{"aarch64-linux-gnu-gcc -O1 -mbranch-protection=standard -Wl,-z,force-bti", "aarch64-linux-gnu-objdump"},
	} {
		t.Run(c.command, func(t *testing.T) {
			checkStubs(t, c.objdump, need.Built(t, c.command, "stubs.c", source))
		})
	}
}

func checkStubs(t *testing.T, objdump, path string) {
	t.Helper()
	text, err := exec.Command(need.Program(t, objdump), "-d", "--no-show-raw-insn", "-j.plt", "-j.plt.got",
		"-j.plt.sec", path).Output()
	if err != nil && len(text) == 0 {
		t.Fatal(err)
	}
	f, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[uint64]string{}
	for _, fn := range elffile.Stubs(f) {
		got[fn.Addr] = fn.Name
	}
	n := 0
	for _, m := range stubLabel.FindAllStringSubmatch(string(text), -1) {
		addr, err := strconv.ParseUint(m[1], 16, 64)
		if want := m[2] + "@plt"; err != nil || got[addr] != want {
			t.Errorf("%s: at %#x is %q, want %q", path, addr, got[addr], want)
		}
		n++
	}
	if n == 0 {
		t.Errorf("%s: objdump names no entry", path)
	}
}
