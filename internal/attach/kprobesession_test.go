package attach

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
)

// sessionUnit has two programs that each give their number, by a function of
// the same name.
func sessionUnit(more ...asm.Instruction) (*Loaded, *tree.Program) {
	one := func(name string, n int32) *ebpf.ProgramSpec {
		insns := append(asm.Instructions{asm.Call.Label("give").WithSymbol(name)}, more...)
		insns = append(insns, asm.Return(), asm.Mov.Imm(asm.R0, n).WithSymbol("give"), asm.Return())
		return &ebpf.ProgramSpec{Name: name, Type: ebpf.Kprobe, Instructions: insns}
	}
	p := &tree.Program{Name: "in", Attach: tree.Attach{Way: &tree.Functions{
		Session: &tree.Session{Return: "out", IsReturn: 4711}}}}
	u := &bpfgen.Unit{
		Spec: &ebpf.CollectionSpec{
			Maps:     map[string]*ebpf.MapSpec{"tails": {Type: ebpf.ProgramArray}},
			Programs: map[string]*ebpf.ProgramSpec{"in": one("in", 1), "out": one("out", 2)},
		},
		Tree: &tree.Unit{Programs: []*tree.Program{{Name: "out"}, p}},
	}
	return &Loaded{unit: u}, p
}

func TestJoined(t *testing.T) {
	l, p := sessionUnit()
	got, ok := l.joined(p)
	if !ok {
		t.Fatal("not joined")
	}
	var code bytes.Buffer
	if err := got.Marshal(&code, binary.LittleEndian); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, ins := range got {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %v", i, ins.Symbol(), ins)))
	}
	// 3 goes behind the two instructions of the program at the entry; calls lead to their own functions.
	want := `0 in MovReg dst: r6 src: r1
1  Call Kfunc(4711)
2  MovReg dst: r1 src: r6
3  JNEImm dst: r0 off: 2 imm: 0
4  Call 3 <give>
5  Exit
6  Call 3 <give.return>
7  Exit
8 give MovImm dst: r0 imm: 1
9  Exit
10 give.return MovImm dst: r0 imm: 2
11  Exit`
	if text := strings.Join(lines, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if n := code.Len() / asm.InstructionSize; n != len(got) {
		t.Errorf("%d instructions", n)
	}
	for _, name := range []string{"in", "out"} { // they may be loaded as two later
		if insns := l.unit.Spec.Programs[name].Instructions; insns[0].Symbol() != name ||
			insns[0].Reference() != "give" {
			t.Errorf("%s was changed: %v", name, insns)
		}
	}
}

// Sessions are for what the kernel has, at functions of its own for many at once.
func TestSessionType(t *testing.T) {
	none, all := kernel.Features{Kprobe: true, KprobeMulti: true, Uprobe: true, UprobeMulti: true}, kernel.AllFeatures()
	at := func(kind tree.AttachKind, session *tree.Session) *tree.Attach {
		return &tree.Attach{Way: &tree.Functions{Mech: kind, Places: []tree.Place{{Func: "f"}}, Session: session}}
	}
	for _, test := range []struct {
		a    *tree.Attach
		has  *kernel.Features
		want ebpf.AttachType
	}{
		{at(tree.AttachKprobe, &tree.Session{}), &all, bpf.KprobeSession.AttachType()},
		{at(tree.AttachUprobe, &tree.Session{}), &all, (&bpf.UprobeMulti{Session: true}).AttachType()},
		{at(tree.AttachKprobe, &tree.Session{}), &none, ebpf.AttachNone},
		{at(tree.AttachUprobe, &tree.Session{}), &none, ebpf.AttachNone},
		{at(tree.AttachUprobe, nil), &all, ebpf.AttachNone},
		{at(tree.AttachUprobe, &tree.Session{}), nil, ebpf.AttachNone},
	} {
		l := &Loaded{unit: &bpfgen.Unit{Tree: &tree.Unit{}}}
		if test.has != nil {
			l.opts.Features = func() kernel.Features { return *test.has }
		}
		if got := l.sessionType(&tree.Program{Attach: *test.a}); got != test.want {
			t.Errorf("%+v with %+v: got %v, want %v", test.a, test.has, got, test.want)
		}
	}
}

// Programs that jump to others, and programs too large to be jumped over, are two.
func TestNotJoined(t *testing.T) {
	l, p := sessionUnit(asm.LoadMapPtr(asm.R2, 0).WithReference("tails"))
	if _, ok := l.joined(p); ok {
		t.Error("a program with tails was joined")
	}
	l, p = sessionUnit(asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2,
		Src: asm.PseudoFunc}.WithReference("give"))
	if _, ok := l.joined(p); ok {
		t.Error("a program whose functions the kernel calls was joined")
	}
	large := make(asm.Instructions, 1<<15)
	for i := range large {
		large[i] = asm.Mov.Imm(asm.R0, 0)
	}
	l, p = sessionUnit(large...)
	if _, ok := l.joined(p); ok {
		t.Error("a program of 32768 instructions was joined")
	}
}
