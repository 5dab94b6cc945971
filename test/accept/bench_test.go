package accept

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkExit is a run that does nothing: its time and memory are the least that any run costs.
func BenchmarkExit(b *testing.B) {
	needTracing(b)
	var most int64
	for b.Loop() {
		most = max(most, startrace(b, "-e", "exit()").ok(b).rss)
	}
	b.ReportMetric(float64(most)/1e6, "MB")
}

// BenchmarkAttach measures from the start of the command to the start of what it traces, which is when all is
// attached (the workload's own start included), and from the end of that to the end of the command.
func BenchmarkAttach(b *testing.B) {
	scripts := map[string]string{
		"tracepoint": `
n = count()
probe("tracepoint:raw_syscalls:sys_enter", lambda e: n[e.comm].add())
`,
		"syscalls": `
n = count()
probe("syscall:*", lambda e: n[e.func].add())
`,
		"functions": `
n = count()
probe("kprobe:tcp_*", lambda e: n[e.func].add())
`,
		"calls": `
n = count()
probe("func:tcp_*", lambda e: n[e.func].add())
`,
	}
	for name, text := range scripts {
		b.Run(name, func(b *testing.B) {
			if needTracing(b); strings.Contains(text, ":tcp_") && !(inGuest() && kernelFunctions(b)) {
				b.Skip("needs a kernel with CONFIG_KPROBES, in a virtual machine of its own")
			}
			var attach, end time.Duration
			for b.Loop() {
				began := time.Now()
				e, d := traced(b, text, nil, "getppid", "1")
				started := time.Unix(0, d.Began)
				attach += started.Sub(began)
				end += began.Add(e.took).Sub(started.Add(d.Nanoseconds))
			}
			perRun := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
			b.ReportMetric(perRun(attach), "ms-to-attached")
			b.ReportMetric(perRun(end), "ms-to-end")
		})
	}
}

// BenchmarkEvent is the time that a traced call takes, beside that of one that is not traced.
func BenchmarkEvent(b *testing.B) {
	scripts := map[string]string{
		"untraced": `after("1h", lambda: exit())`,
		"count": `
n = count()
probe("syscall:getppid", lambda e: n[e.comm].add())
`,
		"send": `probe("syscall:getppid", lambda e: printf("%d %d\n", e.tid, e.ret))`,
	}
	const calls = "300000"
	for name, text := range scripts {
		b.Run(name, func(b *testing.B) {
			var total time.Duration
			made := 0
			for b.Loop() {
				_, d := traced(b, text, []string{"-o", "/dev/null"}, "getppid", calls)
				total += d.Nanoseconds
				made += d.Calls
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(made), "ns/call")
		})
	}
}
