package accept

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A pointer that is an error of the kernel is that negative number, in both halves and at each return: here that of a
// file that is not there.
//
// > A pointer can be an error of the kernel (ERR_PTR).
// > It is that error's negative number where it is compared or shown: `e.ret < 0` and `e.ret == -ENOENT` hold for it,
// > and `errno(e.ret)` names it.
// > `errno(p)` of any other pointer is None.
// > For a pointer that is an error (ERR_PTR) it is that error's name, and for another pointer None.
func TestErrorPointers(t *testing.T) {
	needKernelFunctions(t)
	n := scaled(400)
	opener := "do_filp_open"
	if !kernelHas(t, opener) {
		opener = "do_file_open" // its name on 7.2
	}
	e, _ := traced(t, strings.ReplaceAll(`
found = count()
mine = lambda e: e.comm == "wl-opens"
def kernel(e):
    found[e.probe, e.ret < 0, e.ret == -ENOENT, -4095 <= e.ret and e.ret <= -1, 0 > e.ret, e.ret >= 0,
          errno(e.ret)].add()
for kind in ["kretprobe", "fexit", "func"]:
    probe(kind + ":do_filp_open", kernel, where = mine)
user = {}
def counted(e):
    key = (e.ret < 0, e.ret == -ENOENT, -4095 <= e.ret and e.ret <= -1, 0 > e.ret, e.ret >= 0, str(errno(e.ret)))
    user[key] = user.get(key, 0) + 1
probe("kretprobe:do_filp_open", counted, where = mine)
at_exit(lambda: [print("kernel", k, v) for k, v in found.items()])
at_exit(lambda: [print("user", k, v) for k, v in user.items()])
`, "do_filp_open", opener), nil, "opens", strconv.Itoa(n), "1", t.TempDir())
	for _, who := range []string{`kernel \("kretprobe:` + opener + `", `, `kernel \("fexit:` + opener + `", `,
		`kernel \("func:` + opener + `", `, `user \(`} {
		failed := number(t, e.stdout, `(?m)^`+who+`True, True, True, True, False, "ENOENT"\) (\d+)$`)
		opened := number(t, e.stdout, `(?m)^`+who+`False, False, False, False, True, "?None"?\) (\d+)$`)
		checkAccount(t, e, failed+opened, n)
		if failed == 0 || opened == 0 {
			t.Errorf("%s: %d failed, %d opened", who, failed, opened)
		}
	}
	if lines := strings.Count(strings.TrimSpace(e.stdout), "\n") + 1; lines != 8 {
		t.Errorf("other results than these:\n%s", e.stdout)
	}
}

// The member's offset is no address.
//
// > A struct that lies in what a null pointer should point at has no address, so it is FAULT, too.
func TestMemberOfNull(t *testing.T) {
	needTracing(t)
	e, _ := traced(t, `
seen = count()
probe("tracepoint:syscalls:sys_enter_getppid",
      lambda e: print(e.task.vfork_done, e.task.vfork_done.wait, e.task.vfork_done.done))
probe("tracepoint:syscalls:sys_enter_getppid", lambda e: seen[e.task.vfork_done.wait].add())
at_exit(lambda: [print("key", k, v) for k, v in seen.items()])
`, nil, "getppid", "3", "1")
	for _, want := range []string{"None <fault> <fault>\n", "key <fault> 3\n"} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, e.stdout, e.stderr)
		}
	}
}

// A name without a length at the end of a struct is a string, as it is at any other place.
func TestFlexibleName(t *testing.T) {
	needTracing(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := startrace(t, "-q", script(t, `
names_ = count()
probe("syscall:getdents64", lambda e: print("user", e.args.dirent.d_name), where = lambda e: e.ret > 0)
probe("syscall:getdents64", lambda e: names_[e.args.dirent.d_name].add(), where = lambda e: e.ret > 0)
at_exit(lambda: [print("kernel", k, v) for k, v in names_.items()])
`), "-c", "ls -a "+dir).ok(t)
	for _, want := range []string{"user .", "kernel ."} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, e.stdout, e.stderr)
		}
	}
}
