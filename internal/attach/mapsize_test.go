package attach

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"go.starlark.net/syntax"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// withTable is a unit with a table that was declared at a.star:3:5.
func withTable(m ebpf.MapSpec) *bpfgen.Unit {
	u := unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})
	file := "a.star"
	u.Tree.Containers = []*tree.Container{{Container: &plan.Container{
		Kind: plan.Table, Name: "t", Pos: syntax.MakePosition(&file, 3, 5),
	}}}
	m.Name = tree.ContainerMap(0)
	u.Spec.Maps[m.Name] = &m
	return u
}

// TestTableTooLarge: no machine has 2^31 entries of 4 KB free, and the kernel
// is not asked for them.
//
// > | a table | three quarters of the memory that is free, or that a cgroup leaves; `--memory` does not count it |
func TestTableTooLarge(t *testing.T) {
	_, err := Load(withTable(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4096, ValueSize: 8, MaxEntries: 1 << 31}),
		Options{})
	var e *MapError
	if !errors.As(err, &e) || !errors.Is(err, unix.ENOMEM) || e.Place().Line != 3 {
		t.Fatalf("got %v", err)
	}
	want := `a.star:3:5: table "t" of 2147483648 entries needs about 8536064 MB of memory (4096 bytes of key ` +
		`and 8 of value each), and may take three quarters of the `
	if !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(),
		" that are free: give it a smaller size=") {
		t.Errorf("got %q", err)
	}
}

// TestTableOnDemand: a table that takes memory as it fills is not refused for what it would take when it is full.
func TestTableOnDemand(t *testing.T) {
	m := &ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 32 << 10, MaxEntries: 1 << 20,
		Flags: unix.BPF_F_NO_PREALLOC}
	if got := mapMemory(m); got != 16<<20 {
		t.Errorf("counts %d bytes, want those of 2^20 buckets", got)
	}
	mustLoad(t, unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})) // skips without rights
	if v, err := kernel.Release(); err != nil || !v.AtLeast(6, 1) {
		t.Skip("needs a kernel that does not refuse such a table by its full size (6.1)")
	}
	for _, c := range []struct {
		entries, flags uint32
		want           error
	}{{1 << 20, unix.BPF_F_NO_PREALLOC, nil}, {1 << 31, 0, unix.ENOMEM}} {
		l, err := Load(withTable(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 32 << 10, MaxEntries: c.entries,
			Flags: c.flags}), Options{})
		if !errors.Is(err, c.want) {
			t.Errorf("%d entries, flags %d: got %v, want %v", c.entries, c.flags, err, c.want)
		}
		if err == nil {
			l.Close()
		}
	}
}

// free is what this machine has.
var free = regexp.MustCompile(`though \d+ MB are free`)

// TestTooLargeWords: what the kernel says becomes what the author can change.
func TestTooLargeWords(t *testing.T) {
	for _, c := range []struct {
		m    ebpf.MapSpec
		err  error
		want string
	}{
		{ebpf.MapSpec{Type: ebpf.Hash, KeySize: 520, ValueSize: 8, MaxEntries: 10240}, unix.E2BIG,
			`a.star:3:5: the keys of table "t" take 520 bytes, and this kernel allows 512: ` +
				`shorten their strings (--str-max, cstr(p, n))`},
		{ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 1 << 28}, unix.E2BIG,
			`a.star:3:5: table "t" of 268435456 entries needs about 20480 MB of memory (8 bytes of key ` +
				`and 8 of value each), more than this kernel allows: give it a smaller size=`},
		{ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1 << 10}, unix.ENOMEM,
			`a.star:3:5: table "t" of 1024 entries needs about 8 KB of memory (4 bytes of key and 8 of value each), ` +
				`which the kernel refuses though N MB are free, as where a cgroup or a container has a limit: ` +
				`raise that, or give it a smaller size=`},
		{ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 8 << 20}, unix.ENOMEM,
			`a.star:3:5: the ring buffer of events needs 8192 KB of memory, which the kernel refuses though N MB are ` +
				`free, as where a cgroup or a container has a limit: raise that, or aggregate with kernel=`},
	} {
		u := withTable(c.m)
		err := tooLarge(&Loaded{unit: u}, tree.ContainerMap(0), u.Spec.Maps[tree.ContainerMap(0)], c.err)
		got := free.ReplaceAllString(err.Error(), "though N MB are free")
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("got %q\nwant %q", got, c.want)
		}
	}
}

// TestLittleLockedMemory: before 5.11 a table counts against the limit of
// locked memory. Load raises it as long as it needs to.
func TestLittleLockedMemory(t *testing.T) {
	mustLoad(t, unitOf(tree.Attach{Way: tree.RawTracepoint{Name: "sys_enter"}})) // skips without rights
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	little := unix.Rlimit{Cur: 16 << 10, Max: old.Max} // not every root may raise Max again
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &little); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Error(err)
		}
	}()
	l, err := Load(withTable(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 100_000}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var after unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &after); err != nil || after != little {
		t.Errorf("the limit is %+v after, %+v before; %v", after, little, err)
	}
}

// TestTableTooLargeForGroup: maps count against a control group since 5.11, which can leave less than the machine.
func TestTableTooLargeForGroup(t *testing.T) {
	if v, err := kernel.Release(); err != nil || !v.AtLeast(5, 11) {
		t.Skip("needs a kernel that counts maps against control groups (5.11)")
	}
	_, err := Load(withTable(ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: 8, MaxEntries: 1 << 20}),
		Options{InGroup: func() uint64 { return 30 << 20 }})
	const want = "and may take three quarters of the 30 MB that the control group (cgroup) of startrace leaves: " +
		"raise its limit, or give it a smaller size="
	if !errors.Is(err, unix.ENOMEM) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
