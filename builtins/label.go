package builtins

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/value"
)

// Labels: errno(), signal(), syscall_name(), ksym(), usym(), dev_name() and their texts for numbers (`labels`).

// Labels also stand in kernel halves: there the raw value is stored or sent
// and readers see the text. Both ways use the same functions.
var labelFamily = []Entry{
	label("errno", "errno(n)",
		`The name of an error as system calls return it: errno(-2) is ENOENT. A number that is not negative is no
error and stays a number, as an error without a name does. For a pointer that is an error (ERR_PTR) it is that error's
name, and for another pointer None.`),
	label("signal", "signal(n)", "The name of a signal: SIGTERM."),
	label("syscall_name", "syscall_name(n)",
		`The name of a system call by its number. A call of a program of 32 bits has the number there plus 1024. A
number of a call without a name reads as syscall_1000, one that is no C int, or the least one, as syscall_?.`),
	label("ksym", "ksym(addr)", "The kernel function at an address."),
	{
		Name: "usym", Family: "labels",
		Signature: "usym(addr, pid=None)",
		Doc: `The user function at an address of a process, by default of the one of -p or -c. It is a symbol of
the ELF file, else MODULE+0xOFFSET. The process must still be there. Code that a program made at run time has no name.`,
		call: passAbsent(usymCall),
	},
	{
		Name: "inet", Family: "labels",
		Signature: "inet(addr)",
		Doc: `An IPv4 or IPv6 address as text. The address is an int as the kernel holds it, in the network's
order, or its 4 or 16 bytes. The low 32 bits of an int are the address, as for ntohl.`,
		call: passAbsent(inetCall),
	},
	{
		Name: "mac", Family: "labels",
		Signature: "mac(addr)",
		Doc:       "A hardware address as text, of its bytes.",
		call:      passAbsent(macCall),
	},
	label("dev_name", "dev_name(dev)",
		`The name of a block device by the kernel's number for it (major << 20 | minor), or 8,0 where it has none.`),
	{
		Name: "names", Family: "labels",
		Signature: `names(v, family="")`,
		Doc: `The name of a value, or A|B for flags. What has no name is a number in hex, of negative flags the 32
bits of a C int, if they fit in it. A negative number that is no flags and has no name stays decimal. The family is an
enum of the kernel ("pid_type"), the beginning of the names of constants ("O_", "AF_"), "tcp_state", or "mode" for
rw-r--r--. The family may be left out in kernel halves for a field whose type is an enum.`,
		call: passAbsent(namesCall),
	},
}

// label is the row of a label: a text for a number, which kernel halves keep as the number.
func label(name, sig, doc string) Entry {
	return Entry{Name: name, Family: "labels", Signature: sig, Doc: doc, call: passAbsent(labelCall)}
}

// passAbsent lets what is not there through, as a label in a kernel half does: errno(FAULT) is FAULT.
func passAbsent(f func(*Env, *call) (starlark.Value, error)) func(*Env, *call) (starlark.Value, error) {
	return func(e *Env, c *call) (starlark.Value, error) {
		if len(c.args) > 0 && (value.IsFault(c.args[0]) || c.args[0] == starlark.None) {
			return c.args[0], nil
		}
		return f(e, c)
	}
}

// labels gives what labels mean that kernel halves put on values. The session
// adds those that need the machine.
func (e *Env) labels() value.Labels {
	return value.Labels{
		Ints: map[string]value.LabelFunc{
			"errno":         ErrnoName,
			"signal":        SignalName,
			"syscall_name":  syscallName,
			"syscall_point": func(v uint64) string { return "syscall:" + syscallName(v) },
			"inet":          inet4,
			"inet4":         inet4,
		},
		With: map[string]func(string) value.LabelFunc{
			"names":    e.namesLabel,
			"strftime": e.strftimeLabel,
		},
		Bytes: map[string]value.BytesLabelFunc{
			"inet":  inetLabel, // of either length
			"inet4": inetLabel,
			"inet6": inetLabel,
			"mac":   func(b []byte, _ bool) starlark.Value { return starlark.String(macText(b)) },
		},
		OfText: map[string]func(string) (uint64, bool){"errno": errnoOf, "signal": signalOf},
	}
}

// syscallName is the name of a call by the 32 bits of its number: kernel.CallNumber.
func syscallName(v uint64) string { return kernel.SyscallName(int(int32(v))) }

// cInt is v as a C int. It is false where v is more than that: then it has no name, and must not get the name of its
// low half. So each text is that of one number, which keys of tables rely on.
func cInt(v uint64) (int, bool) {
	n := int64(v)
	return int(n), n >= math.MinInt32 && n <= math.MaxInt32
}

// wide is the text of a word that has no name. Whether it has a sign is not known here.
func wide(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// labelCall is a label that is a function of one int.
func labelCall(e *Env, c *call) (starlark.Value, error) {
	var n starlark.Int
	argument := "n"
	switch c.name {
	case "ksym":
		argument = "addr"
	case "dev_name":
		argument = "dev"
	}
	if err := c.unpack(argument, &n); err != nil {
		return nil, err
	}
	f := e.Labels.Ints[c.name]
	if f == nil {
		return kernelOnly(e, c)
	}
	v, err := c.word(n)
	if err != nil {
		return nil, err
	}
	if _, small := n.Int64(); c.name == "errno" && !small {
		if !isErrno(v) {
			return starlark.None, nil // an address, which is no error
		}
	}
	if c.name == "syscall_name" {
		v = uint64(kernel.CallNumber(int64(v)))
	}
	if text := f(v); text != "" {
		return starlark.String(text), nil
	}
	return starlark.MakeInt64(int64(v)), nil // a label in a kernel half has no sign of its own
}

// usymCall names an address of a process: of the one of the event, or of the one that pid says.
func usymCall(e *Env, c *call) (starlark.Value, error) {
	var n starlark.Int
	var pid starlark.Value = starlark.None
	if err := c.unpack("addr", &n, "pid?", &pid); err != nil {
		return nil, err
	}
	addr, err := c.word(n)
	if err != nil {
		return nil, err
	}
	id := 0
	if pid != starlark.None {
		if err := starlark.AsInt(pid, &id); err != nil || id <= 0 {
			return nil, fmt.Errorf("usym: pid: got %s, want that of a process", pid)
		}
	}
	if e.UserSymbol == nil {
		return kernelOnly(e, c)
	}
	name, err := e.UserSymbol(id, addr)
	if err != nil {
		return nil, fmt.Errorf("usym: %w", err)
	}
	return starlark.String(name), nil
}

// ErrnoName names an error as system calls return it, at most MAX_ERRNO
// (include/linux/err.h) below 0; "" for what is no error or has no name, which stays a number.
func ErrnoName(v uint64) string {
	if isErrno(v) {
		return kernel.ErrnoName(int(int64(v)))
	}
	return ""
}

// isErrno reports whether a word of 64 bits is an error of the kernel.
func isErrno(v uint64) bool { n := int64(v); return n < 0 && n >= -wire.MaxErrno }

// SignalName names a signal. Numbers from 34 on are those of the real-time
// signals, counted from glibc's SIGRTMIN.
func SignalName(v uint64) string {
	n, ok := cInt(v)
	if !ok {
		return wide(v)
	}
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

// errnoOf and signalOf are the number of which errno and signal give a text.
func errnoOf(text string) (uint64, bool) {
	n, ok := errnoNumbers()[text]
	return n, ok
}

func signalOf(text string) (uint64, bool) {
	if n, ok := signalNumbers()[text]; ok {
		return n, true
	}
	// A number that is no signal's is its own text.
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && SignalName(uint64(n)) == text {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n, err == nil && SignalName(n) == text
}

var (
	errnoNumbers  = sync.OnceValue(func() map[string]uint64 { return numbersOf(ErrnoName, -wire.MaxErrno, -1) })
	signalNumbers = sync.OnceValue(func() map[string]uint64 { return numbersOf(SignalName, 1, 64) })
)

// numbersOf has the numbers from first to last by their names.
func numbersOf(name value.LabelFunc, first, last int64) map[string]uint64 {
	numbers := map[string]uint64{}
	for n := first; n <= last; n++ {
		if text := name(uint64(n)); text != "" {
			numbers[text] = uint64(n)
		}
	}
	return numbers
}
