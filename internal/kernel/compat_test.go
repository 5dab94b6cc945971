package kernel

import (
	"runtime"
	"slices"
	"testing"
)

// Numbers of which the kernel's tables are known (arch/x86/entry/syscalls/syscall_32.tbl, arch/arm64/tools/syscall_32.tbl).
func TestCompatNumbers(t *testing.T) {
	want := map[string]map[string][]int{
		"amd64": {"open": {5}, "openat": {295}, "openat2": {437}, "newfstat": {108, 197}, "lseek": {19, 140}, "mmap": {90, 192},
			"execve": {11}, "unlinkat": {301}, "pread64": {180}, "futex": {240, 422}, "socket": {359}},
		"arm64": {"openat": {322}, "openat2": {437}, "newfstat": {108, 197}, "execve": {11}, "unlinkat": {328}, "pread64": {180},
			"futex": {240, 422}, "socket": {281}},
	}[runtime.GOARCH]
	for name, numbers := range want {
		sc, ok := SyscallByName(name)
		if !ok {
			t.Errorf("no call %s", name)
			continue
		}
		if got := CompatNumbers([]Syscall{*sc}); !slices.Equal(got, numbers) {
			t.Errorf("%s: got %v, want %v", name, got, numbers)
		}
	}
	if all := AllCompatNumbers(); len(all) < 400 || all[0] != 0 || all[len(all)-1] > 511 {
		t.Errorf("%d numbers: %v", len(all), all)
	}
}
