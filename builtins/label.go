package builtins

import (
	"fmt"
	"strconv"
	"syscall"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/starlark/value"
)

// Labels also stand in kernel halves: there the number is stored or sent and
// readers see the text. Both ways use the same functions.
var labelFamily = []Entry{
	label("errno", "errno(n)", "The name of an error number, of either sign: errno(-2) is ENOENT."),
	label("signal", "signal(n)", "The name of a signal: SIGTERM."),
	label("syscall_name", "syscall_name(n)", "The name of a system call by its number."),
	label("ksym", "ksym(addr)", "The kernel function at an address."),
	label("usym", "usym(addr)", "The user function at an address of the current process."),
	label("inet", "inet(addr)", "An IPv4 or IPv6 address as text."),
	label("mac", "mac(addr)", "A hardware address as text."),
	label("dev_name", "dev_name(dev)", "The name of a block device by its number."),
	{
		Name: "names", Family: "labels",
		Signature: `names(v, family="")`,
		Doc:       "The name of a value, or A|B for flags: of an enum of the kernel, a shipped family, or a prefix.",
		call:      kernelOnly,
	},
}

func label(name, sig, doc string) Entry {
	return Entry{Name: name, Family: "labels", Signature: sig, Doc: doc, call: labelCall}
}

// DefaultLabels are the label functions that need nothing of the machine.
func DefaultLabels() map[string]value.LabelFunc {
	return map[string]value.LabelFunc{
		"errno":        ErrnoName,
		"signal":       SignalName,
		"syscall_name": func(v uint64) string { return kernel.SyscallName(int(int32(v))) },
	}
}

func labelCall(e *Env, c *call) (starlark.Value, error) {
	var n starlark.Int
	if err := c.unpack("n", &n); err != nil {
		return nil, err
	}
	f := e.Labels[c.name]
	if f == nil {
		return kernelOnly(e, c)
	}
	v, ok := n.Uint64()
	if i, signed := n.Int64(); signed {
		v, ok = uint64(i), true
	}
	if !ok {
		return nil, fmt.Errorf("%s: %s does not fit in 64 bits", c.name, n)
	}
	return starlark.String(f(v)), nil
}

// ErrnoName names an error of either sign; what is no error stays a number.
func ErrnoName(v uint64) string {
	n := int64(v)
	if abs := max(n, -n); abs > 0 && abs < 4096 {
		if name := unix.ErrnoName(syscall.Errno(abs)); name != "" {
			return name
		}
	}
	return strconv.FormatInt(n, 10)
}

// SignalName names a signal. Numbers from 34 on are those of the real-time
// signals, counted from glibc's SIGRTMIN.
func SignalName(v uint64) string {
	n := int(int32(v))
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	switch {
	case n == 34:
		return "SIGRTMIN"
	case n > 34 && n <= 64:
		return "SIGRTMIN+" + strconv.Itoa(n-34)
	}
	return strconv.Itoa(n)
}
