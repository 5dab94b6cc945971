package kernel

import (
	"errors"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Security hooks (lsm:), and whether programs at them would be called.

// HookPrefix begins the names of the functions to which programs at hooks are attached (LSM_HOOK of
// kernel/bpf/bpf_lsm.c); others begin so, too.
const HookPrefix = "bpf_lsm_"

// hookTable has a member for each hook (include/linux/lsm_hooks.h).
const hookTable = "security_list_options"

// MatchHooks gives the security hooks whose names match, sorted: places at which the kernel asks its security modules.
// For each it has an empty function to which programs are attached (5.7, kernel/bpf/bpf_lsm.c).
func (f *Facts) MatchHooks(glob string) ([]TypedPoint, error) {
	return f.matchTyped("security hook", glob, (*BTF).hooks)
}

func (b *BTF) hooks() (out []TypedPoint) {
	table, found := b.Named(KindUnion, hookTable)
	if !found {
		return nil // built without CONFIG_SECURITY
	}
	for _, name := range b.Fields(table) {
		id, found := b.Named(KindFunc, HookPrefix+name)
		if !found {
			continue
		}
		if proto := b.record(b.record(id).ref()); proto != nil && proto.kind() == btfProto {
			out = append(out, TypedPoint{Name: name, Func: id, Params: b.params(proto)})
		}
	}
	return out
}

// HooksCalled says why programs at security hooks would not be called; fixtures call them.
func (f *Facts) HooksCalled() error {
	f.hooksOnce.Do(func() {
		switch {
		case f.earlier != nil:
			f.hooksErr = f.earlier.HooksCalled()
		case f.opts.HooksCalled != nil:
			f.hooksErr = f.opts.HooksCalled()
		}
	})
	return f.hooksErr
}

// NoHook says why a hook can have no program, "" if it can, or if nobody knows.
func (f *Facts) NoHook(h TypedPoint) string {
	if why := f.NoTrampoline(h.Function()); why != "" {
		return why
	}
	if err := f.tryHook(h); err != nil {
		return err.Error()
	}
	return ""
}

// tryHook tries each hook once.
func (f *Facts) tryHook(h TypedPoint) error {
	switch {
	case f.earlier != nil:
		return f.earlier.tryHook(h)
	case f.opts.TryHook == nil:
		return nil
	}
	f.hooksTriedMu.Lock()
	defer f.hooksTriedMu.Unlock()
	err, tried := f.hooksTried[h.Name]
	if !tried {
		if f.hooksTried == nil {
			f.hooksTried = map[string]error{}
		}
		err = f.opts.TryHook(h.Func)
		f.hooksTried[h.Name] = err
	}
	return err
}

// ErrHooksUnasked: programs can be attached to the hooks, and nobody runs them.
var ErrHooksUnasked = errors.New("bpf is not among the security modules of this kernel, so that programs at hooks " +
	"are never run: boot with bpf at the end of lsm= in the kernel's command line, such as " +
	"lsm=landlock,lockdown,yama,apparmor,bpf")

// securityBPF is the number of the module bpf (LSM_ID_BPF, include/uapi/linux/lsm.h).
const securityBPF = 109

// errHooksUnknown: a kernel before 6.8 tells by a file only.
var errHooksUnknown = errors.New("whether bpf is among the security modules of this kernel is not known, " +
	"for securityfs is not mounted: mount it, as root: mount -t securityfs securityfs /sys/kernel/security")

// HooksCalled asks the running kernel whether programs at security hooks are called: whether its security module is one
// of those that were switched on at the boot.
func HooksCalled() error {
	ids := make([]uint64, 64)
	size := uint32(8 * len(ids))
	n, _, errno := unix.Syscall(unix.SYS_LSM_LIST_MODULES, uintptr(unsafe.Pointer(&ids[0])),
		uintptr(unsafe.Pointer(&size)), 0)
	if errno == 0 {
		if slices.Contains(ids[:min(int(n), len(ids))], securityBPF) {
			return nil
		}
		return ErrHooksUnasked
	}
	text, err := os.ReadFile("/sys/kernel/security/lsm") // before 6.8
	switch {
	case err != nil:
		return errHooksUnknown
	case slices.Contains(strings.Split(strings.TrimSpace(string(text)), ","), "bpf"):
		return nil
	}
	return ErrHooksUnasked
}
