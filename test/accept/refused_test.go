package accept

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// unlisted is a function of the kernel's symbols and types at which it puts no probe; "" if this kernel has none of
// those that are known to be so somewhere.
func unlisted(t *testing.T) string {
	t.Helper()
	symbols, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"blk_account_io_start", "rcu_read_lock_sched_held", "native_sched_clock",
		"__virt_addr_valid", "ct_idle_enter"} {
		if strings.Contains(string(symbols), " "+name+"\n") && !kernelHas(t, name) {
			return name
		}
	}
	return ""
}

// A function that the kernel does not let be probed is refused with the kernel's word; a list, a pattern and first() go
// on without it, with a line. Where all are refused, that is an error.
//
// > A pattern means the functions of which the kernel says that they can be probed. What it then refuses all the same,
// > or a function of a list, is left out with a line, and the others are attached.
func TestRefusedFunction(t *testing.T) {
	needKernelFunctions(t)
	name := unlisted(t)
	if name == "" {
		t.Skip("needs a kernel with a function that is built without a place for probes: " +
			"it has none of those that are known")
	}
	for _, kind := range []string{"kprobe", "fentry", "func"} {
		alone := startrace(t, "-e", `probe("`+kind+`:`+name+`", lambda e: None)`, "-c", "true")
		if alone.status != failedBeside || !strings.Contains(alone.stderr, name) ||
			strings.Contains(alone.stderr, "must not be probed") {
			t.Errorf("%s: status %d: %s", kind, alone.status, alone.stderr)
		}
	}
	for _, kind := range []string{"kprobe", "kretprobe", "fentry", "fexit", "func"} {
		e, _ := traced(t, `
n = count()
probe(["`+kind+`:`+name+`", "`+kind+`:vfs_read"], lambda e: n[e.func].add(), where = lambda e: e.comm == "wl-reads")
at_exit(lambda: [print(k, v) for k, v in n.items()])
`, nil, "reads", "100", "64")
		checkAccount(t, e, number(t, e.stdout, `(?m)^vfs_read (\d+)$`), 100)
		if !regexp.MustCompile(name + `.*; the others are attached`).MatchString(e.stderr) {
			t.Errorf("%s: nothing says that %s was left out: %s", kind, name, e.stderr)
		}
	}
	e, _ := traced(t, `
n = count()
probe(first("kprobe:`+name+`", "kprobe:vfs_read"), lambda e: n[e.func].add(), where = lambda e: e.comm == "wl-reads")
at_exit(lambda: [print(k, v) for k, v in n.items()])
`, nil, "reads", "100", "64")
	checkAccount(t, e, number(t, e.stdout, `(?m)^vfs_read (\d+)$`), 100)
	// A pattern means the functions of which the kernel says that they can be probed.
	e, _ = traced(t, `
n = count()
probe("kprobe:{`+name[:len(name)-1]+`?,vfs_read}", lambda e: n[e.func].add(), where = lambda e: e.comm == "wl-reads")
at_exit(lambda: [print(k, v) for k, v in n.items()])
`, nil, "reads", "100", "64")
	checkAccount(t, e, number(t, e.stdout, `(?m)^vfs_read (\d+)$`), 100)
	if strings.Contains(e.stderr, name) {
		t.Errorf("a pattern does not mean %s: %s", name, e.stderr)
	}
}

// A function that the kernel's list of functions has by another name is found by each of its names.
func TestAliasedFunction(t *testing.T) {
	needKernelFunctions(t)
	symbols, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\S+ T (__(?:x64|arm64)_sys_getppid)$`).FindStringSubmatch(string(symbols))
	if m == nil {
		t.Skip("needs a kernel whose list of symbols has getppid as __x64_sys_getppid or __arm64_sys_getppid")
	}
	for _, kind := range []string{"kprobe", "kretprobe", "fentry", "fexit", "func"} {
		e, _ := traced(t, `
n = count()
probe("`+kind+`:`+m[1]+`", lambda e: n[e.probe].add(), where = lambda e: e.comm == "wl-getppid")
at_exit(lambda: [print(k, v) for k, v in n.items()])
`, nil, "getppid", "100", "1")
		checkAccount(t, e, number(t, e.stdout, `(?m)^`+kind+`:`+m[1]+` (\d+)$`), 100)
	}
	e := startrace(t, "-e", `probe("kprobe:__x64_sys_getpidd", lambda e: None)`, "-c", "true")
	if e.status != failedBeside || !strings.Contains(e.stderr, "this kernel has no function __x64_sys_getpidd") {
		t.Errorf("%s", e.stderr)
	}
}
