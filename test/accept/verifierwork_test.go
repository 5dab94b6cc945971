package accept

import (
	"regexp"
	"strconv"
	"testing"
)

// TestLengthsAreNotWays: how long a text of a table is must not be another way through all that follows for each
// length, or the verifier walks a path behind it seventeen times. Before 5.17 that is more than it does, and a tool
// that read both was refused. The kernel says in fdinfo how much it has done, from 5.16 on.
func TestLengthsAreNotWays(t *testing.T) {
	needTracing(t)
	if !atLeast(t, 5, 16) {
		t.Skip("needs a kernel that says what its verifier did (verified_insns, 5.16)")
	}
	most := func(comm string) (n int) {
		text := "C = table(size = 8)\ndef f(e):\n    C[0] = e.comm\n    return record(comm = " + comm +
			", file = path(e.task.mm.exe_file))\n" +
			"probe(event((\"syscall:openat\", f)), lambda e: print(e.comm, e.file))\n"
		e := startrace(t, "-q", "-o", "/dev/null", script(t, text), "-c",
			`sh -c "cat /proc/\$PPID/fdinfo/*"`)
		for _, m := range regexp.MustCompile(`(?m)^verified_insns:\s+(\d+)$`).FindAllStringSubmatch(e.stdout, -1) {
			did, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			n = max(n, did)
		}
		return n
	}
	with, without := most(`C.get(1, "x")`), most(`"x"`)
	if without == 0 || with > 2*without {
		t.Errorf("the verifier followed %d instructions with a text of a table, %d without", with, without)
	}
}
