package accept

import (
	"strings"
	"testing"
)

// coroutineParts has a coroutine that goes on three times.
const coroutineParts = `#include <coroutine>
volatile int sink;
struct Gen {
	struct promise_type {
		int v;
		Gen get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int x) { v = x; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};
Gen work(int from, const char *name) {
	for (int i = from; i < from + 3; i++) {
		sink = i + name[0];
		co_yield i;
	}
}
int main() {
	auto g = work(4, "nm");
	while (g.h.resume(), !g.h.done());
	g.h.destroy();
	return 0;
}
`

// The functions that clang makes of a coroutine get its frame and no arguments: those of the source are optimized out.
func TestArgumentsOfCoroutineParts(t *testing.T) {
	got := printed(t, "clang++ -w -std=c++20 -g -O0", "co.cc", coroutineParts, `
probe("uprobe:BIN:work.{resume,destroy}", lambda e: print("|", e.func, e.args))
`)
	const out = " record(from = <optimized out>, name = <optimized out>)"
	want := strings.Repeat("| work.resume"+out+", ", 4) + "| work.destroy" + out
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
