package accept

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// leftOut is a program with a function of some 4 KB that nobody calls, and that calls an inline one, and with variables
// that only it uses.
func leftOut() string {
	var s strings.Builder
	s.WriteString(`static inline __attribute__((always_inline)) int inlined(int a) {
	return a * 3 + 1;
}
int unused = 42;
struct { int a; char b[8]; } unused_struct = {7, "abc"};
int used = 5;
volatile int sink;
int dropped(int a) {
`)
	for i := range 400 {
		fmt.Fprintf(&s, "\tsink += a * %d;\n", i+3)
	}
	s.WriteString(`	return inlined(a) + unused++ + unused_struct.a++;
}
__attribute__((noinline)) int kept(int a) {
	sink += inlined(a); used++;
`)
	for i := range 400 {
		fmt.Fprintf(&s, "\tsink += a ^ %d;\n", i)
	}
	s.WriteString("\treturn sink;\n}\nint main(void) {\n\tfor (int i = 0; i < 100; i++)\n\t\tkept(i);\n}\n")
	return s.String()
}

// The linker leaves out what nothing leads to, and keeps its debug information. The addresses there are none of the
// program: they are those of the header of its file, and of other functions.
//
// > What the linker has left out is not in the program: a line of it has no code, and a variable is `<optimized out>`.
// > So are functions and variables that nothing uses, with `-ffunction-sections -fdata-sections -Wl,--gc-sections`,
// > though the debug information speaks of them:
//
// > e.globals.unused # <optimized out>
//
// > uprobe:./shop:cart.c:20 # in a function that nobody calls: line 20 has no code, the next that has some is line 31
func TestLeftOutByLinker(t *testing.T) {
	const probes = `
vars, copies, lines = count(), count(), count()
probe("uprobe:BIN:kept", lambda e: vars[e.globals.unused, e.globals.unused_struct.a, e.globals.used > 4].add())
probe("uprobe:BIN:inlined", lambda e: copies.add())
probe("uprobe:BIN:left.c:2", lambda e: lines[e.func].add())
frames = {}
def seen(e):
    frames[" ".join(["%s:%d" % (f.name, f.line) for f in e.ustack() if f.line][:2])] = True
probe("uprobe:BIN:left.c:2", seen)
at_exit(lambda: print(vars.items(), copies.value, lines.items(), frames.keys()))
`
	const want = `[((<optimized out>, <optimized out>, True), 100)] 100 [("inlined", 100)] ["kept:412 main:817"]`
	const sections = " -g -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections"
	for _, command := range []string{"gcc" + sections, "gcc -no-pie" + sections, "gcc -gdwarf-4" + sections,
		"clang" + sections, "gcc -Wl,-z,noseparate-code" + sections, "gcc -fuse-ld=gold" + sections,
		"clang -fuse-ld=lld" + sections, "gcc -fuse-ld=lld" + sections} {
		if _, linker, ok := strings.Cut(command, "-fuse-ld="); ok {
			name, _, _ := strings.Cut(linker, " ")
			if _, err := exec.LookPath("ld." + name); err != nil {
				continue
			}
		}
		if got := printed(t, command, "left.c", leftOut(), probes); got != want {
			t.Errorf("%s: got %s\nwant %s", command, got, want)
		}
		linesLeftOut(t, command)
	}
}

// linesLeftOut tries the lines of the function that was left out.
func linesLeftOut(t *testing.T, command string) {
	binary := need.Built(t, command, "left.c", leftOut())
	text := strings.Split(leftOut(), "\n")
	first := slices.IndexFunc(text, func(s string) bool { return strings.HasPrefix(s, "int dropped") })
	for line := first + 1; line < first+400; line += 7 {
		e := startrace(t, "list", fmt.Sprintf("uprobe:%s:left.c:%d", binary, line))
		said := fmt.Sprint("line ", line, " of ")
		if !strings.Contains(e.stderr, said) || !strings.Contains(e.stderr, " has no code in ") {
			t.Errorf("%s: line %d: got %s%s", command, line, e.stdout, e.stderr)
		}
	}
}

// A part of the file that is loaded as code can have the file's tables in it: what stands there is no code, whoever
// says its address. A probe would change the program.
func TestTablesAreNoCode(t *testing.T) {
	binary := need.Built(t, "gcc -g -Wl,-z,noseparate-code", "tables.c", "int main(void) { return 0; }\n")
	for _, addr := range []string{"0x10", "0x300", "0x400"} {
		text := `probe("uprobe:` + binary + ":" + addr + `", lambda e: print("hit"))`
		e := startrace(t, "-e", text, "-c", binary)
		want := addr + " is not in the file's code, which lies from 0x"
		if !strings.Contains(e.stderr, want) {
			t.Errorf("%s: got %s%s, want %q", addr, e.stdout, e.stderr, want)
		}
	}
}
