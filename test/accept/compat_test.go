package accept

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const atFdCwd = 0xffffff9c // -100

// knownCalls is a program that makes calls with arguments of all kinds that a program of 32 bits has, and what
// startrace prints of them.
func knownCalls(t *testing.T) (*program32, string) {
	p := &program32{}
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	name := p.text(file)
	buffer := p.text("hello, world")
	p.call(5, 5, name, 0o102, 0o640) // open, O_RDWR|O_CREAT
	p.onResult(4, 4, buffer, 12)     // write; its result is no descriptor, so the rest knows that of open
	fd, noFd := uint32(3), uint32(0xffffffff)
	p.call(19, 19, fd, 0xfffffffb, 2)                        // lseek -5 from the end
	p.call(3, 3, fd, buffer, 100)                            // read 5
	p.call(180, 180, fd, buffer, 4, 7, 0)                    // pread64 at 7
	p.pairs(fd, buffer, 4, 0, 7, 0)                          //
	p.call(180, 180, fd, buffer, 4, 5, 1)                    // pread64 at 1<<32 + 5
	p.pairs(fd, buffer, 4, 0, 5, 1)                          //
	p.call(194, 194, noFd, 9, 1)                             // ftruncate64 to 1<<32 + 9, which fails
	p.pairs(noFd, 0, 9, 1)                                   //
	p.call(146, 146, fd, p.words(buffer, 3, buffer, 4), 2)   // writev
	p.call(197, 197, fd, p.put(strings.Repeat("\x00", 128))) // fstat64
	p.call(6, 6, fd)                                         // close
	p.call(295, 322, atFdCwd, p.text("/nonexistent/x"), 0, 0xffff)
	p.call(162, 162, p.words(0, 2000), 0)                // nanosleep
	p.call(407, 407, 1, 0, p.words(0, 0, 3000, 0))       // clock_nanosleep_time64
	p.call(192, 192, 0, 4096, 1, 0x22, 0xffffffff, 0x10) // mmap2, anonymous, page 16
	p.call(37, 37, 0xffffffff-1<<20, 0)                  // kill no process
	p.call(10, 10, name)                                 // unlink
	want := fmt.Sprintf(`open %[1]q 66 416 3
write 3 12 12
lseek 3 -5 2 7
read 3 100 5
pread64 3 4 7 4
pread64 3 4 4294967301 0
ftruncate64 4294967295 4294967305
writev 3 2 3 7
fstat64 3 True 19 <fault> 0
close 3 0
openat -100 "/nonexistent/x" 0 0 -2
nanosleep 0 2000 0
clock_nanosleep_time64 1 3000 0
mmap2 4096 1 34 65536 True
kill -1048577 0 -3
unlink %[1]q 0
exit 0 None
`, file)
	return p, want
}

const knownScript = `
def shown(e): return e.comm == NAME
probe("syscall:open", lambda e: print(e.func, '"%s"' % e.args.filename, e.args.flags, e.args.mode, e.ret),
      where = shown)
probe("syscall:openat", lambda e: print(e.func, e.args.dfd, '"%s"' % e.args.filename, e.args.flags, e.args.mode, e.ret),
      where = shown)
probe("syscall:{read,write}", lambda e: print(e.func, e.args.fd, e.args.count, e.ret), where = shown)
probe("syscall:pread64", lambda e: print(e.func, e.args.fd, e.args.count, e.args.pos, e.ret), where = shown)
probe("syscall:lseek", lambda e: print(e.func, e.args.fd, e.args.offset, e.args.whence, e.ret), where = shown)
probe("syscall:ftruncate", lambda e: print(e.func, e.args.fd, e.args.length), where = shown)
probe("syscall:writev", lambda e: print(e.func, e.args.fd, e.args.vlen, e.args.vec.iov_len, e.ret), where = shown)
probe("syscall:fstat", lambda e: print(e.func, e.args.fd, e.args.statbuf != None, e.args.statbuf.st_size,
                                       e.args.statbuf.UNUSED, e.ret), where = shown)
probe("syscall:close", lambda e: print(e.func, e.args.fd, e.ret), where = shown)
probe("syscall:nanosleep", lambda e: print(e.func, e.args.rqtp.tv_sec, e.args.rqtp.tv_nsec, e.ret), where = shown)
probe("syscall:clock_nanosleep", lambda e: print(e.func, e.args.which_clock, e.args.rqtp.tv_nsec, e.ret), where = shown)
probe("syscall:mmap", lambda e: print(e.func, e.args.len, e.args.prot, e.args.flags, e.args.off, e.ret > 0),
      where = shown)
probe("syscall:kill", lambda e: print(e.func, e.args.pid, e.args.sig, e.ret), where = shown)
probe("syscall:unlink", lambda e: print(e.func, '"%s"' % e.args.pathname, e.ret), where = shown)
probe("syscall:exit", lambda e: print(e.func, e.args.error_code, e.ret), where = shown)
`

// ofNative is a field that struct stat has, and stat64 of programs of 32 bits has not.
var ofNative = map[string]string{"amd64": "__unused", "arm64": "__unused4"}

// Calls by the 32-bit interface have their own names, arguments and results, from programs of 32 bits and of 64.
//
// > A pattern also means calls that do the same there with wider arguments, under their own names: `syscall:fstat`
// > means `fstat64`, too.
// > Such programs have some structs with another layout.
// > `e.args` knows the layouts that the kernel's types have, and other fields are FAULT.
func TestCompatCalls(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		t.Run(e.name, func(t *testing.T) {
			p, want := knownCalls(t)
			file := p.file(t, e)
			need32(t, file)
			text := strings.NewReplacer("NAME", fmt.Sprintf("%q", e.name), "UNUSED", ofNative[runtime.GOARCH]).
				Replace(knownScript)
			shows(t, want, "-q", script(t, text), "-c", file)
		})
	}
}

// failingCalls are calls that fail, by their numbers of 32 bits, with their arguments and errors.
var failingCalls = []struct {
	i386, arm uint32
	name      string
	args      []uint32
	err       int
}{
	{123, 0, "modify_ldt", []uint32{9, 0, 0}, 38},
	{3, 3, "read", []uint32{0xffffffff, 0, 0}, 9},
	{19, 19, "lseek", []uint32{0xffffffff, 0, 0}, 9},
	{41, 41, "dup", []uint32{0xffffffff}, 9},
	{91, 91, "munmap", []uint32{1, 4096}, 22},
	{163, 163, "mremap", []uint32{1, 4096, 4096, 0}, 22},
	{192, 192, "mmap2", []uint32{0, 0, 0, 0x22, 0xffffffff, 0}, 22},
	{221, 221, "fcntl64", []uint32{0xffffffff, 1}, 9},
}

// The result of a call of the 32-bit interface that fails is negative, as that of any other call.
//
// > A result that the kernel gives as an int of 32 bits has its sign, so that of `modify_ldt`, which fails, is
// > negative.
func TestCompatResults(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		p := &program32{}
		want := ""
		for _, c := range failingCalls {
			if c.arm == 0 && runtime.GOARCH == "arm64" {
				continue
			}
			p.call(c.i386, c.arm, c.args...)
			want += fmt.Sprintf("%s %d True\n", c.name, -c.err)
		}
		file := p.file(t, e)
		need32(t, file)
		text := fmt.Sprintf(`probe("syscall:*", lambda e: print(e.func, e.ret, e.ret < 0),
    where = lambda e: e.comm == %q and e.func not in ("execve", "exit"))`, e.name)
		shows(t, want, "-q", script(t, text), "-c", file)
	}
}

// Pointers in structs of programs of 32 bits lead on as those of others do, in both halves.
//
// > A pointer in such a struct leads on: `e.args.msg.msg_iov.iov_len` of `syscall:sendmsg` is the length in programs of
// > both widths.
func TestCompatPointers(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		p := &program32{}
		text := p.text("hello")
		list := p.words(text, 3, text, 5)
		none, bad := uint32(0), uint32(0xffffffff)
		p.call(370, 296, bad, p.words(text, 4, list, 2, none, 0, 0), 0)       // sendmsg
		p.call(370, 296, bad, p.words(none, 0, none, 0, none, 0, 0), 0)       // sendmsg
		p.call(345, 374, bad, p.words(none, 0, list, 1, none, 0, 0, 0), 1, 0) // sendmmsg
		file := p.file(t, e)
		need32(t, file)
		const want = `kernel (False, 3)
user (False, 3) 2
base hel…
kernel (True, -1)
user (True, -1) 0
many 3
`
		shows(t, want, "-q", script(t, fmt.Sprintf(`
def shown(e): return e.comm == %q
msg = lambda e: (e.args.msg.msg_iov == None, e.args.msg.msg_iov.iov_len if e.args.msg.msg_iov != None else -1)
probe("syscall:sendmsg", lambda e: print("kernel", e.value), kernel = msg, where = shown)
probe("syscall:sendmsg", lambda e: print("user", msg(e), e.args.msg.msg_iovlen), where = shown)
probe("syscall:sendmsg", lambda e: print("base", cstr(e.args.msg.msg_iov.iov_base, n = 3)),
    where = lambda e: shown(e) and e.args.msg.msg_iov != None)
probe("syscall:sendmmsg", lambda e: print("many", e.args.mmsg.msg_hdr.msg_iov.iov_len), where = shown)
`, e.name)), "-c", file)
	}
}

// Where an argument points to a number or struct of another width, it is read by that of the program.
//
// > An argument that points to a `long`, a `size_t`, an `off_t` or a struct of them points to 32 bits there, as in
// > `e.args.offset[0]` of `sendfile`.
func TestCompatPointedTo(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		p := &program32{}
		var counted [32]uint32
		for i := range counted {
			counted[i] = uint32(100 + i)
		}
		many := p.words(counted[:]...)
		const bad, junk = 0xffffffff, 0x77777777
		p.call(187, 187, bad, bad, p.words(5, junk), 1) // sendfile
		p.call(186, 186, p.words(many, 4, 16, junk), 0) // sigaltstack, which fails: a flag that is none
		p.call(242, 242, 1<<22+1, 4, p.words(3, junk))  // sched_getaffinity
		p.call(245, 243, 0, p.words(6, junk))           // io_setup
		p.call(312, 339, 1<<22+1, 0, p.words(7, junk))  // get_robust_list
		p.call(178, 178, 1<<22+1, 10, many)             // rt_sigqueueinfo
		p.call(276, 321, 99, p.words(8, junk), 32)      // set_mempolicy
		p.call(396, 308, bad, 0x101, many)              // shmctl, IPC_SET
		p.call(402, 304, bad, 0x101, many)              // msgctl, IPC_SET
		file := p.file(t, e)
		need32(t, file)
		const want = "sendfile64 5\nsigaltstack 4 16\nsched_getaffinity 3\nio_setup 6\nget_robust_list 7\n" +
			"rt_sigqueueinfo 103 104\nset_mempolicy 8\nshmctl 109\nmsgctl 116 117\n"
		shows(t, want, "-q", script(t, fmt.Sprintf(`
def shown(e): return e.comm == %q
probe("syscall:sendfile", lambda e: print(e.func, e.args.offset[0]), where = shown)
probe("syscall:sigaltstack", lambda e: print(e.func, e.args.uss.ss_flags, e.args.uss.ss_size), where = shown)
probe("syscall:sched_getaffinity", lambda e: print(e.func, e.args.user_mask_ptr[0]), where = shown)
probe("syscall:io_setup", lambda e: print(e.func, e.args.ctxp[0]), where = shown)
probe("syscall:get_robust_list", lambda e: print(e.func, e.args.len_ptr[0]), where = shown)
probe("syscall:rt_sigqueueinfo", lambda e: print(e.func, e.args.uinfo._sifields._rt._pid,
                                               e.args.uinfo._sifields._rt._uid),
      where = shown)
probe("syscall:set_mempolicy", lambda e: print(e.func, e.args.nmask[0]), where = shown)
probe("syscall:shmctl", lambda e: print(e.func, e.args.buf.shm_segsz), where = shown)
probe("syscall:msgctl", lambda e: print(e.func, e.args.buf.msg_qnum, e.args.buf.msg_qbytes), where = shown)
`, e.name)), "-c", file)
	}
}

// What programs of 32 bits do is found where the native call is asked for, and not where another call has its number.
//
// > A program of 32 bits (`int 0x80`, AArch32) makes its calls by numbers and registers of its own.
// > `syscall:` shows them under the kernel's names, with the arguments that they have there.
// > So `syscall:open` means all opens.
// > Tracepoints of single calls, as `tracepoint:syscalls:sys_enter_open`, do not have these calls, because the kernel
// > leaves them out.
// > `syscall:` does not show a number that no table has, whose call fails with `-ENOSYS`.
// > `raw_syscalls` has it.
// > At `raw_syscalls` `e.args.id` of such a call is its number plus 1024, so `syscall_name(e.args.id)` is its name.
func TestCompatCallsHaveNoWrongName(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		p := &program32{}
		name := p.text("/nonexistent/compat")
		p.call(511, 511, name) // in no table
		for range 3 {
			p.call(5, 5, name, 0, 0)
			p.call(10, 10, name)
			p.call(3, 3, 0xffffffff, name, 0)
		}
		file := p.file(t, e)
		need32(t, file)
		shows(t, wantNames, "-q", script(t, strings.ReplaceAll(`
n = count()
m = count()
names = count()
raw = count()
ids = count()
left = count()
shown = lambda e: e.comm == NAME
probe("syscall:*", lambda e: n[e.func].add(), where = shown)
probe("syscall:*", lambda e: names[e.func, "open" in e.func, e.func == "open", e.func.startswith("unl")].add(),
      where = shown)
probe("syscall:{newfstat,mprotect,munmap,io_setup,removexattr}", lambda e: print("wrong", e.func), where = shown)
probe("syscall:{unlink*,open,openat,read}", lambda e: m[e.func].add(), where = shown)
probe("tracepoint:raw_syscalls:sys_enter", lambda e: raw[syscall_name(e.args.id)].add(), where = shown)
probe("rawtracepoint:sys_enter", lambda e: ids[e.args.id].add(), where = shown)
probe("tracepoint:raw_syscalls:sys_exit", lambda e: left[syscall_name(e.args.id), e.args.ret].add(), where = shown)
probe("tracepoint:raw_syscalls:sys_enter", lambda e: print(e.args.id, syscall_name(e.args.id)),
      where = lambda e: e.comm == NAME and e.args.id == 1029)
probe("tracepoint:syscalls:sys_{enter,exit}_{*stat*,open,unlink,read}", lambda e: print("single", e.probe),
      where = shown)
def report():
    for name, table in (("n", n), ("m", m), ("names", names), ("raw", raw), ("ids", ids), ("left", left)):
        for k, v in sorted(table.items(), key = lambda kv: str(kv[0])):
            for i in range(v):
                print(name, k)
at_exit(report)
`, "NAME", fmt.Sprintf("%q", e.name))), "-c", file)
	}
}

// wantNames are the printed opens, and then what the tables have, an entry as often as it was counted.
var wantNames = strings.Repeat("1029 open\n", 3) + entries(
	counted{"n", "execve", 1}, counted{"n", "exit", 1}, counted{"n", "open", 3}, counted{"n", "read", 3},
	counted{"n", "unlink", 3},
	counted{"m", "open", 3}, counted{"m", "read", 3}, counted{"m", "unlink", 3},
	counted{"names", `("execve", False, False, False)`, 1}, counted{"names", `("exit", False, False, False)`, 1},
	counted{"names", `("open", True, True, False)`, 3}, counted{"names", `("read", False, False, False)`, 3},
	counted{"names", `("unlink", False, False, True)`, 3},
	counted{"raw", "exit", 1}, counted{"raw", "open", 3}, counted{"raw", "read", 3}, counted{"raw", "syscall_1535", 1},
	counted{"raw", "unlink", 3},
	counted{"ids", "1025", 1}, counted{"ids", "1027", 3}, counted{"ids", "1029", 3}, counted{"ids", "1034", 3},
	counted{"ids", "1535", 1},
	counted{"left", `("execve", 0)`, 1}, counted{"left", `("open", -2)`, 3}, counted{"left", `("read", -9)`, 3},
	counted{"left", `("syscall_1535", -38)`, 1}, counted{"left", `("unlink", -2)`, 3},
)

// counted is an entry of a table, and how often it was counted.
type counted struct {
	table, key string
	times      int
}

func entries(list ...counted) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(strings.Repeat(c.table+" "+c.key+"\n", c.times))
	}
	return b.String()
}

// A program of one width starts one of another: the call ends as what it began as, and its arguments are those of the
// caller.
func TestCompatExec(t *testing.T) {
	needTracing(t)
	var targets []string
	for _, e := range entries32() {
		file := (&program32{}).file(t, e)
		need32(t, file)
		targets = append(targets, file)
	}
	if runtime.GOARCH == "arm64" {
		targets = append(targets, program(t, "workload"))
	}
	for _, e := range entries32() {
		for _, target := range targets {
			p := &program32{}
			name := p.text(target)
			list := p.words(p.text("zero"), p.text("one two"), p.text("exit"), 0)
			p.call(11, 11, p.text("/nonexistent/x"), list, 0)
			p.call(11, 11, name, list, p.words(p.text("A=b"), 0))
			file := p.file(t, e)
			want := fmt.Sprintf("execve %[1]s (%[1]q,) 0\n"+
				"execve /nonexistent/x (\"zero\", \"one two\", \"exit\") -2\n"+
				"execve %[2]s (\"zero\", \"one two\", \"exit\") 0\n", file, target)
			shows(t, want, "-q", "-e",
				`probe("syscall:execve", lambda e: print(e.func, e.start.args.filename, e.start.args.argv, e.ret))`,
				"-c", file)
		}
	}
}

// > Calls of x32 are shown as the calls of their names.
// > A kernel without x32 gives all of them `-ENOSYS`.
//
// Calls of x32 are those that they are called after, also where the kernel has no x32 and gives an error to all of
// them.
func TestX32Calls(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("needs amd64, which has x32, not %s", runtime.GOARCH)
	}
	needTracing(t)
	p := &program32{}
	name := p.text("/nonexistent/x32")
	p.call(257, 0, atFdCwd, name, 0, 0)                 // openat
	p.call(520, 0, name, p.words(p.text("zero"), 0), 0) // execve
	p.call(514, 0, 7, 0x5401, 0)                        // ioctl
	p.call(2, 0, name, 0, 0)                            // open
	file := p.file(t, entry32{"x32", elf.ELFCLASS64, elf.EM_X86_64, codeX32})
	need32(t, file)
	const want = "openat True\n/nonexistent/x32\nexecve True\nioctl True\nopen\nopen True\n/nonexistent/x32\n"
	shows(t, want, "-q", script(t, `
shown = lambda e: e.comm == "x32"
probe("syscall:*", lambda e: print(e.func, e.ret == -ENOSYS or e.ret == -ENOENT or e.ret == -EBADF),
      where = lambda e: e.comm == "x32" and e.func != "exit" and e.ret != 0)
probe("syscall:{open,openat}", lambda e: print(e.args.filename), where = shown)
probe("tracepoint:raw_syscalls:sys_enter", lambda e: print(syscall_name(e.args.id)),
      where = lambda e: e.comm == "x32" and e.args.id == (1 << 30) + 2)
`), "-c", file)
}

// Calls of sockets of programs of 32 bits are one call, whose first argument says which.
//
// > Calls of sockets can be one there, `socketcall`, which `syscall:connect` does not mean.
// > Its `e.args.call` says which it is: 1 is `socket`, 2 `bind`, 3 `connect`.
func TestSocketcall(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		if e.machine != elf.EM_386 && e.machine != elf.EM_X86_64 {
			continue // arm has no such call
		}
		p := &program32{}
		p.call(102, 0, 1, p.words(1, 1, 0))
		p.call(102, 0, 2, p.words(0xffffffff, 0, 0))
		p.call(102, 0, 3, p.words(0xffffffff, 0, 0))
		file := p.file(t, e)
		need32(t, file)
		shows(t, "1 True\n2 -9\n3 -9\n", "-q", script(t, fmt.Sprintf(`
shown = lambda e: e.comm == %q
probe("syscall:socketcall", lambda e: print(e.args.call, e.ret if e.ret < 0 else True), where = shown)
probe("syscall:{socket,bind,connect}", lambda e: print(e.func), where = shown)
`, e.name)), "-c", file)
	}
}

// A stack of a program of 32 bits says why it has no callers.
//
// > Stacks of programs of 32 bits are not walked.
func TestStackOf32Bits(t *testing.T) {
	needTracing(t)
	for _, e := range entries32() {
		if e.class != elf.ELFCLASS32 {
			continue
		}
		p := &program32{}
		p.call(5, 5, p.text("/nonexistent/compat"), 0, 0)
		file := p.file(t, e)
		need32(t, file)
		got := startrace(t, script(t, fmt.Sprintf(`probe("syscall:open", lambda e: print(e.ustack()), `+
			`where = lambda e: e.comm == %q)`, e.name)), "-c", file).ok(t)
		const why = "stacks of programs of 32 bits are not walked"
		end := "stack of " + file + " does not reach its beginning: " + why
		if !strings.Contains(got.stdout, "not followed further: "+why) || !strings.Contains(got.stderr, end) {
			t.Errorf("got %s\n%s", got.stdout, got.stderr)
		}
	}
}

// The list of a call's arguments has types of C, also where the kernel is given pages and e.args has bytes.
func TestListOfPages(t *testing.T) {
	e := startrace(t, "list", "-v", "syscall:mmap2").ok(t)
	const want = "unsigned long  # bytes; the call has it as a number of pages of 4096"
	if !strings.Contains(e.stdout, want) {
		t.Errorf("got %s, want %s", e.stdout, want)
	}
}
