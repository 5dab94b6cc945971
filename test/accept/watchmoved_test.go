package accept

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/tried"
)

// storing writes variables of its own, from its constructor on, and starts a child that does.
const storing = `
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

long before = 1, watched, behind = 1;

__attribute__((constructor)) static void early(void) { watched = 7; }

int main(void) {
	for (int i = 0; i < 100; i++)
		*(volatile long *)&watched = i;
	if (fork() == 0) {
		*(volatile long *)&watched = 1;
		_exit(0);
	}
	wait(0);
	return watched == 99 ? 0 : 1;
}
`

// A variable of the command is watched from its first instruction on, wherever the loader puts it.
//
// > Where the program of `-c` is position-independent, its variables are watched from its first instruction on.
// > Where it is not, the kernel's own writes are seen before that: when it loads the program, it clears a variable
// > without a first value.
// > `where = lambda e: e.usermode` leaves them out.
func TestWatchedVariableOfCommand(t *testing.T) {
	needTracing(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: what arm64 counts is not known")
	}
	const writes = 102 // the constructor's, those of main, and the child's
	programs := []string{"-pie -fPIE", "-no-pie", "-static-pie", ""}
	for _, flags := range programs {
		t.Run("gcc "+flags, func(t *testing.T) {
			file := need.Built(t, strings.TrimSpace("gcc -O1 "+flags), "storing.c", storing)
			e := startrace(t, script(t, fmt.Sprintf(`
n = count()
# Not usermode: the kernel clears what has no value when it loads the program.
probe("watchpoint:%s:watched:8:w", lambda e: n.add(), where = lambda e: e.usermode)
off = probe("watchpoint:%s:behind:8:w", lambda e: n.add(1000))
off.disable()
at_exit(lambda: print(n.value))
`, file, file)), "-c", file).ok(t)
			if e.stdout != fmt.Sprintln(writes) {
				t.Errorf("got %q, want %d\n%s", e.stdout, writes, e.stderr)
			}
		})
	}
	for flags, cleared := range map[string]bool{"-no-pie": true, "-pie -fPIE": false} {
		file := need.Built(t, "gcc -O1 "+flags, "storing.c", storing)
		e := startrace(t, script(t, `
n = count()
probe("watchpoint:`+file+`:watched:8:w", lambda e: n.add(), where = lambda e: not e.usermode)
at_exit(lambda: print(n.value > 0))
`), "-c", file).ok(t)
		if want := map[bool]string{true: "True\n", false: "False\n"}[cleared]; e.stdout != want {
			t.Errorf("%s: got %q, want %q", flags, e.stdout, want)
		}
	}
	tried.Many(t, "%d writes, %d programs", writes, len(programs))
}

// A file that is not the program of the command is not where it is looked for, and what cannot be started says why.
//
// > Those of libraries, and of what the command starts, can be watched with `-p` then.
func TestWatchedVariableElsewhere(t *testing.T) {
	needTracing(t)
	file := need.Built(t, "gcc -pie -fPIE", "storing.c", storing)
	name := script(t, fmt.Sprintf(`probe("watchpoint:%s:watched:8:w", lambda e: print("hit"))`, file))
	for command, want := range map[string]string{
		"sh -c " + file: "has not loaded " + file + " when it begins: " +
			"only variables of the program that -c names",
		script(t, "no program"): "permission denied",
	} {
		e := startrace(t, name, "-c", command)
		if e.status != failedBeside || !strings.Contains(e.stderr, want) || e.stdout != "" {
			t.Errorf("%s: status %d, %q, want %q", command, e.status, e.stderr, want)
		}
	}
}
