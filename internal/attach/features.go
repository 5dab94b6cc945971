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
	f.UprobeMulti = f.Uprobe && tryUprobeMulti() == nil
	f.Cookies = tryCookies() == nil
	err := tryTrampoline(trampoline)
	if f.Fentry = err == nil; err != nil {
		f.Denied = errors.Is(tryAttach(returning(ebpf.Kprobe, ebpf.AttachNone), nil), unix.EPERM)
		f.Why["fentry"] = explainTrampoline(err, f.Denied)
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

// hasKprobeMulti asks for a function that there is not: kernels that know the
// link look for it.
func hasKprobeMulti() bool {
	err := tryAttach(returning(ebpf.Kprobe, ebpf.AttachTraceKprobeMulti), func(fd int) (int, error) {
		return bpf.LinkKprobeMulti(fd, []string{"startrace has no such function"}, nil, false)
	})
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// tryUprobeMulti asks for a folder: kernels that know the link say EBADF, for
// it is no file.
func tryUprobeMulti() error {
	err := tryAttach(returning(ebpf.Kprobe, ebpf.AttachTraceUprobeMulti), func(fd int) (int, error) {
		return bpf.LinkUprobeMulti(fd, &bpf.UprobeMulti{Path: "/", Offsets: []uint64{0}})
	})
	return unless(err, unix.EBADF)
}

// unless is nil where err is the answer that shows that something would work.
func unless(err, answer error) error {
	if errors.Is(err, answer) {
		return nil
	}
	return err
}

// tryCookies loads a program that asks for its cookie.
func tryCookies() error {
	return tryAttach(returning(ebpf.Kprobe, ebpf.AttachNone, asm.FnGetAttachCookie.Call()), nil)
}

// tryAttach loads a program and attaches it for a moment; attach may be nil.
func tryAttach(p *bpf.Program, attach func(fd int) (int, error)) error {
	fd, err := bpf.Load(p, nil)
	if err != nil {
		return err
	}
	if attach != nil {
		var point int
		if point, err = attach(fd); err == nil {
			err = unix.Close(point)
		}
	}
	return errors.Join(err, unix.Close(fd))
}

// tryTrampoline attaches a program to a function for a moment.
func tryTrampoline(function uint32) error {
	if function == 0 {
		return errNoTypes
	}
	p := returning(ebpf.Tracing, ebpf.AttachTraceFEntry)
	p.AttachBTF = function
	return tryAttach(p, bpf.AttachTracing)
}

// explainTrampoline says why there are none. Who may load programs at all is
// refused for another reason than rights.
func explainTrampoline(err error, denied bool) string {
	if errors.Is(err, unix.EPERM) && !denied {
		return "it was built without what they need (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), or a security module forbids them"
	}
	return err.Error()
}

var errNoTypes = errors.New("there is no BTF to find functions by")
