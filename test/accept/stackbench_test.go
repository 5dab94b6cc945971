package accept

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// deepCalls makes system calls at the end of so many calls of a function, and says how long one takes.
const deepCalls = `
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline, noclone)) static void deep(int n, int calls)
{
	if (n > 0)
		deep(n - 1, calls);
	else
		for (int i = 0; i < calls; i++)
			getppid();
	sink++;
}
int main(int argc, char **argv)
{
	struct timespec from, to;
	int calls = atoi(argv[2]);
	double least = 1e9;
	deep(atoi(argv[1]), 1000); /* its tables are made meanwhile */
	sleep(1);
	for (int i = 0; i < 50; i++) { /* others may run, too */
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		deep(atoi(argv[1]), calls);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		double one = ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / calls;
		if (one < least)
			least = one;
	}
	printf("one takes %.0f ns\n", least);
	return 0;
}
`

// BenchmarkStack is the time that a call takes whose stack is counted: by tables, in a program without frame pointers,
// and beside that what bpftrace takes to follow frame pointers, and tables where it can (dw_ustack). A call that is
// counted without its stack is the least.
func BenchmarkStack(b *testing.B) {
	needTracing(b)
	need.Sources(b, "../..")
	const point = `"tracepoint:syscalls:sys_enter_getppid"`
	const without, with = "gcc -O1 -fomit-frame-pointer", "gcc -O1 -fno-omit-frame-pointer"
	scripts := map[string][2]string{
		"none":           {without, "n = count()\nprobe(" + point + ", lambda e: n[e.comm].add())"},
		"tables":         {without, "n = count()\nprobe(" + point + ", lambda e: n[e.ustack()].add())"},
		"frame-pointers": {with, "n = count()\nprobe(" + point + ", lambda e: n[e.ustack()].add())"},
	}
	others := map[string][2]string{
		"bpftrace-none":      {without, "comm"},
		"bpftrace-ustack":    {with, "ustack"},
		"bpftrace-dw_ustack": {without, "dw_ustack"},
	}
	for _, depth := range []int{16, 56} { // with those around them 20 and 60
		command := func(bin string) string { return fmt.Sprintf("%s %d 4000", bin, depth) }
		report := func(b *testing.B, out string) {
			if m := regexp.MustCompile(`one takes (\d+) ns`).FindStringSubmatch(out); m != nil {
				if ns, err := strconv.Atoi(m[1]); err == nil {
					b.ReportMetric(float64(ns), "ns/call")
					return
				}
			}
			b.Errorf("got %q", out)
		}
		for name, s := range scripts {
			b.Run(fmt.Sprintf("%s/%d", name, depth+4), func(b *testing.B) {
				bin := need.Built(b, s[0], "deep.c", deepCalls)
				for b.Loop() {
					report(b, startrace(b, "-q", "-o", "/dev/null", "-e", s[1], "-c", command(bin)).ok(b).stdout)
				}
			})
		}
		for name, s := range others {
			b.Run(fmt.Sprintf("%s/%d", name, depth+4), func(b *testing.B) {
				bin := need.Built(b, s[0], "deep.c", deepCalls)
				text := "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[" + s[1] + "] = count(); }"
				bpftrace := need.Program(b, "bpftrace")
				for b.Loop() {
					out, err := exec.Command(bpftrace, "-c", command(bin), "-e", text).CombinedOutput()
					if err != nil {
						b.Skipf("needs a bpftrace that has %s: %v\n%s", s[1], err, strings.TrimSpace(string(out)))
					}
					report(b, string(out))
				}
			})
		}
	}
}
