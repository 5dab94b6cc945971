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

// What the kernel can do for the compiler, tried: trampolines, cookies, kinds of links.

// Features tries what the running kernel can do. For some answers it makes a link or a probe that the kernel must
// refuse, and takes the kind of refusal for the answer; no program runs for it. What nothing tells but the version is
// taken from that. A way that this process may not use counts as missing, but for KprobeDenied and PerfDenied, and so
// does one that is switched off.
func Features() kernel.Features {
	f := kernel.Features{Why: map[string]string{}}
	f.Kprobe = hasSource("kprobe", "CONFIG_KPROBES", f.Why)
	if err := kernel.KprobesOff(); err != nil {
		f.Kprobe, f.Why["kprobe"] = false, err.Error()
	}
	f.Uprobe = hasSource("uprobe", "CONFIG_UPROBES", f.Why)
	f.KprobeSession = f.Kprobe && knowsKprobes(bpf.KprobeSession)
	f.KprobeMulti = f.KprobeSession || f.Kprobe && knowsKprobes(bpf.KprobeMulti)
	f.UprobeSession = f.Uprobe && tryUprobes(true) == nil
	f.UprobeMulti = f.UprobeSession || f.Uprobe && tryUprobes(false) == nil
	if v, err := kernel.Release(); err == nil { // nothing tells but the version
		f.KprobesCount = f.KprobeMulti && v.AtLeast(6, 7)
		f.UprobesOfProcess = f.UprobeMulti && v.AtLeast(6, 10)
	}
	if held, err := kernel.OwnCapabilities(); err == nil && held.Effective>>unix.CAP_SYS_ADMIN&1 == 0 {
		f.KprobeDenied = f.Kprobe && denied(askNowhere(surelyShared[0]))
		f.PerfDenied = denied(tryCounter(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY))
	}
	f.Cookies = tryCookies() == nil
	return f
}

// denied tells errors that more rights would cure.
func denied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// Trampolines finds out whether programs can be attached by trampolines (5.5), by attaching one for a moment. function
// is the number in BTF of a function to try it on, 0 if there is no BTF.
func Trampolines(function uint32) (t kernel.Trampolines) {
	err := kernel.FunctionsOff()
	if err == nil {
		err = tryTrampoline(function)
	}
	if t.There = err == nil; !t.There {
		t.Denied = errors.Is(tryAttach(returning(ebpf.Kprobe, ebpf.AttachNone), nil), unix.EPERM)
		t.Why = explainTrampoline(err, t.Denied)
	}
	return t
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
	return &bpf.Program{Name: "startrace_try", Type: typ, AttachType: at,
		Instructions: append(before, asm.Mov.Imm(asm.R0, 0), asm.Return())}
}

// knowsKprobes offers names that cannot be read: kernels that know the link
// say so, before they look for any.
func knowsKprobes(kind bpf.KprobeLink) bool {
	p, err := bpf.Load(returning(ebpf.Kprobe, kind.AttachType()), nil)
	if err != nil {
		return false
	}
	knows := bpf.KnowsKprobes(p, kind)
	return p.Close() == nil && knows
}

// tryUprobes asks for a folder: kernels that know the link say EBADF, for it is
// no file.
func tryUprobes(session bool) error {
	u := &bpf.UprobeMulti{Path: "/", Offsets: []uint64{0}, Session: session}
	err := tryAttach(returning(ebpf.Kprobe, u.AttachType()), func(p *ebpf.Program) (bpf.Link, error) {
		return bpf.LinkUprobes(p, u)
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
func tryAttach(code *bpf.Program, attach func(*ebpf.Program) (bpf.Link, error)) error {
	p, err := bpf.Load(code, nil)
	if err != nil {
		return err
	}
	if attach != nil {
		var link bpf.Link
		if link, err = attach(p); err == nil {
			err = link.Close()
		}
	}
	return errors.Join(err, p.Close())
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
		return "it was built without what they need (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), " +
			"or a security module forbids them"
	}
	return err.Error()
}

var errNoTypes = errors.New("there is no BTF to find functions by")
