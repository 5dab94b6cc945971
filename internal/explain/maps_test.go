package explain

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
)

// TestMemory compares the estimates with what the kernel says of maps.
func TestMemory(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("needs root, to create maps")
	}
	need.BPF(t)
	if v, err := kernel.Release(); err != nil || !v.AtLeast(6, 4) {
		t.Skipf("needs Linux 6.4, from which on memlock in /proc/PID/fdinfo is the memory itself: this is %v, %v", v,
			err)
	}
	in := &Input{PossibleCPUs: ebpf.MustPossibleCPU()}
	for _, spec := range []*ebpf.MapSpec{
		{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 10240},
		{Type: ebpf.Hash, KeySize: 24, ValueSize: 528, MaxEntries: 1000},
		{Type: ebpf.Hash, KeySize: 16, ValueSize: 40, MaxEntries: 10240, Flags: unix.BPF_F_NO_PREALLOC},
		{Type: ebpf.LRUHash, KeySize: 20, ValueSize: 12, MaxEntries: 5000},
		{Type: ebpf.Array, KeySize: 4, ValueSize: 5000, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE},
		{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 4000, MaxEntries: 4},
		{Type: ebpf.RingBuf, MaxEntries: 1 << 20},
	} {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			t.Fatalf("%v: %v", spec, err)
		}
		defer m.Close()
		told, ok := memlock(t, m.FD())
		if !ok {
			t.Fatalf("%v: fdinfo has no memlock", spec.Type)
		}
		if got := in.memory(spec); got < told*80/100-8192 || got > told*120/100+8192 {
			t.Errorf("%v: about %d bytes, the kernel says %d", spec.Type, got, told)
		}
	}
}

// TestFixedMaps finds the words for each map that startrace adds: those of package tree that stand for one map.
func TestFixedMaps(t *testing.T) {
	need.Sources(t, "../..")
	text, err := os.ReadFile("../../bpfgen/tree/maps.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^\t(Map\w+) += "(\w+)"$`).FindAllStringSubmatch(string(text), -1)
	one := 0
	for _, m := range names {
		if !strings.Contains(string(text), "return "+m[1]+" + strconv.Itoa(") {
			one++
			if fixedMaps[m[2]] == "" {
				t.Errorf("explain says nothing of what the map %s is for", m[2])
			}
		}
	}
	if one != len(fixedMaps) {
		t.Errorf("%d maps are named in package tree, %d are explained", one, len(fixedMaps))
	}
}

// memlock is what fdinfo says.
func memlock(t *testing.T, fd int) (n int, ok bool) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "memlock:"); found {
			_, err := fmt.Sscan(rest, &n)
			return n, err == nil && n > 0
		}
	}
	return 0, false
}
