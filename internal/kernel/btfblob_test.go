package kernel

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/test/smallkernel"
)

// fixtureBTF is a small kernel, encoded by an independent library.
func fixtureBTF(t testing.TB) []byte {
	t.Helper()
	i32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	u32 := &btf.Int{Name: "unsigned int", Size: 4}
	u64 := &btf.Int{Name: "long unsigned int", Size: 8}
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	boolean := &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
	list := &btf.Struct{Name: "list_head", Size: 16}
	list.Members = []btf.Member{
		{Name: "next", Type: &btf.Pointer{Target: list}},
		{Name: "prev", Type: &btf.Pointer{Target: list}, Offset: 64},
	}
	inner := &btf.Union{Size: 8, Members: []btf.Member{
		{Name: "raw", Type: u64},
		{Type: &btf.Struct{Size: 8, Members: []btf.Member{
			{Name: "lo", Type: u32},
			{Name: "hi", Type: &btf.Volatile{Type: u32}, Offset: 32},
		}}},
	}}
	task := &btf.Struct{Name: "task", Size: 64, Members: []btf.Member{
		{Name: "pid", Type: &btf.Typedef{Name: "pid_t", Type: i32}},
		{Name: "from", Type: &btf.Const{Type: i32}, Offset: 32},
		{Type: inner, Offset: 64},
		{Name: "comm", Type: &btf.Array{Index: u32, Type: char, Nelems: 16}, Offset: 128},
		{Name: "tasks", Type: list, Offset: 256},
		{Name: "a", Type: u32, Offset: 384, BitfieldSize: 3},
		{Name: "b", Type: i32, Offset: 387, BitfieldSize: 5},
		{Name: "on", Type: boolean, Offset: 392},
		{Name: "tail", Type: u32, Offset: 500, BitfieldSize: 12},
	}}
	ptask := &btf.Pointer{Target: task}
	proto := &btf.FuncProto{Return: i32, Params: []btf.FuncParam{
		{Name: "__data", Type: &btf.Pointer{Target: &btf.Void{}}}, {Name: "p", Type: ptask},
		{Name: "flag", Type: boolean},
	}}
	unnamed := &btf.FuncProto{Return: &btf.Void{}, Params: []btf.FuncParam{
		{Type: &btf.Pointer{Target: &btf.Void{}}}, {Type: ptask}, {Type: boolean},
	}}
	idle := &btf.FuncProto{Return: &btf.Void{}, Params: []btf.FuncParam{
		{Type: &btf.Pointer{Target: &btf.Void{}}}, {Type: u32}, {Type: u32},
	}}
	counter := &btf.Var{Name: "counter", Type: u64, Linkage: btf.GlobalVar}
	types := []btf.Type{
		task, inner,
		&btf.Func{Name: "__traceiter_task_wake", Type: proto, Linkage: btf.StaticFunc},
		&btf.Typedef{Name: "btf_trace_task_wake", Type: &btf.Pointer{Target: unnamed}},
		&btf.Typedef{Name: "btf_trace_task_strange", Type: &btf.Pointer{Target: unnamed}},
		&btf.Typedef{Name: "btf_trace_cpu_idle", Type: &btf.Pointer{Target: idle}},
		&btf.Enum{Name: "state", Size: 4, Signed: true, Values: []btf.EnumValue{{Name: "GONE", Value: ^uint64(0)},
			{Name: "RUN", Value: 3}}},
		&btf.Enum{Name: "wide", Size: 8, Values: []btf.EnumValue{{Name: "HUGE", Value: 1 << 40}}},
		&btf.Enum{Name: "plain", Size: 4, Values: []btf.EnumValue{{Name: "TOP", Value: 1<<32 - 1}}},
		&btf.Float{Name: "double", Size: 8},
		&btf.Fwd{Name: "hidden", Kind: btf.FwdStruct},
		&btf.Fwd{Name: "hiddenu", Kind: btf.FwdUnion},
		&btf.Datasec{Name: ".data", Size: 8, Vars: []btf.VarSecinfo{{Type: counter, Size: 8}}},
		&btf.Typedef{Name: "user_str", Type: &btf.Pointer{Target: &btf.TypeTag{Type: char, Value: "user"}}},
		&btf.Struct{Name: "tagged", Size: 4, Members: []btf.Member{{Name: "x", Type: i32, Tags: []string{"a"}}},
			Tags: []string{"b"}},
	}
	return smallkernel.BTF(t, types...)
}

func fixture(t testing.TB) *BTF {
	t.Helper()
	b, err := ParseBTF(fixtureBTF(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rawBTF makes a blob by hand, for what the library does not write. names are
// at the offsets that nameOff gives.
func rawBTF(names []string, types ...[]uint32) []byte {
	var body []byte
	for _, words := range types {
		for _, w := range words {
			body = binary.LittleEndian.AppendUint32(body, w)
		}
	}
	strs := []byte{0}
	for _, n := range names {
		strs = append(append(strs, n...), 0)
	}
	blob := []byte{0x9f, 0xeb, 1, 0}
	for _, w := range []int{24, 0, len(body), len(body), len(strs)} {
		blob = binary.LittleEndian.AppendUint32(blob, uint32(w))
	}
	return slices.Concat(blob, body, strs)
}

func nameOff(names []string, name string) uint32 {
	off := 1
	for _, n := range names {
		if n == name {
			return uint32(off)
		}
		off += len(n) + 1
	}
	return 0
}

func info(kind, vlen int) uint32 { return uint32(kind<<24 | vlen) }
