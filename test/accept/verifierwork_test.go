package accept

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

// TestLengthsAreNotWays: how long a text of a table is must not be another way through all that follows for each
// length, or the verifier walks a path behind it seventeen times. Before 5.17 that is more than it does, and a tool
// that read both was refused.
func TestLengthsAreNotWays(t *testing.T) {
	needTracing(t)
	needVerifierWork(t)
	work := func(comm string) int {
		return verifierWork(t, "C = table(size = 8)\ndef f(e):\n    C[0] = e.comm\n    return record(comm = "+comm+
			", file = path(e.task.mm.exe_file))\n"+
			"probe(event((\"syscall:openat\", f)), lambda e: print(e.comm, e.file))\n")
	}
	with, without := work(`C.get(1, "x")`), work(`"x"`)
	if without == 0 || with > 4*without {
		t.Errorf("the verifier followed %d instructions with a text of a table, %d without", with, without)
	}
}

// TestRoundsAreNotWays: in how many rounds the entry of a call was found must not be another way through what follows,
// as the loop that drops the entries of calls that were left. Scripts that trace hundreds of functions start by it.
func TestRoundsAreNotWays(t *testing.T) {
	needTracing(t)
	needVerifierWork(t)
	const most = 30_000 // it was 46,829 on 6.18, and is 13,855
	text := fmt.Sprintf("probe('ufunc:%s:main.main', lambda e: print(e.duration))\n", program(t, "workload"))
	if n := verifierWork(t, text); n == 0 || n > most {
		t.Errorf("the verifier followed %d instructions, want at most %d", n, most)
	}
}

// TestListsAreRun: the kernel runs the loop over the strings of a list. Where the verifier follows it, it does so for
// 129 strings and for each way that leads there, and a tool with four lists takes long to start.
func TestListsAreRun(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 6, 2) {
		t.Skip("needs a kernel to whose bpf_loop lists are left (6.2)")
	}
	const most = 80_000 // it was 168,417 on 6.18, and is 40,252
	text := "load('std/execsnoop.star', 'executed')\nprobe(executed(), lambda e: print(e.file, e.argv, e.at))\n"
	if n := verifierWork(t, text); n == 0 || n > most {
		t.Errorf("the verifier followed %d instructions, want at most %d", n, most)
	}
}

func needVerifierWork(t *testing.T) {
	t.Helper()
	if !atLeast(t, 5, 16) {
		t.Skip("needs a kernel that says what its verifier did (verified_insns, 5.16)")
	}
}

// verifierWork is how many instructions the verifier followed of the program of a script of which it followed most. The
// kernel says it in fdinfo, from 5.16 on.
func verifierWork(t *testing.T, text string) (most int) {
	t.Helper()
	e := startrace(t, "-q", "-o", "/dev/null", script(t, text), "-c", `sh -c "cat /proc/\$PPID/fdinfo/*"`)
	for _, m := range regexp.MustCompile(`(?m)^verified_insns:\s+(\d+)$`).FindAllStringSubmatch(e.stdout, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	return most
}
