package accept

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// builtFrom compiles a program, whose stacks a test knows.
func builtFrom(t *testing.T, source, text string, command ...string) string {
	t.Helper()
	need.Program(t, command[0])
	dir := t.TempDir()
	source = filepath.Join(dir, source)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "prog")
	command = append(command, "-o", out, source)
	if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	return out
}

// boxes calls getppid by functions with long names.
const boxes = `
#include <unistd.h>
namespace shop {
template <class T> struct box {
	__attribute__((noinline)) T get(T n) { T r = getppid() + n; asm volatile(""); return r + 1; }
};
template <class T> __attribute__((noinline)) T total(box<T> b) { T r = b.get(1); asm volatile(""); return r + 1; }
}
int main() { return shop::total(shop::box<long>()) == 0; }
`

// > Names of C++ and Rust are shown in short: `std::vector::push_back` for
// > `std::vector<int, std::allocator<int> >::push_back(int const&)`.
// > With `--names full` they are shown whole.
func TestNamesOfFrames(t *testing.T) {
	bin := builtFrom(t, "boxes.cc", boxes, "g++", "-O1")
	for form, want := range map[string]string{
		"short": "main;shop::total;shop::box::get;getppid 1",
		"full":  "main;long_shop::total<long>(shop::box<long>);shop::box<long>::get(long);getppid 1",
	} {
		e := startrace(t, "-q", "--names", form, "stack", "tracepoint:syscalls:sys_enter_getppid", "--user-stacks",
			"--format", "folded", "-c", bin).ok(t)
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%s: got %q, want %q", form, e.stdout, want)
		}
	}
}
