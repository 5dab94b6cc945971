// Package smallkernel has kernels of fixed content for tests, as BTF, so that what
// is compiled for them is the same on every machine.
package smallkernel

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// The BTF of small kernels: types, tracepoints, functions, hooks.

// BTF is the kernel's description of types that a kernel with these types has.
func BTF(t testing.TB, types ...btf.Type) []byte {
	t.Helper()
	b, err := btf.NewBuilder(types, nil)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// pointer is a pointer to anything.
var pointer = &btf.Pointer{Target: &btf.Void{}}

// Tracepoint is how BTF tells of the raw tracepoint of a name.
func Tracepoint(name string, params ...btf.FuncParam) btf.Type {
	proto := &btf.FuncProto{Return: &btf.Void{}, Params: append([]btf.FuncParam{{Name: "__data", Type: pointer}},
		params...)}
	return &btf.Typedef{Name: "btf_trace_" + name, Type: &btf.Pointer{Target: proto}}
}

// Function is a function of the kernel.
func Function(name string, ret btf.Type, params ...btf.FuncParam) btf.Type {
	return &btf.Func{Name: name, Type: &btf.FuncProto{Return: ret, Params: params}}
}

// Hooks are security hooks that take one argument.
func Hooks(param btf.FuncParam, names ...string) (out []btf.Type) {
	s32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	table := &btf.Union{Name: "security_list_options", Size: 8}
	for _, name := range names {
		proto := &btf.FuncProto{Return: s32, Params: []btf.FuncParam{param}}
		table.Members = append(table.Members, btf.Member{Name: name, Type: &btf.Pointer{Target: proto}})
		out = append(out, Function("bpf_lsm_"+name, s32, param))
	}
	return append(out, table)
}

// Types are those of the kernel for golden texts: a process, some functions,
// tracepoints and iterators.
func Types() []btf.Type {
	s32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	u32 := &btf.Int{Name: "unsigned int", Size: 4}
	u64 := &btf.Int{Name: "long unsigned int", Size: 8}
	boolean := &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	uchar := &btf.Int{Name: "unsigned char", Size: 1}
	entity := &btf.Struct{Name: "sched_entity", Size: 16, Members: []btf.Member{
		{Name: "vruntime", Type: u64},
		{Name: "sum_exec_runtime", Type: u64, Offset: 64},
	}}
	task := &btf.Struct{Name: "task_struct", Size: 128}
	ptr := &btf.Pointer{Target: task}
	mm := &btf.Struct{Name: "mm_struct", Size: 16, Members: []btf.Member{{Name: "owner", Type: ptr}}}
	inner := &btf.Union{Size: 8, Members: []btf.Member{{Name: "exit_code", Type: s32}, {Name: "exit_word", Type: u64}}}
	task.Members = []btf.Member{
		{Name: "__state", Type: u32},
		{Name: "pid", Type: s32, Offset: 32},
		{Name: "tgid", Type: s32, Offset: 64},
		{Name: "flag_a", Type: u32, Offset: 96, BitfieldSize: 1},
		{Name: "flag_b", Type: u32, Offset: 97, BitfieldSize: 3},
		{Name: "comm", Type: &btf.Array{Index: u32, Type: char, Nelems: 16}, Offset: 128},
		{Name: "real_parent", Type: ptr, Offset: 256},
		{Name: "mm", Type: &btf.Pointer{Target: mm}, Offset: 320},
		{Name: "se", Type: entity, Offset: 384},
		{Name: "name", Type: &btf.Pointer{Target: char}, Offset: 512},
		{Name: "", Type: inner, Offset: 576},
		{Name: "cpus", Type: &btf.Array{Index: u32, Type: u32, Nelems: 4}, Offset: 640},
		{Name: "mac", Type: &btf.Array{Index: u32, Type: uchar, Nelems: 6}, Offset: 768},
		{Name: "rcu", Type: u64, Offset: 832},
	}
	file := &btf.Struct{Name: "file", Size: 8, Members: []btf.Member{{Name: "f_flags", Type: u32}}}
	meta := &btf.Struct{Name: "bpf_iter_meta", Size: 8, Members: []btf.Member{{Name: "seq", Type: pointer}}}
	iterator := func(name string, params ...btf.FuncParam) []btf.Type {
		state := btf.FuncParam{Name: "meta", Type: &btf.Pointer{Target: meta}}
		return []btf.Type{&btf.Struct{Name: "bpf_iter__" + name},
			Function("bpf_iter_"+name, s32, append([]btf.FuncParam{state}, params...)...)}
	}
	iterators := slices.Concat(
		iterator("task", btf.FuncParam{Name: "task", Type: ptr}),
		iterator("task_file", btf.FuncParam{Name: "task", Type: ptr}, btf.FuncParam{Name: "fd", Type: u32},
			btf.FuncParam{Name: "file", Type: &btf.Pointer{Target: file}}),
		iterator("files", btf.FuncParam{Name: "file", Type: &btf.Pointer{Target: file}},
			btf.FuncParam{Name: "uid", Type: u32}),
	)
	byTask := []btf.FuncParam{{Name: "p", Type: ptr}, {Name: "nice", Type: s32}}
	return append([]btf.Type{
		task, mm,
		Function("set_user_nice", &btf.Void{}, byTask...),
		Function("task_read", s32, byTask...),
		Function("task_write", s32, byTask...),
		Function("task_name", &btf.Pointer{Target: char}, btf.FuncParam{Name: "nice", Type: u64},
			btf.FuncParam{Name: "p", Type: ptr}),
		Tracepoint("sched_wakeup", btf.FuncParam{Name: "p", Type: ptr}),
		Tracepoint("sched_wakeup_new", btf.FuncParam{Name: "p", Type: ptr}),
		Tracepoint("sched_switch", btf.FuncParam{Name: "preempt", Type: boolean},
			btf.FuncParam{Name: "prev", Type: ptr},
			btf.FuncParam{Name: "next", Type: ptr}, btf.FuncParam{Name: "prev_state", Type: u32}),
	}, iterators...)
}
