package accept

import (
	"strings"
	"testing"
)

// atLocks are scripts whose probes run where tables and the ring of other probes are locked, of all ways to attach.
var atLocks = map[string]string{
	"one table": `
t = table()
probe("rawtracepoint:sys_enter", lambda e: t.set(e.time, 1))
probe("kretprobe:_raw_spin_lock*", lambda e: t.set(e.time, 2))
`,
	"calls and trampolines": `
t = table()
n = count()
probe("func:_raw_spin_lock{,_irq,_irqsave,_bh}", lambda e: t.set(e.time, e.duration))
probe("fentry:_raw_spin_lock*", lambda e: n[e.func].add())
probe("fexit:_raw_spin_trylock*", lambda e: n[e.func].add())
probe("kprobe:_raw_spin_unlock*", lambda e: n[e.func].add())
`,
	"one ring": `
seen = {}
probe("rawtracepoint:sys_enter", lambda e: seen.update([("enter", e.pid)]))
probe("func:_raw_spin_lock_irqsave", lambda e: seen.update([("lock", e.duration)]), keep = 100)
probe("kprobe:_raw_spin_unlock_irqrestore", lambda e: seen.update([("unlock", e.pid)]))
at_exit(lambda: print(sorted(seen)))
`,
	"the oldest goes": `
t = table(lru = True, size = 100)
n = count()
probe("syscall:*", lambda e: t.set((e.time, e.func), 1))
probe(["kprobe:*spin*lock*", "kretprobe:*spin*lock*"], lambda e: (t.set((e.time, e.func), 2), n[e.func].add()))
`,
	"functions of tables": `
t = table(size = 1000)
n = count()

def call(e):
    t.set(e.time, 1)
    t.pop(e.time)
    for i in range(e.pid % 1000):
        n[i].add()

probe("rawtracepoint:sys_enter", call)
probe("kprobe:{_raw_spin_*,htab_*,pcpu_freelist_*,__pcpu_freelist_*}", call)
`,
}

// A probe at the functions by which tables are locked does not wait for a lock that a probe below it has, which would
// stop the machine.
//
// > Tables of probes are locked by functions of the kernel, `_raw_spin_lock` and its like.
// > A trampoline at these could stop the machine, so `fentry`, `fexit` and `func` are kprobes there.
// > Where another probe's table is being locked a probe at such a function sees nothing, which is counted.
func TestProbesAtLocks(t *testing.T) {
	needGuest(t)
	below := false
	for name, text := range atLocks {
		t.Run(name, func(t *testing.T) {
			e := startrace(t, script(t, text), "-c", `sh -c "for i in 1 2 3 4 5 6 7 8; do (true); done"`)
			if e.status != 0 {
				t.Fatalf("status %d: %s", e.status, e.stderr)
			}
			below = below || strings.Contains(e.stderr, "they are of locks of startrace's own tables")
			explained := startrace(t, "explain", script(t, text)).ok(t).stdout
			if strings.Contains(explained, "(trampoline") {
				t.Errorf("a trampoline: %s", explained)
			}
		})
	}
	if !below && !atLeast(t, 6, 15) { // newer kernels have other locks in their tables
		t.Error("nothing was counted that ran below another probe's lock")
	}
}
