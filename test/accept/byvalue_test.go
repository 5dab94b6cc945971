package accept

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Structs that are passed and returned by value are read where the ABI puts them, and what comes behind them too, by
// each way to probe: of two words (timestamp_truncate, do_tcp_setsockopt), and of more than 16 bytes (do_pages_move).
//
// > A struct that a kernel function takes or returns by value is read where the ABI of the machine puts it, in
// > registers or on the stack.
// > Examples are `e.args.optval.is_kernel` at `kprobe:do_tcp_setsockopt` and `e.ret.tv_sec` at
// > `fexit:timestamp_truncate`.
func TestStructsByValue(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(200)
	ways := []string{"kprobe", "fentry", "fexit", "func"}
	for _, test := range []struct {
		function, handler string
		ways              []string
		times             int
	}{
		{"timestamp_truncate", `
where = lambda e: e.comm == "wl-structs" and e.args.t.tv_sec < 100000
def handler(e):
    seen[e.probe, e.args.t.tv_nsec == 1000 * e.args.t.tv_sec and e.args.t.tv_sec > 0
         and e.args.inode.i_sb.s_time_gran > 0].add()
    sums[e.probe].add(e.args.t.tv_sec)
`, ways, 2},
		{"timestamp_truncate", `
where = lambda e: e.comm == "wl-structs" and e.ret.tv_sec < 100000
def handler(e):
    seen[e.probe, e.ret.tv_nsec == 1000 * e.ret.tv_sec and e.ret.tv_sec > 0].add()
    sums[e.probe].add(e.ret.tv_sec)
`, []string{"kretprobe", "fexit", "func"}, 2},
		{"do_tcp_setsockopt", `
def handler(e):
    seen[e.probe, e.args.level == 6 and e.args.optname == 4 and e.args.optlen == 4 and not e.args.optval.is_kernel
         and e.args.optval.user != None].add()
    sums[e.probe].add(e.args.optlen)
`, ways, 0},
		{"do_pages_move", `
def handler(e):
    seen[e.probe, e.args.task_nodes.bits[0] & 1 == 1 and e.args.flags == 2].add()
    sums[e.probe].add(e.args.nr_pages)
`, ways, 1},
	} {
		t.Run(test.function, func(t *testing.T) {
			if !kernelHas(t, test.function) {
				t.Skipf("needs a kernel in which %s is a function of its own: compilers put it into others",
					test.function)
			}
			e, _ := traced(t, `
seen = count()
sums = total()
where = lambda e: e.comm == "wl-structs"
at_exit(lambda: [print("seen", p, right, v) for (p, right), v in seen.items()])
at_exit(lambda: [print("sum", p, v) for p, v in sums.items()])
`+test.handler+`
for kind in "`+strings.Join(test.ways, " ")+`".split():
    probe(kind + ":`+test.function+`", handler, where = where)
`, nil, "structs", strconv.Itoa(n), t.TempDir())
			calls, sum := max(test.times, 1)*n, test.times*n*(n+1)/2
			if test.times == 0 {
				sum = 4 * n
			}
			for _, way := range test.ways {
				checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^seen %s:%s True (\d+)$`, way, test.function)),
					calls)
				checkAccount(t, e, number(t, e.stdout, fmt.Sprintf(`(?m)^sum %s:%s (\d+)$`, way, test.function)), sum)
			}
		})
	}
}

// > As a value such a struct is its word, if it has 8 bytes or fewer, and else a record of its fields.
func TestStructAsValue(t *testing.T) {
	needKernelFunctions(t)
	e, _ := traced(t, `
mine = lambda e: e.comm == "wl-structs"
probe("kprobe:timestamp_truncate", lambda e: print("time", e.args.t),
      where = lambda e: mine(e) and e.args.t.tv_sec < 100000)
probe("func:make_kuid", lambda e: print("user", e.ret, e.ret.val, e.ret == e.args.uid), where = mine)
`, nil, "structs", "2", t.TempDir())
	equalLines(t, slices.Compact(sorted(e.stdout, "time")), []string{"time record(tv_sec = 1, tv_nsec = 1000)",
		"time record(tv_sec = 2, tv_nsec = 2000)"})
	equalLines(t, slices.Compact(sorted(e.stdout, "user")), []string{"user 100 100 True", "user 200 200 True"})
}

// kernelHas reports whether a function of the kernel can be probed.
func kernelHas(t *testing.T, function string) bool {
	t.Helper()
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if text, err := os.ReadFile(dir + "/available_filter_functions"); err == nil {
			return slices.Contains(strings.Split(string(text), "\n"), function)
		}
	}
	t.Fatal("the kernel does not list its functions")
	return false
}
