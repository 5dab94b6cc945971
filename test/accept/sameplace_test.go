package accept

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/test/need"
)

const samePlace = `__attribute__((noinline)) int
add(int a, int b) { __asm__ volatile(""); return a + b; }
__attribute__((noinline)) static int other(int a) { __asm__ volatile(""); return a * 3; }
int main(int argc, char **argv) {
    int n = 0;
    for (int i = 0; i < 30; i++)
        n += add(i, argc);
    for (int i = 0; i < 10; i++)
        n += other(n + i);
    return n & 0;
}
`

// A function and its first line are two points of one list, also where they are one place: each has an event of its
// own, with what it has alone.
func TestFunctionAndItsLine(t *testing.T) {
	needTracing(t)
	for _, level := range []string{"-O0", "-O1"} {
		binary := need.Built(t, "gcc -g -fno-ipa-cp -fno-ipa-sra "+level, "same.c", samePlace)
		function, line := `"uprobe:`+binary+`:add"`, `"uprobe:`+binary+`:same.c:2"`
		for _, list := range []string{function + "," + line, line + "," + function,
			function + "," + line + "," + function + "," + line} {
			e := startrace(t, "-q", "-e", `n = count()
def show():
    for (point, vars, args), c in sorted(n.items()):
        print(point.split(":", 2)[2], vars, args, c)
probe([`+list+`], kernel = lambda e: n[e.probe, hasattr(e, "vars"), hasattr(e, "args")].add())
at_exit(show)`, "-c", binary).ok(t)
			if want := "add False True 30\nsame.c:2 True False 30\n"; e.stdout != want {
				t.Errorf("%s: [%s]: got\n%swant\n%s", level, list, e.stdout, want)
			}
		}
	}
}

// A file with two paths is one file: a list has its points once.
//
// > A point that several patterns of one list match is one point, so an event of it is seen once.
func TestOneFileOfTwoPaths(t *testing.T) {
	needTracing(t)
	binary := need.Built(t, "gcc -g -O0", "same.c", samePlace)
	dir := t.TempDir()
	link, hard := filepath.Join(dir, "link"), binary+".hard"
	if err := os.Symlink(binary, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(binary, hard); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"uprobe", "uretprobe", "ufunc"} {
		for _, other := range []string{link, hard} {
			e := startrace(t, "-q", "-e", "n = count()", "-e", `probe(["`+kind+`:`+binary+`:add", "`+kind+`:`+other+
				`:{add,other}"], kernel = lambda e: n[e.func].add())`, "-c", binary).ok(t)
			if e.stdout != "n:\nother  10\nadd    30\n" {
				t.Errorf("%s, %s: %s", kind, other, e.stdout)
			}
		}
	}
}
