package accept

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// hidden is a program that removes its own file if it has an argument, and then lives as long as it is told to.
const hidden = `
#include <unistd.h>
static volatile int sum;
__attribute__((noinline)) void ask(void) { sum += getppid(); __asm__ volatile(""); }
__attribute__((noinline)) void asks(int n) { while (n--) { ask(); usleep(1000); } __asm__ volatile(""); }
int main(int argc, char **argv) {
	if (argc > 1) unlink(argv[1]);
	asks(argc > 1 ? 500 : 1);
	return 0;
}
`

// hiddenStacks counts the stacks of the program, those with names and all.
func hiddenStacks(t *testing.T, e ended) (named, all int) {
	t.Helper()
	for line := range strings.Lines(e.stdout) {
		n := number(t, strings.TrimSpace(line), ` (\d+)$`)
		if all += n; !strings.Contains(line, "prog+0x") && strings.Contains(line, "getppid") {
			named += n
		}
	}
	return named, all
}

var hiddenArgs = []string{"stack", "tracepoint:syscalls:sys_enter_getppid", "--user-stacks", "--format", "folded",
	"--where", `e.comm == "prog"`}

// > That is so for a process in a container or with another root, too, unless it is the first that is seen there and
// > has ended before it is looked at, and for a program that was deleted while it runs.
func TestNamesOfDeletedProgram(t *testing.T) {
	bin := builtFrom(t, "hidden.c", hidden, "gcc", "-O1", "-static")
	for name, flags := range map[string][]string{"root": nil, "five": {"-uid", nobody, "-caps", documented}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			own := filepath.Join(dir, "prog")
			copyTo(t, bin, own)
			for at := dir; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
				if err := os.Chmod(at, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			e := confined(t, flags, append(hiddenArgs, "-c", own+" "+own)...).ok(t)
			if named, all := hiddenStacks(t, e); named != all || all < 400 {
				t.Errorf("%d of %d stacks have names\n%s%s", named, all, e.stdout, e.stderr)
			}
		})
	}
}

// > The end of the run says of how many processes files could not be opened.
func TestNamesInJail(t *testing.T) {
	needTracing(t)
	need.Program(t, "unshare")
	bin, jail := builtFrom(t, "hidden.c", hidden, "gcc", "-O1", "-static"), t.TempDir()
	const rounds = 40
	copyTo(t, bin, filepath.Join(jail, "prog"))
	loop := fmt.Sprintf("for i in $(seq %d); do chroot %s /prog; done", rounds, jail)
	for name, command := range map[string]string{
		"chroot": "sh -c '" + loop + "'",
		"mounts": fmt.Sprintf(`unshare -m sh -c 'mount -t tmpfs none /mnt; cp %s /mnt/prog; %s'`, bin,
			strings.ReplaceAll(loop, jail, "/mnt")),
	} {
		t.Run(name, func(t *testing.T) {
			e := startrace(t, append(hiddenArgs, "-c", command)...).ok(t)
			named, all := hiddenStacks(t, e)
			if all != rounds {
				t.Errorf("%d stacks, want %d\n%s", all, rounds, e.stderr)
			}
			if named != all && !strings.Contains(e.stderr, "lack names: ") {
				t.Errorf("%d of %d stacks have names, and nothing is said\n%s%s", named, all, e.stdout, e.stderr)
			}
			t.Logf("%d of %d have names", named, all)
		})
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(to).Run(); err != nil {
		t.Fatalf("the copy does not run: %v", err)
	}
}
