package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A C library with debug information is called as its headers say it, as one without: by their names, and also where
// glibc has a function in assembly or names an argument otherwise.
//
// > These names hold where the C library has debug information, too.
func TestNamesOfLibraryWithDebugInfo(t *testing.T) {
	const source = `#include <stdarg.h>
__attribute__((noinline)) int open(const char *file, int oflag, ...) { return file[0] + oflag; }
__attribute__((noinline)) int own(int first, int second) { return first + second; }
__asm__(".globl mkdir\n.type mkdir, %function\nmkdir: ret\n.size mkdir, .-mkdir\n");
`
	const want = "open e.args.pathname e.args.flags\nmkdir e.args.pathname e.args.mode\n" +
		"own e.args.first e.args.second\n"
	for _, flags := range []string{"-g -O2", "-g -O0"} {
		library := need.Built(t, "gcc -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 "+flags, "libc.c", source)
		got := ""
		for _, name := range []string{"open", "mkdir", "own"} {
			got += name
			for line := range strings.Lines(startrace(t, "list", "-v", "ufunc:"+library+":"+name).ok(t).stdout) {
				arg, _, ok := strings.Cut(strings.TrimSpace(line), ":")
				if ok && strings.HasPrefix(arg, "e.args.") {
					got += " " + arg
				}
			}
			got += "\n"
		}
		if got != want {
			t.Errorf("%s:\n%swant\n%s", flags, got, want)
		}
	}
}
