package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// What goes on with a coroutine of C++, and what ends it, is no call of it, though compilers and debug information call
// it by the name of the coroutine. That is so where g++ has put the one into the other, too.
//
// > A coroutine of C++ is called where it begins. What goes on with it, and what ends it, has names of its own:
// > `ns::work.resume` (g++: `ns::work.actor`) and `ns::work.destroy`.
func TestCallsOfCoroutines(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const source = `#include <coroutine>
#include <cstdio>
static volatile int sink;
struct task {
	struct promise_type {
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};
namespace ns {
	__attribute__((noinline)) task work(int n) {
		for (int i = 0; i < n; i++) {
			sink = i;
			co_await std::suspend_always{};
		}
	}
}
__attribute__((noinline)) void step(void *at) { std::coroutine_handle<>::from_address(at).resume(); }
__attribute__((noinline)) void end(void *at) { std::coroutine_handle<>::from_address(at).destroy(); }
int main() {
	for (volatile int k = 0; k < 2; k = k + 1) {
		task t = ns::work(3);
		for (volatile int i = 0; i < 4; i = i + 1)
			step(t.h.address());
		end(t.h.address());
	}
}
`
	for _, command := range []string{"g++ -std=c++20 -g -O0", "g++ -std=c++20 -g -O2", "g++ -std=c++20 -O2",
		"clang++ -std=c++20 -g -O0", "clang++ -std=c++20 -g -O2"} {
		binary := need.Built(t, command, "work.cc", source)
		names := []string{"ns::work", "ns::work(int)"}
		if strings.Contains(command, "-g") {
			names = append(names, "@work.cc:ns::work")
		}
		for _, name := range names {
			for _, kind := range []string{"uprobe", "ufunc"} {
				e := startrace(t, "-q", script(t, `
n = count()
probe("`+kind+":"+binary+":"+name+`", lambda e: n[e.func].add())
at_exit(lambda: print(n.items()))
`), "-c", binary).ok(t)
				if e.stdout != "[(\"ns::work\", 2)]\n" {
					t.Errorf("%s: %s:%s: got %q, want two calls", command, kind, name, e.stdout)
				}
			}
		}
		steps, first := "ns::work.resume", "8"
		if strings.HasPrefix(command, "g++") {
			steps, first = "ns::work.actor", ""
		}
		e := startrace(t, "-q", script(t, `
n = count()
probe(["uprobe:`+binary+":"+steps+`", "uprobe:`+binary+`:ns::work.destroy"], lambda e: n[e.func].add())
at_exit(lambda: print(n["`+steps+`"].value, n["ns::work.destroy"].value))
`), "-c", binary).ok(t)
		if !strings.HasPrefix(e.stdout, first) || !strings.HasSuffix(e.stdout, " 2\n") {
			t.Errorf("%s: got %q, want 8 times that it goes on, and 2 that it ends", command, e.stdout)
		}
	}
}
