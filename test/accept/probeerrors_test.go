package accept

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// changed is a copy of a program with other bytes.
func changed(t *testing.T, path string, change func(data []byte) []byte) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(out, change(data), 0o755); err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutSections is an ELF file of which strip has left nothing but what runs.
func withoutSections(data []byte) []byte {
	binary.LittleEndian.PutUint64(data[40:], 0) // e_shoff
	binary.LittleEndian.PutUint32(data[60:], 0) // e_shnum, e_shstrndx
	return data
}

// otherMachine is an ELF file for SPARC.
func otherMachine(data []byte) []byte {
	binary.LittleEndian.PutUint16(data[18:], 43)
	return data
}

// Each thing that can be wrong with a probe of a user function is named, with what to do about it.
func TestUserProbeErrors(t *testing.T) {
	path := traceable(t, "calls")
	script := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, point, pattern string }{
		{"missing symbol", path + ":facotrial", `no such function: "facotrial"; did you mean "factorial"\?`},
		{"missing symbol unlike any", path + ":zzz",
			`no such function: "zzz"; startrace list 'uprobe:.*/calls:\*' shows those that it has`},
		{"missing binary", filepath.Dir(path) + "/clals:f", `clals does not exist; did you mean .*/calls\?`},
		{"missing folder", "/no/such/program:f", `/no/such/program does not exist; there is no folder /no/such/`},
		{"missing library", "nosuchlibrary:f", `no such program or library "nosuchlibrary".*give its path`},
		{"folder", "/tmp:f", `/tmp is a folder, not a regular file: give a program or a shared library`},
		{"script", script + ":f",
			`script.sh is a script, not an ELF file: probe the interpreter that its first line names`},
		{"empty file", changed(t, path, func([]byte) []byte {
			return nil
		}) + ":f", `program is empty, not an ELF file: copy or build it anew`},
		{"text", changed(t, path, func([]byte) []byte {
			return []byte("hello")
		}) + ":f", `program is not an ELF file \(it begins with "hello"\): give a program`},
		{"truncated", changed(t, path, func(b []byte) []byte {
			return b[:300]
		}) + ":add", `program is a truncated ELF file: .*copy or build it anew`},
		{"cut in the middle", changed(t, path, func(b []byte) []byte {
			return b[:len(b)/2]
		}) + ":add", `program is a truncated ELF file: .*copy or build it anew`},
		{"machine", changed(t, path, otherMachine) + ":add",
			`(?i)program is for .*sparc.*this machine runs .*give the file of this machine`},
		{"stripped", changed(t, path, withoutSections) + ":add",
			`no symbols are left in it: it is stripped; .*(install its debug symbols|build it without)`},
		{"indirect", path + ":strlen",
			`strlen.*chosen among several when the program starts.*probe the one that is used`},
		{"address outside", path + ":0x10", `0x10 is not in the file's code, which lies from 0x`},
		{"no such pattern", path + ":zzz*", `no function of .* matches zzz\*; startrace list`},
		{"empty", path + ":", `name is empty`},
		{"no function", path, `which function of it\? want uprobe:BINARY:FUNCTION`},
		{"offset inside an instruction", path + ":factorial+2",
			`in the middle of an instruction, which begins at factorial\+0x[01]: --unsafe`},
		{"offset behind the function", path + ":factorial+0x10000",
			`factorial ends before: it has \d+ bytes: --unsafe`},
		{"offset behind the code", path + ":factorial+0x1000000",
			`factorial\+0x1000000 is behind the code of .*: the number is in bytes from where the function begins`},
		{"line 0", path + ":calls.c:0", `calls.c:0: a file has no line 0; its first line is 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := startrace(t, "-e", `probe('uprobe:`+tt.point+`', lambda e: None)`, "-c", "true")
			flat := strings.Join(strings.Fields(e.stderr), " ")
			if e.status == 0 || !regexp.MustCompile(tt.pattern).MatchString(flat) {
				t.Errorf("status %d: %s", e.status, e.stderr)
			}
			if strings.Contains(flat, "panic") || e.stdout != "" {
				t.Errorf("stdout %q, stderr %s", e.stdout, e.stderr)
			}
		})
	}
}

// A point without a program is one of the traced process, if there is one.
func TestUserProbeWithoutProgram(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-e", `probe("uprobe:main", lambda e: None)`, "--duration", "1s")
	if e.status != 1 || !strings.Contains(e.stderr, "-p or -c") {
		t.Errorf("status %d: %s", e.status, e.stderr)
	}
}

// Kernel functions: what is not there, what must not be probed, and what this kernel cannot do are told apart.
func TestKernelProbeErrors(t *testing.T) {
	needTracing(t)
	for _, tt := range []struct{ point, pattern string }{
		{"kprobe:vfs_raed", `no function vfs_raed|no kprobes`},
		{"kprobe:zzz_*", `no function of the kernel matches .*zzz_\*|no kprobes`},
		{"fentry:vfs_read+8", `offset|trampolines`},
		{"kprobe:vfs_*+8", `one function, not a pattern|no kprobes`},
		{"kretprobe:vfs_read+8", `only kprobe and uprobe take an offset`},
	} {
		e := startrace(t, "-e", `probe("`+tt.point+`", lambda e: None)`, "-c", "true")
		if e.status != failedBeside ||
			!regexp.MustCompile(tt.pattern).MatchString(strings.Join(strings.Fields(e.stderr), " ")) {
			t.Errorf("%s: status %d: %s", tt.point, e.status, e.stderr)
		}
	}
	if kernelFunctions(t) {
		return
	}
	for point, why := range map[string]string{
		"kprobe:vfs_read": "it was built without CONFIG_KPROBES",
		"func:vfs_read":   "it was built without CONFIG_KPROBES",
		"fentry:vfs_read": `it was built without what they need .* forbids them`,
	} {
		e := startrace(t, "-e", `probe("`+point+`", lambda e: None)`, "-c", "true")
		if e.status != failedBeside || !regexp.MustCompile(point+`: this kernel has no .*: `+
			why).MatchString(strings.Join(strings.Fields(e.stderr), " ")) {
			t.Errorf("%s: status %d: %s", point, e.status, e.stderr)
		}
	}
}

// kernelFunctions reports whether this kernel lets functions of its own be probed.
func kernelFunctions(t testing.TB) bool {
	t.Helper()
	_, err := os.Stat("/sys/bus/event_source/devices/kprobe/type")
	return err == nil
}

// Someone without the right to trace is told which right that is.
func TestProbePermission(t *testing.T) {
	path := traceable(t, "calls")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	dir, err := os.MkdirTemp("/tmp", "startrace-nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "calls"), data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, forOthers(t), "-e", `probe("uprobe:`+dir+`/calls:add", lambda e: None)`, "-c",
		"true")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/bin:/usr/bin", "HOME=/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err == nil || !regexp.MustCompile(`root|CAP_BPF|CAP_SYS_ADMIN`).MatchString(text.String()) {
		t.Errorf("%v: %s", err, text.String())
	}
}

// What several points lack is said once, and what a kernel wholly lacks before what it has by another name.
func TestLackSaidOnce(t *testing.T) {
	needTracing(t)
	e := startrace(t, "-q", "memleak", "-l", "nosuchlibrary", "-c", "true")
	if e.status != 125 || strings.Count(e.stderr, "no such program or library") != 1 ||
		!strings.Contains(e.stderr, "3 more points of the script need that, too") {
		t.Errorf("status %d, want 125 and one message: %s", e.status, e.stderr)
	}
	e = startrace(t, "-q", "lookups", "-c", "true")
	const lack = "this kernel has no kprobes"
	if strings.Contains(e.stderr, lack) && !strings.Contains(e.stderr, "kretprobe:do_getname: "+lack) {
		t.Errorf("the first cause is not that there are no kprobes: %s", e.stderr)
	}
}

// Where no more files may be opened, that is said, with what to do. Which limit the points meet depends on what else is
// open.
func TestOpenFilesLimit(t *testing.T) {
	needTracing(t)
	const text = `probe("rawtracepoint:sched_process_exit", lambda e: None)`
	said := false
	for files := 10; files < 30; files++ {
		command := fmt.Sprintf(`ulimit -n %d; exec "$0" -e "$1" -c true`, files)
		out, err := exec.Command("sh", "-c", command, program(t, "startrace"), text).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "ulimit -n") {
			t.Errorf("with %d files no remedy is said: %s", files, out)
		}
		said = said || err != nil && strings.Contains(strings.Join(strings.Fields(string(out)), " "),
			"the limit of open files was reached, each point is one: raise it (ulimit -n, as root)")
	}
	if !said {
		t.Error("no limit from 10 to 29 was said to be reached")
	}
}
