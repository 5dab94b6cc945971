package accept

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// tiny makes a program that makes a number of calls of getppid and exits: no library, no other system call.
func tiny(t *testing.T, calls int) string {
	t.Helper()
	const base, head = 0x400000, 64 + 56
	code := slices.Concat(slices.Repeat([][]byte{tinyCall(t, unix.SYS_GETPPID)}, calls)...)
	code = append(code, tinyCall(t, unix.SYS_EXIT_GROUP)...)
	size := uint64(head + len(code))
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
				byte(elf.EV_CURRENT)},
			Type: uint16(elf.ET_EXEC), Machine: uint16(map[string]elf.Machine{"amd64": elf.EM_X86_64,
				"arm64": elf.EM_AARCH64}[runtime.GOARCH]),
			Version: uint32(elf.EV_CURRENT), Entry: base + head, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Filesz: size,
			Memsz: size, Align: 1 << 16},
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "tiny")
	if err := os.WriteFile(file, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// tinyCall is the instructions of a system call with the argument 0.
func tinyCall(t *testing.T, number uint32) []byte {
	t.Helper()
	le := binary.LittleEndian
	switch runtime.GOARCH {
	case "amd64": // xor edi, edi; mov eax, number; syscall
		return append(le.AppendUint32([]byte{0x31, 0xff, 0xb8}, number), 0x0f, 0x05)
	case "arm64": // mov x0, 0; mov x8, number; svc 0
		return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0xd2800000), 0xd2800008|number<<5), 0xd4000001)
	}
	t.Skipf("needs amd64 or arm64, whose machine code is known, not %s", runtime.GOARCH)
	return nil
}

// The first that is seen of a command is the entry of its execve, as with strace, and then every system call of its
// own: nothing of what it was before.
func TestCommandBegins(t *testing.T) {
	needTracing(t)
	e := startrace(t, script(t, `
probe("tracepoint:raw_syscalls:sys_enter", lambda e: printf("%s enters %d\n", e.comm, e.args.id))
probe("tracepoint:raw_syscalls:sys_exit", lambda e: printf("%s leaves %d\n", e.comm, e.args.id))
`), "-c", tiny(t, 3)).ok(t)
	want := []string{fmt.Sprintf("startrace enters %d", unix.SYS_EXECVE),
		fmt.Sprintf("tiny leaves %d", unix.SYS_EXECVE)}
	for range 3 {
		want = append(want, fmt.Sprintf("tiny enters %d", unix.SYS_GETPPID),
			fmt.Sprintf("tiny leaves %d", unix.SYS_GETPPID))
	}
	want = append(want, fmt.Sprintf("tiny enters %d", unix.SYS_EXIT_GROUP))
	got := strings.Split(strings.TrimSpace(e.stdout), "\n")
	e.hasLines(t, got, want)
}

// Exactly as many calls are counted as the command makes, and each that ends has begun.
func TestCommandCounted(t *testing.T) {
	needTracing(t)
	const calls = 1000
	e := startrace(t, script(t, `
n = count()
probe("tracepoint:raw_syscalls:sys_enter", lambda e: n["in", e.comm].add())
probe("tracepoint:raw_syscalls:sys_exit", lambda e: n["out", e.comm].add())
probe("syscall:*", lambda e: n["both", e.comm].add())
at_exit(lambda: [printf("%s %s %d\n", what, comm, calls) for (what, comm), calls in n.items()])
`), "-c", tiny(t, calls)).ok(t)
	got := map[string]int{}
	for line := range strings.Lines(e.stdout) {
		key, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		comm, count, _ := strings.Cut(number, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		got[key+" "+comm] = n
	}
	// execve begins under the old name; exit_group does not return, and is an event by its start.
	want := map[string]int{"in startrace": 1, "in tiny": calls + 1, "out tiny": calls + 1, "both tiny": calls + 2}
	if fmt.Sprint(got) != fmt.Sprint(want) && e.skipped(t) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
	if strings.Contains(e.stderr, "had no start") && e.skipped(t) == 0 {
		t.Errorf("stderr: %s", e.stderr)
	}
}

// The execve itself is an event with its argument, and its end has a start.
func TestCommandExecve(t *testing.T) {
	needTracing(t)
	file := tiny(t, 0)
	e := startrace(t, "-e", `probe("syscall:execve", lambda e: print(e.comm, e.ret, e.args.filename))`, "-c",
		file).ok(t)
	e.hasLines(t, slices.Collect(strings.Lines(e.stdout)), []string{fmt.Sprintf("tiny 0 %s\n", file)})
	if strings.Contains(e.stderr, "had no start") && e.skipped(t) == 0 {
		t.Errorf("stderr: %s", e.stderr)
	}
}

// A command that cannot be executed is an error that names it, whenever that is found.
func TestCommandImpossible(t *testing.T) {
	needTracing(t)
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	tests := map[string]string{
		filepath.Join(folder, "missing"):                                      "no such file",
		"no-such-command-anywhere":                                            "not found",
		write("no-program", "no program", 0o755):                              "exec format error",
		write("no-interpreter", "#!/no/such/interpreter\n", 0o755):            "no such file",
		write("no-permission", "#!/bin/sh\n", 0o644):                          "permission denied",
		write("no-elf", "\x7fELF"+strings.Repeat("\x00", 100), 0o755):         "exec format error",
		write("no-end", "#!"+strings.Repeat("/a", 2000)+"\nsomething", 0o755): "",
	}
	for command, want := range tests {
		t.Run(filepath.Base(command), func(t *testing.T) {
			e := startrace(t, "-e", `probe("syscall:getppid", lambda e: print(e.comm))`, "-c", command)
			if e.status != failedBeside || !strings.Contains(e.stderr, command) || !strings.Contains(e.stderr, want) ||
				e.stdout != "" {
				t.Errorf("status %d, stdout %q, stderr %q; want 125 and %q of the command", e.status, e.stdout,
					e.stderr, want)
			}
		})
	}
}

// Control-C goes to all processes of a terminal's foreground group: the command ends by it, and the run in order.
func TestInterruptGroup(t *testing.T) {
	needTracing(t)
	cmd := exec.Command(program(t, "startrace"), "-e", attached, "-e", `probe("syscall:getppid", lambda e: None)`,
		"-e", `at_exit(lambda: print("at exit"))`, "-c", "sleep 100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r := interact(t, cmd)
	r.await(t, "attached")
	if err := unix.Kill(-r.cmd.Process.Pid, unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if e := r.end(t).ok(t); !strings.Contains(e.stdout, "at exit\n") {
		t.Errorf("stdout %q, stderr %q", e.stdout, e.stderr)
	}
	if err := unix.Kill(-r.cmd.Process.Pid, 0); err != unix.ESRCH {
		t.Errorf("of the process group there is something left: %v", err)
	}
}
