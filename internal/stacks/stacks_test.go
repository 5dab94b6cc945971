package stacks

import (
	"bytes"
	"encoding/binary"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/need"
)

// symbolsOfKernel are the functions of a kernel, 16 bytes each.
const symbolsOfKernel = `ffff800000000010 T bpf_trace_run1
ffff800000000020 T vfs_read
ffff800000000030 T entry_SYSCALL_64
ffff800000000040 T __kretprobe_trampoline
ffff800000000050 T ext4_read	[ext4]
ffff800000000060 T asm_sysvec_reschedule
ffff800000000070 T end
`

// Places of functions of that kernel, some bytes behind their beginnings.
const (
	inTracing = 0xffff800000000014 + iota*16
	inRead
	inEntry
	inReturn
	inModule
	inInterrupt
)

// beginOf is where the function of a place begins.
func beginOf(place uint64) uint64 { return place - 4 }

// A taken is a stack as programs put it into the table.
type taken struct {
	id    uint64
	mark  int
	owner uint32
	addrs []uint64
}

// namesOf are the names of a run with a table that has these stacks.
func namesOf(t *testing.T, programs []*tree.Program, stacks ...taken) (*Names, *Table, *bytes.Buffer) {
	t.Helper()
	said := &bytes.Buffer{}
	n := New(&output.Messages{W: said}, nil)
	symbols, err := kernel.ReadSymbols(strings.NewReader(symbolsOfKernel))
	if err != nil {
		t.Fatal(err)
	}
	n.Kernel.symbols, n.Kernel.fresh = symbols, true
	t.Cleanup(func() {
		if err := n.Processes.Close(); err != nil {
			t.Error(err)
		}
	})
	return n, n.Add(tableOf(t, stacks), programs), said
}

func tableOf(t *testing.T, stacks []taken) *ebpf.Map {
	t.Helper()
	need.BPF(t)
	need.Loading(t)
	const room = 8
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 8, ValueSize: wire.StackAddrs + 8*room,
		MaxEntries: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for _, s := range stacks {
		val := make([]byte, wire.StackAddrs+8*room)
		binary.NativeEndian.PutUint16(val[wire.StackCount:], uint16(len(s.addrs)))
		binary.NativeEndian.PutUint16(val[wire.StackMark:], uint16(s.mark))
		binary.NativeEndian.PutUint32(val[wire.StackProcess:], s.owner)
		for i, a := range s.addrs {
			binary.NativeEndian.PutUint64(val[wire.StackAddrs+8*i:], a)
		}
		if err := m.Put(s.id, val); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// functions are the names of the frames of a stack.
func functions(n *Names, id uint64) (out []string) {
	for _, f := range n.Frames(id) {
		out = append(out, f.Name)
	}
	return out
}

// A stack of the kernel begins where the probe is, and says why it is no longer than it is.
func TestKernelStacks(t *testing.T) {
	program := &tree.Program{Attach: tree.Attach{Way: &tree.Functions{Places: []tree.Place{{Func: "vfs_write"}}}}}
	const ofProgram = wire.StackProgram // number 0
	for name, test := range map[string]struct {
		taken
		want  []string
		short string
	}{
		"whole": {taken{mark: 8, addrs: []uint64{inRead, inEntry}}, []string{"vfs_read", "entry_SYSCALL_64"}, ""},
		"as many frames as were asked for, and whole": {taken{mark: 2, addrs: []uint64{inRead, inEntry}},
			[]string{"vfs_read", "entry_SYSCALL_64"}, ""},
		"cut": {taken{mark: 2, addrs: []uint64{inModule, inRead}}, []string{"ext4_read", "vfs_read"},
			"cut at 2 frames"},
		"of a probe, without the tracing's own": {taken{mark: wire.MarkTraced | 8,
			addrs: []uint64{inTracing, inRead, inEntry}}, []string{"vfs_read", "entry_SYSCALL_64"}, ""},
		"of a sample, which may hit the tracing": {taken{mark: 8, addrs: []uint64{inTracing, inRead, inEntry}},
			[]string{"bpf_trace_run1", "vfs_read", "entry_SYSCALL_64"}, ""},
		"of tracing alone": {taken{mark: wire.MarkTraced | 8, addrs: []uint64{inTracing}},
			[]string{"bpf_trace_run1"}, ""},
		"behind the probe of a return": {taken{mark: 8, addrs: []uint64{inRead, inReturn}},
			[]string{"vfs_read", "__kretprobe_trampoline"},
			"this kernel cannot see behind the probe of a return (since 5.15)"},
		"of a program, whose function the kernel left out": {taken{mark: 8, owner: ofProgram,
			addrs: []uint64{inRead, inEntry}}, []string{"vfs_write", "vfs_read", "entry_SYSCALL_64"}, ""},
		"of a program, and as many as were asked for": {taken{mark: 2, owner: ofProgram,
			addrs: []uint64{inRead, inEntry}}, []string{"vfs_write", "vfs_read"}, ""},
		"whose callers end with a call that does not return": {taken{mark: 8,
			addrs: []uint64{beginOf(inRead), beginOf(inModule), beginOf(inEntry)}},
			[]string{"vfs_read", "__kretprobe_trampoline", "vfs_read"}, ""},
		"behind an interrupt, at the begin of a function": {taken{mark: 8,
			addrs: []uint64{inRead, inInterrupt, beginOf(inRead), inEntry}},
			[]string{"vfs_read", "asm_sysvec_reschedule", "vfs_read", "entry_SYSCALL_64"}, ""},
		"with a return address that was replaced": {taken{mark: 8,
			addrs: []uint64{inRead, beginOf(inReturn)}}, []string{"vfs_read", "__kretprobe_trampoline"},
			"this kernel cannot see behind the probe of a return (since 5.15)"},
		"without a symbol": {taken{mark: 8, addrs: []uint64{0x1234}}, []string{"0x1234"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.id = 7
			n, _, _ := namesOf(t, []*tree.Program{program}, test.taken)
			if got, short := functions(n, 7), n.Short(7); !slices.Equal(got, test.want) || short != test.short {
				t.Errorf("got %q %q, want %q %q", got, short, test.want, test.short)
			}
		})
	}
}

// Ids that mean no stack say why there is none, and so does one that no table has.
func TestNoStack(t *testing.T) {
	n, table, said := namesOf(t, nil)
	for id, want := range map[uint64]string{
		wire.NoStack:     "no kernel stack: reached from user mode",
		wire.NoUserStack: "no user stack: a thread of the kernel, or a program that begins or ends just now",
		wire.LostStack:   "the stack is lost: there was no room for it", 9: "stack 0x9 is not in the table",
	} {
		if got := n.Short(id); got != want || len(n.Frames(id)) != 0 {
			t.Errorf("%d: got %q and %v, want %q and no frame", id, got, n.Frames(id), want)
		}
	}
	n.Forget(table)
	if got := n.Short(9); got != "stack 0x9 is not in the table" {
		t.Errorf("without tables: got %q", got)
	}
	if said.Len() > 0 {
		t.Errorf("said: %s", said)
	}
}

// A stack is found in whichever table has it, and what was read of it stays when its table has changed.
func TestTables(t *testing.T) {
	n, first, _ := namesOf(t, nil, taken{id: 7, mark: 8, addrs: []uint64{inRead}})
	second := n.Add(tableOf(t, []taken{{id: 9, mark: 8, addrs: []uint64{inModule}}}), nil)
	for id, want := range map[uint64]string{7: "vfs_read", 9: "ext4_read"} {
		if got := functions(n, id); !slices.Equal(got, []string{want}) {
			t.Errorf("stack %d: got %q, want %s", id, got, want)
		}
	}
	if f := n.Frames(9)[0]; f.Module != "ext4" || f.Offset != 4 || f.User {
		t.Errorf("got %+v, want byte 4 of a function of the module ext4", f)
	}
	if err := first.table.Delete(uint64(7)); err != nil {
		t.Fatal(err)
	}
	if got := functions(n, 7); !slices.Equal(got, []string{"vfs_read"}) {
		t.Errorf("read again: got %q", got)
	}
	n.Forget(second)
	if got := n.Short(9); got != "stack 0x9 is not in the table" {
		t.Errorf("without its table: got %q", got)
	}
}

// atMarked is a function of this program, whose address stands for a stack of it.
func atMarked() int { return os.Getpid() }

// The addresses of a user stack are named by what the process has mapped. Stacks that do not reach the beginning are
// told once for the program at the end.
func TestUserStacks(t *testing.T) {
	at := uint64(reflect.ValueOf(atMarked).Pointer())
	self := uint32(os.Getpid())
	n, _, _ := namesOf(t, nil, taken{id: 7, mark: 8, owner: self, addrs: []uint64{at}},
		taken{id: 9, mark: 3, owner: self, addrs: []uint64{at, at + 1, at + 1}})
	f := n.Frames(7)
	if len(f) != 1 || !strings.HasSuffix(f[0].Name, "stacks.atMarked") || !f[0].User || f[0].Addr != at {
		t.Fatalf("got %+v, want the function atMarked", f)
	}
	if got := n.Short(9); got != "cut at 3 frames" {
		t.Errorf("as many frames as were asked for: got %q", got)
	}
	lines := n.ShortLines()
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "1 of 2 stacks of ") ||
		!strings.HasSuffix(lines[0], " does not reach its beginning: taken by frame pointers") {
		t.Errorf("got %q", lines)
	}
}

// A process that has ended without being seen has addresses for names, and is told.
func TestStacksOfEnded(t *testing.T) {
	const gone = 1<<22 - 1
	n, _, _ := namesOf(t, nil, taken{id: 7, mark: 8, owner: gone, addrs: []uint64{0x1234}})
	if got := functions(n, 7); len(got) != 1 || !strings.Contains(got[0], "0x1234") {
		t.Errorf("got %q, want the address", got)
	}
	const want = "the stacks of one process have addresses for names"
	if lines := n.ShortLines(); len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
		t.Errorf("got %q, want %s", lines, want)
	}
}

// Stacks of which there is news are copied, and leave the table when a quarter of it is taken.
func TestCopies(t *testing.T) {
	var list []taken
	for id := range uint64(6) {
		list = append(list, taken{id: 2*id + 5, mark: 127, addrs: []uint64{inRead, inEntry + id}})
	}
	n, table, _ := namesOf(t, nil, list...)
	inMap := func() (out int) {
		var id uint64
		var raw []byte
		for it := table.table.Iterate(); it.Next(&id, &raw); {
			out++
		}
		return out
	}
	for i, want := range []int{6, 6, 6, 2, 2, 2} { // 4 of 16 entries
		table.see(processNews{stacks: table, stack: list[i].id})
		if got := inMap(); got != want {
			t.Errorf("%d stacks are in the table behind news of %d, want %d", got, i+1, want)
		}
	}
	for i, s := range list {
		if f := n.Frames(s.id); len(f) != 2 || f[0].Name != "vfs_read" || f[1].Addr != inEntry+uint64(i) {
			t.Errorf("stack %d is %+v", i, f)
		}
	}
	table.see(processNews{stacks: table, stack: 1}) // news of what is not there
	if table.kept.bytes != 6*(wire.StackAddrs+16+keptOverhead) {
		t.Errorf("the copies take %d bytes", table.kept.bytes)
	}
	table.kept.room = table.kept.bytes
	table.keep(99, make([]byte, wire.StackAddrs))
	if table.kept.of[99] != nil {
		t.Error("a stack is copied without room for it")
	}
}

// News of a process is no event, and is looked at when the session sees to it.
func TestNews(t *testing.T) {
	at := uint64(reflect.ValueOf(atMarked).Pointer())
	n, table, _ := namesOf(t, nil, taken{id: 7, mark: 8, owner: uint32(os.Getpid()), addrs: []uint64{at}})
	rec := make([]byte, wire.ProcessSize)
	if OfProcess(rec) {
		t.Error("an event is taken for news of a process")
	}
	binary.NativeEndian.PutUint32(rec[wire.HeaderNumber:], wire.NumberProcess)
	binary.NativeEndian.PutUint64(rec[wire.ProcessStack:], 7)
	binary.NativeEndian.PutUint64(rec[wire.ProcessNumber:], uint64(os.Getpid()))
	if !OfProcess(rec) || OfProcess(rec[:wire.HeaderSize]) {
		t.Error("news of a process is not told by its number and its size")
	}
	n.Note(table, rec)
	if table.of[7] != nil {
		t.Error("the process is looked at before its time")
	}
	if err := n.Processes.See(); err != nil {
		t.Fatal(err)
	}
	if p := table.of[7]; p == nil || !p.Seen() {
		t.Errorf("the process of a new stack is %+v, want one that was seen", p)
	}
}
