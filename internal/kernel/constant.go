package kernel

import (
	_ "embed"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Constants of headers (macros), names of errors and of signals.

// constantText holds what C spells as macros and BTF therefore lacks, from
// the headers of Linux 7.2 (uapi, and include/linux for what traces show:
// TASK_, SOCK_, MSG_ …), evaluated by a C compiler for each architecture. Flags
// that change with the kernel's version are left out. One line a name, sorted:
//
//	name value            on both
//	name amd64 arm64      - for none
//
// The values are the kernel's; where the C library has others (SIGRTMIN)
// there is no entry. Unsigned values above the range of int64 (ULONG_MAX) have
// none either.
//
//go:embed tables/constants.txt
var constantText string

// Constant gives the value of a macro on this architecture.
func Constant(name string) (int64, bool) { return constantFor(runtime.GOARCH, name) }

func constantFor(arch, name string) (int64, bool) {
	at := 0
	if !strings.HasPrefix(constantText, name+" ") {
		// An index would have to read all of the text for the few names of a script.
		if at = strings.Index(constantText, "\n"+name+" ") + 1; at == 0 || name == "" {
			return 0, false
		}
	}
	line, _, _ := strings.Cut(constantText[at:], "\n")
	return constantValue(arch, line)
}

func constantValue(arch, line string) (int64, bool) {
	words := strings.Split(line, " ")
	text := words[1]
	if arch == "arm64" && len(words) == 3 {
		text = words[2]
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil // an error is the - of a name that arch does not have
}

// ConstantNames gives the names that Constant knows, for spelling hints.
func ConstantNames() []string {
	var out []string
	for _, c := range Constants("") {
		out = append(out, c.Name)
	}
	return out
}

// Constants gives the constants of this architecture whose names begin with
// prefix, sorted by name.
func Constants(prefix string) []EnumValue {
	var out []EnumValue
	for line := range strings.Lines(constantText) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		if v, ok := constantValue(runtime.GOARCH, line); ok {
			name, _, _ := strings.Cut(line, " ")
			out = append(out, EnumValue{name, v})
		}
	}
	return out
}

// Second names of numbers that have a usual one.
var isAlias = map[string]bool{
	"EWOULDBLOCK": true, "EDEADLOCK": true, "ENOTSUP": true, "EFSCORRUPTED": true, "EFSBADCRC": true,
	"SIGIOT": true, "SIGPOLL": true, "SIGUNUSED": true,
}

// ErrnoName gives the name of an error number, negative or not, "" for none.
// Numbers from 512 on are the kernel's own: ERESTARTSYS and the like.
func ErrnoName(n int) string {
	if n < 0 {
		n = -n
	}
	return errnoNames()[int64(n)]
}

var errnoNames = sync.OnceValue(func() map[int64]string {
	return usualNames("E", func(c EnumValue) bool {
		return !strings.HasPrefix(c.Name, "EPOLL") && !strings.HasPrefix(c.Name, "ETH_") &&
			!strings.HasPrefix(c.Name, "EFD_") && !strings.HasSuffix(c.Name, "_MAGIC")
	})
})

// firstRealtime is the kernel's SIGRTMIN. The C library takes the first two
// for itself and counts from 34.
const firstRealtime, lastSignal = 32, 64

// SignalName gives the name of a signal, "" for none. Real-time signals are
// counted as strace does, from the kernel's first: SIGRT_2 is 34.
func SignalName(n int) string {
	if n >= firstRealtime && n <= lastSignal {
		return "SIGRT_" + strconv.Itoa(n-firstRealtime)
	}
	return signalNames()[int64(n)]
}

var signalNames = sync.OnceValue(func() map[int64]string {
	return usualNames("SIG", func(c EnumValue) bool { return !strings.Contains(c.Name, "_") })
})

// usualNames maps values to names.
func usualNames(prefix string, is func(EnumValue) bool) map[int64]string {
	out := map[int64]string{}
	for _, c := range Constants(prefix) {
		if is(c) && !isAlias[c.Name] {
			out[c.Val] = c.Name
		}
	}
	return out
}
