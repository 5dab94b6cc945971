package accept

import (
	"strings"
	"testing"
)

// What leads to the file of a descriptor is memory of the kernel: no program asks at run time whose it is.
func TestFileIsFoundInTheKernel(t *testing.T) {
	needTracing(t)
	e := startrace(t, "explain", "--types", "-e", "n = count()", "-e",
		`probe("syscall:close", lambda e: n.add(), where = lambda e: e.file(e.args.fd) != None)`).ok(t)
	if !strings.Contains(e.stdout, " kernel +") || strings.Contains(e.stdout, " auto +") {
		t.Errorf("got:\n%s", e.stdout)
	}
}
