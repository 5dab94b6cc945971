package attach

import (
	"errors"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// Features tries what the running kernel can do. trampoline is the BTF number
// of a function to try trampolines on, 0 if there is no BTF.
func Features(trampoline uint32) kernel.Features {
	f := kernel.Features{Why: map[string]string{}}
	f.Kprobe = hasSource("kprobe", "CONFIG_KPROBES", f.Why)
	f.Uprobe = hasSource("uprobe", "CONFIG_UPROBES", f.Why)
	f.KprobeMulti = f.Kprobe && hasKprobeMulti()
	f.UprobeMulti = f.Uprobe && hasUprobeMulti()
	f.Cookies = hasCookies()
	err := tryTrampoline(trampoline)
	if f.Fentry = err == nil; err != nil {
		f.Why["fentry"] = explainPermission(err).Error()
	}
	return f
}

// hasSource asks whether the kernel has a source of probes.
func hasSource(name, config string, why map[string]string) bool {
	_, err := os.Stat(pmuFolder + name + "/type")
	if err != nil {
		why[name] = "it was built without " + config
	}
	return err == nil
}

// returning is the least program.
func returning(typ ebpf.ProgramType, at ebpf.AttachType, before ...asm.Instruction) *bpf.Program {
	return &bpf.Program{Name: "startrace_try", Type: typ, AttachType: at, Instructions: append(before, asm.Mov.Imm(asm.R0, 0), asm.Return())}
}

// withProgram loads a program for a moment.
func withProgram(p *bpf.Program, try func(fd int) error) error {
	fd, err := bpf.Load(p, nil)
	if err != nil {
		return err
	}
	err = try(fd)
	return errors.Join(err, unix.Close(fd))
}

// hasKprobeMulti asks for a function that there is not: kernels that know the
// link look for it.
func hasKprobeMulti() bool {
	err := withProgram(returning(ebpf.Kprobe, ebpf.AttachTraceKprobeMulti), func(fd int) error {
		link, err := bpf.LinkKprobeMulti(fd, []string{"startrace has no such function"}, nil, false)
		if err == nil {
			return unix.Close(link)
		}
		return err
	})
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// hasUprobeMulti asks for a folder: kernels that know the link say EBADF, for
// it is no file.
func hasUprobeMulti() bool {
	err := withProgram(returning(ebpf.Kprobe, ebpf.AttachTraceUprobeMulti), func(fd int) error {
		link, err := bpf.LinkUprobeMulti(fd, &bpf.UprobeMulti{Path: "/", Offsets: []uint64{0}})
		if err == nil {
			return unix.Close(link)
		}
		return err
	})
	return errors.Is(err, unix.EBADF)
}

// hasCookies loads a program that asks for its cookie.
func hasCookies() bool {
	return withProgram(returning(ebpf.Kprobe, ebpf.AttachNone, asm.FnGetAttachCookie.Call()), func(int) error { return nil }) == nil
}

// tryTrampoline attaches a program to a function for a moment.
func tryTrampoline(function uint32) error {
	if function == 0 {
		return errors.New("there is no BTF to find functions by")
	}
	p := returning(ebpf.Tracing, ebpf.AttachTraceFEntry)
	p.AttachBTF = function
	return withProgram(p, func(fd int) error {
		link, err := bpf.AttachTracing(fd)
		if err == nil {
			err = unix.Close(link)
		}
		return err
	})
}
