package kernel

import (
	"slices"
	"testing"
)

// Each line of the table names a call and arguments that the call has, on both architectures.
func TestArgumentUses(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, u := range argumentUses {
			list := SyscallsFor(arch)
			at := slices.IndexFunc(list, func(s Syscall) bool { return s.Name == u.call })
			if at < 0 {
				t.Errorf("%s has no %s", arch, u.call)
				continue
			}
			args := list[at].Args()
			i := slices.IndexFunc(args, func(a SyscallArg) bool { return a.Name == u.argument })
			if i < 0 || args[i].Use == nil || args[args[i].Use.Selector].Name != u.selector {
				t.Errorf("%s: %s has no use of %s by %s", arch, u.call, u.argument, u.selector)
			}
		}
	}
}
