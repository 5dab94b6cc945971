package bpf

import (
	"errors"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

func rawTracepoint(t testing.TB, insns ...asm.Instruction) *ebpf.Program {
	t.Helper()
	if Missing() {
		t.Skip("needs a kernel with bpf(2) (CONFIG_BPF_SYSCALL); an emulator of programs has none")
	}
	p, err := Load(&Program{Name: "a test/of names", Type: ebpf.RawTracepoint, Instructions: insns}, nil)
	if errors.Is(err, unix.EPERM) {
		t.Skip("needs CAP_BPF and CAP_PERFMON, or root:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestLoadLog(t *testing.T) {
	rawTracepoint(t, asm.Mov.Imm(asm.R0, 0), asm.Return()) // skips without rights
	bad := &Program{Type: ebpf.RawTracepoint, Instructions: asm.Instructions{asm.Mov.Reg(asm.R0, asm.R3), asm.Return()}}
	log := make([]byte, 4096)
	if _, err := Load(bad, log); !errors.Is(err, unix.EACCES) ||
		!strings.Contains(unix.ByteSliceToString(log), "R3 !read_ok") {
		t.Errorf("got %v and the log %q", err, unix.ByteSliceToString(log))
	}
	if _, err := Load(bad, log[:130]); !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EACCES) {
		t.Errorf("got %v, want ENOSPC or, since 6.4, EACCES", err)
	}
}

func TestRun(t *testing.T) {
	p := rawTracepoint(t,
		asm.LoadMem(asm.R0, asm.R1, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, 8, asm.DWord),
		asm.Sub.Reg(asm.R0, asm.R1), asm.Return())
	got, err := Run(p, []uint64{50, 8})
	if err != nil || got != 42 {
		t.Fatalf("got %d, %v; want 42", got, err)
	}
}

func TestAttachRawTracepoint(t *testing.T) {
	p := rawTracepoint(t, asm.Mov.Imm(asm.R0, 0), asm.Return())
	before := inherited(t)
	l, err := AttachRawTracepoint("sys_enter", p)
	if err != nil {
		t.Fatal(err)
	}
	if after := inherited(t); after != before {
		t.Errorf("%d descriptors would leak into commands, want %d", after, before)
	}
	if n, err := Misses(p); err != nil && !errors.Is(err, ErrNoMisses) || n != 0 {
		t.Errorf("misses %d, %v", n, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// inherited counts the descriptors that a command would get.
func inherited(t *testing.T) (n int) {
	t.Helper()
	for fd := range 256 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			n++
		}
	}
	return n
}

func TestLookupBatch(t *testing.T) {
	rawTracepoint(t, asm.Mov.Imm(asm.R0, 0), asm.Return()) // skips without rights
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i := range uint64(100) {
		if err := m.Put(i, i*i); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[byte]byte{}
	var cursor []byte
	for {
		keys, values, next := make([]byte, 8*30), make([]byte, 8*30), make([]byte, 8)
		n, err := LookupBatch(m, cursor, next, keys, values, 30)
		for i := range n {
			seen[keys[8*i]] = values[8*i]
		}
		if errors.Is(err, unix.ENOENT) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		cursor = next
	}
	for i := range byte(100) {
		if seen[i] != i*i {
			t.Errorf("entry %d is %d", i, seen[i])
		}
	}
}
