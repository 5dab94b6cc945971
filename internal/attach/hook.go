package attach

import (
	"errors"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
)

// Whether the kernel lets programs at a hook of lsm:.

// errHookClosed: the kernel has a list of hooks that give a module's own data and no decision, at which it lets no
// programs (bpf_lsm_disabled_hooks, kernel/bpf/bpf_lsm.c, 6.12). It shows the list to nobody.
var errHookClosed = errors.New("the kernel lets no programs at this hook")

// TryHook finds out whether the kernel lets programs at a security hook, by loading one that does nothing (5.7). It
// gives an error only if the kernel refuses this hook. All else that can go wrong is nil here, and attaching tells it.
func TryHook(hook kernel.TypeID) error {
	p := returning(ebpf.LSM, ebpf.AttachLSMMac)
	p.AttachBTF = uint32(hook)
	if err := tryAttach(p, nil); errors.Is(err, unix.EINVAL) {
		return errHookClosed
	}
	return nil // what else there is, attaching tells
}
