package bpf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// What a library says becomes the kernel's answer, or, where it has kept that for itself, the one that it stands for.
func TestPlain(t *testing.T) {
	for _, test := range []struct{ err, want error }{
		{nil, nil},
		{fmt.Errorf("%w (missing kernel symbol or prog's AttachType?)", unix.EINVAL), unix.EINVAL},
		{&fs.PathError{Op: "stat", Path: "/x", Err: unix.ENOENT}, unix.ENOENT},
		{fmt.Errorf("couldn't find one or more symbols: %w", os.ErrNotExist), unix.ESRCH},
		{fmt.Errorf("create raw tracepoint: %w", link.ErrNotSupported), unix.EOPNOTSUPP},
	} {
		if got := plain(test.err); got != test.want {
			t.Errorf("%v: got %v, want %v", test.err, got, test.want)
		}
	}
}

// Each way to attach tells a refusal by the kernel's answer alone: words of the library would reach users.
func TestRefusals(t *testing.T) {
	raw := rawTracepoint(t, asm.Mov.Imm(asm.R0, 0), asm.Return())
	kprobe := func(at ebpf.AttachType) *ebpf.Program {
		p, err := Load(&Program{Type: ebpf.Kprobe, AttachType: at,
			Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}}, nil)
		if err != nil {
			t.Skip("needs a kernel that loads such programs (5.18):", at, err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	unknown := []string{"startrace_has_no_such_function"}
	nowhere := func(offset uint64, session bool) (Link, error) {
		u := &UprobeMulti{Path: "/no/such/file", Offsets: []uint64{offset}, Session: session}
		return LinkUprobes(kprobe(u.AttachType()), u)
	}
	for name, attach := range map[string]func() (Link, error){
		"raw tracepoint": func() (Link, error) { return AttachRawTracepoint("no_such_tracepoint", raw) },
		"kprobes": func() (Link, error) {
			return LinkKprobes(kprobe(KprobeMulti.AttachType()), KprobeMulti, unknown, nil)
		},
		"returns": func() (Link, error) {
			return LinkKprobes(kprobe(KprobeReturns.AttachType()), KprobeReturns, unknown, []uint64{1})
		},
		"session": func() (Link, error) {
			return LinkKprobes(kprobe(KprobeSession.AttachType()), KprobeSession, unknown, nil)
		},
		"uprobes":         func() (Link, error) { return nowhere(64, false) },
		"uprobes at 0":    func() (Link, error) { return nowhere(0, false) },
		"uprobe sessions": func() (Link, error) { return nowhere(64, true) },
		"no process": func() (Link, error) {
			u := &UprobeMulti{Path: "/proc/self/exe", Offsets: []uint64{64}, PID: 1<<22 + 1}
			return LinkUprobes(kprobe(u.AttachType()), u)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := attach()
			if _, ok := err.(unix.Errno); !ok {
				t.Errorf("got %v, %T %v: want an error number", l, err, err)
			}
		})
	}
	_, err := AttachRawTracepoint("no_such_tracepoint", raw)
	if !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v, want ENOENT", err)
	}
}
