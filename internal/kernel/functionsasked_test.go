package kernel

import (
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/test/smallkernel"
)

// A function is found by its name, however many were asked for before: the first ones among all types or those that the
// parser has noted (usualFunctions), the others by an index. Of several of one name it is the first.
func TestFunctionsByNameAlways(t *testing.T) {
	for _, name := range []string{"do_exit", "__x64_sys_exit", "__x64_compat_sys_exit", "__traceiter_sys_exit"} {
		t.Run(name, func(t *testing.T) { testFunctionByName(t, name) })
	}
}

func testFunctionByName(t *testing.T, name string) {
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	proto := &btf.FuncProto{Return: number}
	other := &btf.FuncProto{Return: number, Params: []btf.FuncParam{{Name: "code", Type: number}}}
	b, err := ParseBTF(smallkernel.BTF(t, &btf.Typedef{Name: name, Type: number},
		&btf.Func{Name: name + "_group", Type: proto}, &btf.Func{Name: name, Type: other},
		&btf.Func{Name: name, Type: proto}, &btf.Func{Name: "exit", Type: proto}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * fewFunctions {
		id, ok := b.Named(KindFunc, name)
		f, err := b.Type(id)
		if !ok || err != nil || f.Name != name {
			t.Fatalf("time %d: %s is %v, %v, %v", i, name, f, ok, err)
		}
		if p, err := b.Type(f.Elem); err != nil || len(p.Params) != 1 {
			t.Errorf("time %d: %s is called with %v (%v), want the first one", i, name, p.Params, err)
		}
	}
	for _, fresh := range []bool{true, false} {
		if fresh {
			b.functionsAsked.Store(0)
		}
		for _, none := range []string{name[:len(name)-1], name + "_", "", "t", "__", "no_such_function"} {
			if id, ok := b.Named(KindFunc, none); ok {
				t.Errorf("%q is type %d, want none", none, id)
			}
		}
	}
}
