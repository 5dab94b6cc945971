package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/test/smallkernel"
)

// valueFunction takes structs of all classes: a pointer and a flag in two words, one of three words, one of bit-fields,
// and an array of doubles.
func valueFunction(t *testing.T) *Facts {
	i32, u64 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}, &btf.Int{Name: "long unsigned int", Size: 8}
	u8, double := &btf.Int{Name: "unsigned char", Size: 1}, &btf.Float{Name: "double", Size: 8}
	pointer := &btf.Struct{Name: "ptr", Size: 16, Members: []btf.Member{
		{Type: &btf.Union{Size: 8, Members: []btf.Member{{Name: "kernel", Type: &btf.Pointer{Target: &btf.Void{}}},
			{Name: "user", Type: u64}}}},
		{Name: "is_kernel", Type: u8, Offset: 64, BitfieldSize: 1},
	}}
	large := &btf.Struct{Name: "large", Size: 24, Members: []btf.Member{{Name: "w",
		Type: &btf.Array{Index: i32, Type: u64, Nelems: 3}}}}
	bits := &btf.Struct{Name: "bits", Size: 4, Members: []btf.Member{
		{Name: "a", Type: i32, BitfieldSize: 7}, {Name: "b", Type: i32, Offset: 7, BitfieldSize: 20},
	}}
	floats := &btf.Struct{Name: "floats", Size: 16, Members: []btf.Member{{Name: "d",
		Type: &btf.Array{Index: i32, Type: double, Nelems: 2}}}}
	proto := &btf.FuncProto{Return: large, Params: []btf.FuncParam{
		{Name: "p", Type: &btf.Typedef{Name: "ptr_t", Type: pointer}}, {Name: "n", Type: i32}, {Name: "l", Type: large},
		{Name: "b", Type: bits}, {Name: "f", Type: floats}, {Name: "last", Type: u64},
	}}
	return Open(Options{BTF: smallkernel.BTF(t, &btf.Func{Name: "values", Type: proto, Linkage: btf.StaticFunc})})
}

func TestCall(t *testing.T) {
	fn, err := valueFunction(t).Function("values")
	if err != nil {
		t.Fatal(err)
	}
	for arch, want := range map[string]string{
		"amd64": "*ax: si dx, cx, [8] [16] [24], r8, xmm0 xmm1, r9",
		"arm64": "*-: x0 x1, x2, *x3, x4, v0 v1, x5",
	} {
		call := fn.Call(arch)
		var params []string
		for _, l := range call.Params {
			params = append(params, placesText(l))
		}
		if got := placesText(call.Result) + ": " + strings.Join(params, ", "); got != want {
			t.Errorf("%s: got %s, want %s", arch, got, want)
		}
	}
	if (&Function{Name: "untyped"}).Call("amd64") != nil || fn.Call("riscv64") != nil {
		t.Error("where nothing is known there are no places")
	}
}

func placesText(l abi.Location) string {
	var out []string
	for _, p := range l.Places {
		switch p.Where {
		case abi.Nowhere:
			out = append(out, "-")
		case abi.Stack:
			out = append(out, fmt.Sprintf("[%d]", p.Off))
		default:
			out = append(out, p.Name)
		}
	}
	if l.Indirect {
		return "*" + strings.Join(out, " ")
	}
	return strings.Join(out, " ")
}
