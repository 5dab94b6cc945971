package accept

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// A typedCall is a system call that fails, and its arguments as their C types have them: NAME=VALUE …. The upper half
// of a register that is wider than its type, and more, is filled with what does not belong to it.
type typedCall struct {
	words []uint64
	args  string
}

// rubbish is what stands in a register above an int.
const rubbish = 0x1234567800000000

func word(n int32) uint64 { return rubbish | uint64(uint32(n)) }

func long(n int64) uint64 { return uint64(n) }

// typedCalls have an argument of each C type that is not as wide as a register, or has a sign.
func typedCalls() map[string]typedCall {
	return map[string]typedCall{
		"openat": {[]uint64{word(-100), 0, word(-2), rubbish | 0xffff01ff},
			"dfd=-100 filename=<fault> flags=-2 mode=511"},
		"mkdirat":     {[]uint64{word(-100), 0, 0x1ffff}, "dfd=-100 mode=65535 pathname=<fault>"},
		"lseek":       {[]uint64{word(-1), long(-5), word(-9)}, "fd=4294967295 offset=-5 whence=4294967287"},
		"kill":        {[]uint64{word(-2147483648), word(-1)}, "pid=-2147483648 sig=-1"},
		"setpriority": {[]uint64{word(-1), word(-7), word(-5)}, "niceval=-5 which=-1 who=-7"},
		"fallocate": {[]uint64{word(-1), word(-2), long(-3), long(-1 << 63)},
			"fd=-1 len=-9223372036854775808 mode=-2 offset=-3"},
		// Go's runtime calls clock_gettime, where the clock cannot be read without a call.
		"clock_getres": {[]uint64{word(-1), 0}, "tp=None which_clock=-1"},
		"timer_delete": {[]uint64{word(-3)}, "timer_id=-3"},
		"add_key":      {[]uint64{0, 0, 0, 0, word(-8)}, "_description=<fault> _type=<fault> plen=0 ringid=-8"},
		"process_madvise": {[]uint64{word(-1), 0, long(-1), word(-6), word(-1)},
			"behavior=-6 flags=4294967295 pidfd=-1 vlen=18446744073709551615"},
		"read":   {[]uint64{word(-1), 0x1000, long(-1)}, "buf=4096 count=18446744073709551615 fd=4294967295"},
		"fchown": {[]uint64{word(-1), word(-3), word(-4)}, "fd=4294967295 group=4294967292 user=4294967293"},
		"mq_timedsend": {[]uint64{word(-4), 0x1000, 1 << 63, word(-1)},
			"mqdes=-4 msg_len=9223372036854775808 msg_prio=4294967295"},
		"preadv2":      {[]uint64{long(-1), 0, 0, 0, 0, word(-1)}, "fd=18446744073709551615 flags=-1"},
		"execveat":     {[]uint64{word(-100), 0, 0, 0, word(-1)}, "argv=<fault> fd=-100 filename=<fault> flags=-1"},
		"io_getevents": {[]uint64{long(-1), long(-2), long(-3), 0, 0}, "ctx_id=18446744073709551615 min_nr=-2 nr=-3"},
		"landlock_add_rule": {[]uint64{word(-1), word(-1), 0, word(-1)},
			"flags=4294967295 rule_type=4294967295 ruleset_fd=-1"},
	}
}

// forms gives the arguments as a script prints them, what it prints, and a test of those that are numbers in the
// kernel.
func (c typedCall) forms() (names, values, is string) {
	var n, v, tests []string
	for arg := range strings.FieldsSeq(c.args) {
		name, value, _ := strings.Cut(arg, "=")
		n, v = append(n, "e.args."+name), append(v, value)
		if _, err := strconv.ParseFloat(value, 64); err == nil && name != "buf" {
			tests = append(tests, fmt.Sprintf("e.args.%s == %s", name, value))
		}
	}
	return strings.Join(n, ", "), strings.Join(v, " "), strings.Join(tests, " and ")
}

// At the tracepoint of a call and at the span of it an argument is what its C type says, in both halves.
func TestCallArguments(t *testing.T) {
	needTracing(t)
	calls := typedCalls()
	facts := kernel.Open(kernel.Options{})
	var text strings.Builder
	var work, want []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		sc, ok := kernel.SyscallByName(name)
		if _, err := facts.Tracepoint("syscalls", "sys_enter_"+name); !ok || err != nil {
			t.Logf("this kernel has no %s", name)
			continue
		}
		c := calls[name]
		for _, point := range []string{"tracepoint:syscalls:sys_enter_" + name, "syscall:" + name} {
			names, values, is := c.forms()
			fmt.Fprintf(&text, `probe(%q, lambda e: print(e.probe, e.equal, %s),
      kernel = lambda e: record(equal = %s) if e.comm == "wl-raw" else None)
`, point, names, is)
			want = append(want, point+" True "+values)
		}
		line := fmt.Sprint(sc.Nr)
		for _, w := range c.words {
			line += fmt.Sprintf(",%x", w)
		}
		work = append(work, line)
	}
	e, d := traced(t, text.String(), nil, append([]string{"raw"}, work...)...)
	if d.Failed != len(work) {
		t.Errorf("%d of %d calls failed", d.Failed, len(work))
	}
	got := strings.Split(strings.TrimSpace(e.stdout), "\n")
	slices.Sort(got)
	slices.Sort(want)
	missed := e.skipped(t) > 0
	for _, line := range want {
		if _, ok := slices.BinarySearch(got, line); !ok && !missed {
			t.Errorf("no line %q", line)
		}
	}
	for _, line := range got {
		if _, ok := slices.BinarySearch(want, line); !ok {
			t.Errorf("line %q", line)
		}
	}
}

// The mode of a call that creates no file is 0, as it is for the kernel, whatever the register holds.
//
// > Without `O_CREAT` or `O_TMPFILE` the mode of `open`, `openat` and `mq_open` is 0, because the kernel takes it for 0
// > and programs leave rubbish there.
func TestModeOfOpen(t *testing.T) {
	needTracing(t)
	const mode = rubbish | 0x5a01a0 // of 16 bits: 0640
	var work, want []string
	var text strings.Builder
	for _, name := range []string{"open", "openat", "mq_open"} {
		sc, ok := kernel.SyscallByName(name)
		if !ok {
			continue
		}
		flags := map[bool]string{true: "oflag", false: "flags"}[name == "mq_open"]
		dir := map[bool]string{true: fmt.Sprintf("%x,", word(-100)), false: ""}[name == "openat"]
		for _, how := range []struct{ flags, mode uint64 }{{0, 0}, {0x80000, 0}, {0x40, 0o640}, {0x410002, 0o640},
			{0x10000, 0}} {
			work = append(work, fmt.Sprintf("%d,%s0,%x,%x", sc.Nr, dir, how.flags, uint64(mode)))
			for _, point := range []string{"syscall:", "tracepoint:syscalls:sys_enter_"} {
				want = append(want, fmt.Sprintf("%s%s %x %o %d", point, name, how.flags, how.mode, how.mode))
			}
		}
		fmt.Fprintf(&text, `probe(["syscall:%s", "tracepoint:syscalls:sys_enter_%s"],
      kernel = lambda e: record(mode = e.args.mode + 0),
      handler = lambda e: printf("%%s %%x %%o %%d\n", e.probe, e.args.%s, e.args.mode, e.mode),
      where = lambda e: e.comm == "wl-raw")
`, name, name, flags)
	}
	e, _ := traced(t, text.String(), nil, append([]string{"raw"}, work...)...)
	got := strings.Split(strings.TrimSpace(e.stdout), "\n")
	slices.Sort(got)
	slices.Sort(want)
	e.hasLines(t, got, want)
}

// A negative field shows its own bits wherever it comes from, also where one of two points has another width.
//
// > `%x`, `%o`, `%b` and `%u` of `printf` and `sprintf` show as many bits of a negative field as its type has:
// > `ffffff9c` for an `int` of -100.
// > What was computed has 64 bits there, and so has a row of `columns()`.
// > A variable that is set more than once has 64 bits, too, if a function inside the handler reads it.
// > A field that was kept in a list, a dict or a record of the script has 64 bits there; in a tuple and as the default
// > of a parameter it keeps its own.
// > `uint32(x)` has the 32 bits of an `int`.
func TestOwnWidth(t *testing.T) {
	needTracing(t)
	sc, _ := kernel.SyscallByName("openat")
	e, _ := traced(t, `
def helper(fd):
    return sprintf("%x", fd)

def show(e):
    fd = e.args.dfd
    printf("%s %x %d %x %x %X %o %u %b %s %x %x\n", e.probe, e.args.dfd, e.args.dfd, fd, (fd), int32(fd), fd, fd, fd,
           helper(fd), fd + 0, e.args.flags)

def either(e):
    v = e.args.dfd if hasattr(e.args, "dfd") else e.args.ret
    w = e.args.dfd if hasattr(e.args, "dfd") else now() * 0 - 1
    printf("either %x %x %d %x\n", v, e.args.dfd if hasattr(e.args, "dfd") else e.args.ret, v, w)

mine = lambda e: e.comm == "wl-raw"
out = columns(a = "%x", b = "%x")

def held(e):
    printf("held %x %x %x\n", e.r, uint32(e.r), (e.args.dfd,)[0])
    out(e.args.dfd, uint32(e.args.dfd))

def inside(e):
    once, twice = e.args.dfd, e.args.dfd
    if e.args.flags == 0:
        twice = e.args.flags
    shown = lambda: sprintf("%x %x", once, twice)
    printf("inside %s %x %x\n", shown(), twice, uint32(twice))

def kept(e):
    fd = e.args.dfd
    in_list, in_dict, in_record, in_tuple = [fd], {"fd": fd}, record(fd = fd), (fd,)
    default = lambda fd = fd: sprintf("%x", fd)
    printf("kept %x %x %x %s %x\n", in_list[0], in_dict["fd"], in_record.fd, default(), in_tuple[0])

probe("syscall:openat", kept, where = mine)
probe("syscall:openat", inside, where = mine)
probe("syscall:openat", show, where = mine)
probe("tracepoint:syscalls:sys_enter_openat", held, kernel = lambda e: record(r = e.args.dfd), where = mine)
probe("tracepoint:syscalls:sys_enter_openat", show, where = mine)
probe(["tracepoint:syscalls:sys_enter_openat", "tracepoint:syscalls:sys_exit_openat"], either, where = mine)
`, nil, "raw", fmt.Sprintf("%d,%x,0,%x", sc.Nr, word(-100), word(-2)))
	numbers := " ffffff9c -100 ffffff9c ffffff9c FFFFFF9C 37777777634 4294967196 11111111111111111111111110011100 " +
		"ffffff9c ffffffffffffff9c fffffffe"
	want := []string{
		"A B",
		"either ffffff9c ffffff9c -100 ffffff9c",
		"either fffffffffffffff2 fffffffffffffff2 -14 ffffffffffffffff",
		"ffffffffffffff9c ffffff9c", "held ffffff9c ffffff9c ffffff9c",
		"inside ffffff9c ffffffffffffff9c ffffffffffffff9c ffffff9c",
		"kept ffffffffffffff9c ffffffffffffff9c ffffffffffffff9c ffffff9c ffffff9c",
		"syscall:openat" + numbers, "tracepoint:syscalls:sys_enter_openat" + numbers,
	}
	got := strings.Split(strings.TrimSpace(e.stdout), "\n")
	slices.Sort(got)
	e.hasLines(t, got, want)
}
