package accept

import (
	"testing"

	"github.com/startrace/startrace/test/need"
)

// A lambda that returns nothing has None as its result, also where its declaration leaves the type open.
func TestLambdasThatReturnNothing(t *testing.T) {
	needTracing(t)
	for _, compiler := range []string{"g++", "clang++"} {
		binary := need.Built(t, compiler+" -g -O0", "lambdas.cc", `volatile int sink;
struct deduces { __attribute__((noinline)) auto nothing(int k) { sink = k; } };
int main() {
	int z = 3;
	auto nothing = [&](int k) { sink = k + z; };
	nothing(4);
	auto some = [&](int k) { sink = k + z; return sink; };
	deduces().nothing(1);
	return some(5) == 1;
}
`)
		e := startrace(t, "-q", script(t, `
probe("ufunc:`+binary+`:main::*", lambda e: print(e.ret))
probe("ufunc:`+binary+`:deduces::nothing", lambda e: print("method", e.ret))
`), "-c", binary).ok(t)
		if e.stdout != "None\nmethod None\n8\n" {
			t.Errorf("%s: got %s%s", compiler, e.stdout, e.stderr)
		}
	}
}
