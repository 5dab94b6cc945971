package accept

import (
	"regexp"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A mistake in an expression of the command line has its place there, whichever verb uses it, and not in the library.
//
// > A mistake has its place in what was typed: `--where:1:8: …`.
func TestPlacesInExpressions(t *testing.T) {
	needTracing(t)
	const point = "t:syscalls:sys_exit_read"
	mistakes := map[string]string{"e": "1:1", "e.args": "1:1", "e.args.zz": "1:8", "[1]": "1:1", "e +": "1:4",
		"lambda x: x": "1:11", "lambda: 1": "1:1", "lambda x, y: 1": "1:1"}
	numbers := map[string]string{"None": "1:1", "(e.comm, e.pid)": "1:", "e.comm": "1:"}
	for _, verb := range []string{"total", "mean", "lowest", "highest", "stats", "hist", "quantiles", "lhist --hi 9"} {
		for _, list := range []map[string]string{mistakes, numbers} {
			for expr, at := range list {
				args := append(strings.Fields(verb), point, expr, "-c", "true")
				if e := startrace(t, args...); e.status == 0 || !strings.HasPrefix(e.stderr, "EXPR:"+at) {
					t.Errorf("%s %s: got %d, %s want EXPR:%s", verb, expr, e.status, e.stderr, at)
				}
			}
		}
	}
	mistakes["e.comm, e"] = "1:9"
	for expr, at := range mistakes {
		for _, verb := range []string{"count", "stack", "total"} {
			args := []string{verb, point, "--by", expr, "-c", "true"}
			if verb == "total" {
				args = append(args, "1")
			}
			if e := startrace(t, args...); e.status == 0 || !strings.HasPrefix(e.stderr, "--by:"+at) {
				t.Errorf("%s --by %s: got %d, %s want --by:%s", verb, expr, e.status, e.stderr, at)
			}
		}
	}
	for _, verb := range []string{"count", "trace", "stack"} {
		for expr, at := range map[string]string{"e": "1:1", "e.args.zz": "1:8", "lambda: 1": "1:1",
			"lambda x: y": "1:11"} {
			if e := startrace(t, verb, point, "--where", expr, "-c", "true"); e.status == 0 ||
				!strings.HasPrefix(e.stderr, "--where:"+at) {
				t.Errorf("%s --where %s: got %d, %s want --where:%s", verb, expr, e.status, e.stderr, at)
			}
		}
	}
}

// absent calls a function with a pointer whose flag says that there is no value.
const absent = `
struct in { int z; int a; };
__attribute__((noinline)) int hit(struct in *p) { __asm__ volatile("" ::: "memory"); return p->z; }
int main(void) { struct in x = {0, 5}; return hit(&x); }
`

// So has what is found wrong at an event.
func TestPlacesOfEndedEvents(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "gcc -g -O1", "absent.c", absent)
	said := regexp.MustCompile(`1 event of \S+ ended early: None where an int was wanted \(EXPR:1:\d+\)`)
	for _, verb := range []string{"total", "hist", "highest"} {
		e := startrace(t, verb, "uprobe:"+binary+":hit", "e.args.p.a if e.args.p.z else None", "-c", binary)
		if !said.MatchString(e.stderr) {
			t.Errorf("%s: %s", verb, e.stderr)
		}
	}
}

// A number that makes too many buckets is a mistake of the flag.
func TestTooManyBuckets(t *testing.T) {
	for flags, want := range map[string]string{
		"--hi 100000000 --step 1":                       "--hi: got 100000000, which makes 100000000 buckets",
		"--hi 4001 --step 1":                            "--hi: got 4001, which makes 4001 buckets",
		"--lo -9223372036854775808 --hi 9 --step 7":     "--hi: got 9, which makes ",
		"--unit ms --hi 100000000 --step 10000000":      "--hi: got 100000000, which looks like a time in ns",
		"--unit s --hi 5000000000000 --step 1000000000": "--hi: got 5000000000000, which ",
	} {
		e := startrace(t, append([]string{"lhist", "syscall:read", "-c", "true"}, strings.Fields(flags)...)...)
		if e.status != 2 || !strings.HasPrefix(e.stderr, "startrace: "+want) {
			t.Errorf("%s: exit %d, got %s want %s", flags, e.status, e.stderr, want)
		}
	}
	startrace(t, "-q", "lhist", "syscall:read", "--hi", "4000", "--step", "1", "-c", "true").ok(t)
}
