package kernel

import (
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/test/smallkernel"
)

// A function is found by its name, however many were asked for before: the first ones among all types, the others by an
// index. Of several of one name it is the first.
func TestFunctionsByNameAlways(t *testing.T) {
	number := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	proto := &btf.FuncProto{Return: number}
	other := &btf.FuncProto{Return: number, Params: []btf.FuncParam{{Name: "code", Type: number}}}
	b, err := ParseBTF(smallkernel.BTF(t, &btf.Typedef{Name: "do_exit", Type: number},
		&btf.Func{Name: "do_exit_group", Type: proto}, &btf.Func{Name: "do_exit", Type: other},
		&btf.Func{Name: "do_exit", Type: proto}, &btf.Func{Name: "exit", Type: proto}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * fewFunctions {
		id, ok := b.Named(KindFunc, "do_exit")
		f, err := b.Type(id)
		if !ok || err != nil || f.Name != "do_exit" {
			t.Fatalf("time %d: do_exit is %v, %v, %v", i, f, ok, err)
		}
		if p, err := b.Type(f.Elem); err != nil || len(p.Params) != 1 {
			t.Errorf("time %d: do_exit is called with %v (%v), want the first one", i, p.Params, err)
		}
	}
	for _, fresh := range []bool{true, false} {
		if fresh {
			b.functionsAsked.Store(0)
		}
		for _, none := range []string{"do_exi", "do_exit_", "", "t", "no_such_function"} {
			if id, ok := b.Named(KindFunc, none); ok {
				t.Errorf("%q is type %d, want none", none, id)
			}
		}
	}
}
