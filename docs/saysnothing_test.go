package docs

// saysNothing are sentences that no test can find true or false, with the reason.
var saysNothing = map[string]string{
	"What a function means in the kernel is in [semantics.md](semantics.md).": "a hint to another page",
	"See [semantics.md](semantics.md#types-of-user-functions).":               "a hint to another page",
	"What the module does while it is being loaded may be over before its points are attached.": "what may happen, " +
		"or not: a test that waited for it would depend on how long work takes",
	"Several statements are not one update: between `t.get(k)` and `t[k] = v` another CPU may have set the " +
		"entry.": "what may happen, or not; that single ones are exact is tested",
	"Two calls with the same arguments from the same place may then pair across a missed end.": "what may happen, or " +
		"not: the kernel decides what it skips",
	"Their values are the same, but the duration is too long.": "what may happen, or not: the kernel decides what " +
		"it skips",
	"So each system call of the machine takes longer.": "how long something takes",
	"The kernel decides in which order it runs probes of different kinds at one place: `kprobe:f`, `fentry:f` and " +
		"`func:f`; `func:f` and `func:*` of more than 16 functions; `syscall:read` and " +
		"`tracepoint:syscalls:sys_exit_read`.": "nothing is promised",
	"It also decides where probes come that are added later: a probe that is enabled again, points of a module that " +
		"is loaded, a probe at the prompt.": "nothing is promised",
	"Other tracers on the machine can change that order.":       "nothing is promised",
	"(On arm64 before 5.12 that cannot be told in every case.)": "no kernel of the tests is that old there",
}
