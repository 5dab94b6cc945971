package elffile

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const cSource = `
static int hidden(int a) { return a + 1; }
int shown(int a) { return hidden(a) + hidden(a + 1); }
int twin(int a) __attribute__((alias("shown")));
int __twin(int a) __attribute__((alias("shown")));
static int chosen(void) { return 7; }
static void *choose(void) { return (void *)chosen; }
int resolved(void) __attribute__((ifunc("choose")));
int variable = 5;
int main(int argc, char **argv) { return shown(argc) + resolved() + variable; }
`

const cppSource = `
namespace ns {
__attribute__((noinline)) int first(int a) { return a + 1; }
__attribute__((noinline)) int first(double a) { return a + 2; }
struct Thing { int value; __attribute__((noinline)) int method(const char *s) const { return value + *s; } };
template <typename T> __attribute__((noinline)) T generic(T a) { return a + 3; }
}
int main(int argc, char **argv) {
	return ns::first(argc) + ns::first(1.5 * argc) + ns::Thing{argc}.method(argv[0]) + ns::generic(argc);
}
`

const goSource = `package main

//go:noinline
func add(a, b int) int { return a + b }

type thing struct{ n int }

//go:noinline
func (t *thing) method(a int) int { return t.n + a }

func main() { println(add(1, 2), (&thing{3}).method(4)) }
`

// compile builds a program with a compiler, or skips the test.
func compile(t *testing.T, compiler, source string, flags ...string) string {
	t.Helper()
	need(t, compiler)
	dir := t.TempDir()
	name := filepath.Join(dir, "main.c")
	if compiler == "g++" {
		name = filepath.Join(dir, "main.cc")
	}
	write(t, name, []byte(source))
	out := filepath.Join(dir, "program")
	run(t, nil, compiler, append(flags, "-o", out, name)...)
	return out
}

func compileGo(t *testing.T, arch string, flags ...string) string {
	t.Helper()
	need(t, "go")
	dir := t.TempDir()
	name, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	write(t, name, []byte(goSource))
	env := []string{"GOARCH=" + arch, "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off"}
	run(t, env, "go", append(append([]string{"build", "-o", out}, flags...), name)...)
	return out
}

func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(ours(tool)); err != nil {
			t.Skip("needs the program "+tool+":", err)
		}
	}
}

// ours gives the tool for this architecture, if there is one: in an emulator gcc is that of the machine.
func ours(tool string) string {
	if cross := "aarch64-linux-gnu-" + tool; runtime.GOARCH == "arm64" {
		if _, err := exec.LookPath(cross); err == nil {
			return cross
		}
	}
	return tool
}

// endsByReturn reports whether the last instruction of a function's code is a return.
func endsByReturn(f *File, code []byte) bool {
	if f.Machine == elf.EM_AARCH64 {
		return bytes.HasSuffix(code, []byte{0xc0, 0x03, 0x5f, 0xd6})
	}
	return bytes.HasSuffix(code, []byte{0xc3})
}

// needOurGCC: under an emulator of programs, gcc is that of the machine.
func needOurGCC(t *testing.T) {
	t.Helper()
	prefix := map[string]string{"amd64": "x86_64-", "arm64": "aarch64-"}[runtime.GOARCH]
	if out, err := exec.Command(ours("gcc"), "-dumpmachine").Output(); err != nil ||
		!strings.HasPrefix(string(out), prefix) {
		t.Skipf("needs a gcc for %s: this one makes programs for %s, %v", runtime.GOARCH,
			strings.TrimSpace(string(out)), err)
	}
}

func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(ours(name), args...)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, text)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string, opts Options) *File {
	t.Helper()
	f, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func lookup(t *testing.T, f *File, name string) Function {
	t.Helper()
	list, err := f.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%s: got %+v, want one", name, list)
	}
	return list[0]
}
